#include "assay/core/text/csv.hpp"
#include "assay/report/report.hpp"

namespace assay::report {
namespace {

std::string cell(const std::string& text) {
  return csv_cell(text);
}

template <typename T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// Codes of the reasons, such as "neighbours probe".
std::string reasons_text(const Validity& validity) {
  std::string out;
  for (const auto& reason : validity.reasons) out += (out.empty() ? "" : " ") + reason.code;
  return out;
}

/// {"intra_op":4}; a list where the processes of the run differ; empty where nothing was read back.
std::string effective_text(const store::Digest& detail) {
  json out = json::object();
  for (const auto& [name, values] : detail.effective) out[name] = values.size() == 1 ? values[0] : json(values);
  return out.empty() ? "" : out.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// {"forward":0.0123}: seconds, the median over the run's processes; empty where they were not timed.
std::string phases_text(const store::Digest& detail) {
  const auto phases = phases_of({&detail}, std::nullopt);
  return phases ? json(phases->seconds).dump() : "";
}

/// What was asked for and what came of it; nine cells, empty where nothing is generated.
std::string generated_cells(const Workload& workload, const Summary& summary) {
  const auto& g = summary.generated;
  const std::string asked = workload.generate
                                ? fmt::format("{},{},{}", workload.generate->prompt_tokens,
                                              workload.generate->output_tokens, workload.generate->sequences)
                                : ",,";
  if (!g) return asked + ",,,,,,";
  return fmt::format("{},{},{},{},{},{},{}", asked, g->first_token_ns, cell(g->token_ns), g->prompt_tokens_per_second,
                     g->output_tokens_per_second, cell(g->weights_bytes), cell(g->cache_bytes));
}

}  // namespace

std::string settings_text(const Settings& settings) {
  json object = to_json(settings);
  if (settings.env.empty()) object.erase("env");
  return canonical_json(object);
}

std::string csv_header() {
  return "campaign,trial,index,attempt,counted,network,mode,batch,precision,worker,release,settings,options,outcome,"
         "message,"
         "trusted,platform,started_utc,duration_ns,n,steady_from,median_ns,p90_ns,p99_ns,samples_per_second,pair,"
         "side,peak_memory_bytes,reasons,effective,phases_seconds,ranks,device,watts,samples_per_joule,"
         "prompt_tokens,output_tokens,sequences,first_token_ns,token_ns,prompt_tokens_per_second,"
         "output_tokens_per_second,weights_bytes,cache_bytes\r\n";
}

std::string csv_row(const Record& record, const Trial& trial) {
  const auto& s = record.summary;
  const auto detail = store::digest_of(record);
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
      cell(record.campaign), cell(record.trial), record.index, record.attempt, record.counted,
      cell(trial.workload.network), name_of(trial.workload.mode), trial.workload.batch, cell(trial.workload.precision),
      cell(trial.worker.name), cell(trial.worker.release), cell(settings_text(trial.settings)),
      cell(canonical_json(to_json(trial.workload.options))), name_of(record.outcome.kind), cell(record.outcome.message),
      record.validity.trusted, cell(record.platform), cell(record.started_utc), record.duration_ns, s.n, s.steady_from,
      cell(s.median_ns), cell(tail_ns(s, TailPercent::p90)), cell(tail_ns(s, TailPercent::p99)),
      cell(s.samples_per_second), record.pair ? cell(record.pair->id) : "",
      record.pair ? name_of(record.pair->side) : "", cell(detail.peak_memory_bytes),
      cell(reasons_text(record.validity)), cell(effective_text(detail)), cell(phases_text(detail)),
      trial.placement.ranks, cell(trial.placement.device), cell(s.watts), cell(s.samples_per_joule),
      generated_cells(trial.workload, s));
}

}  // namespace assay::report
