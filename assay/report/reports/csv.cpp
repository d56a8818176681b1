#include "assay/report/report.hpp"

namespace assay::report {
namespace {

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

template <typename T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// What is set, as the store's view `result` writes it.
std::string settings_text(const Settings& settings) {
  json object = to_json(settings);
  if (settings.env.empty()) object.erase("env");
  return canonical_json(object);
}

}  // namespace

std::string csv_header() {
  return "campaign,trial,index,attempt,counted,network,mode,batch,precision,worker,release,settings,options,outcome,"
         "message,"
         "trusted,platform,started_utc,duration_ns,n,steady_from,median_ns,p90_ns,p99_ns,samples_per_second,pair,"
         "side\r\n";
}

std::string csv_row(const store::RunRow& row, const Trial& trial) {
  const auto& s = row.summary;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
                     row.campaign, row.trial, row.index, row.attempt, row.counted, cell(trial.workload.network),
                     name_of(trial.workload.mode), trial.workload.batch, cell(trial.workload.precision),
                     cell(trial.worker.name), cell(trial.worker.release), cell(settings_text(trial.settings)),
                     cell(canonical_json(to_json(trial.workload.options))), name_of(row.outcome), cell(row.message),
                     row.trusted, row.platform, row.started_utc, row.duration_ns, s.n, s.steady_from, cell(s.median_ns),
                     cell(s.p90_ns), cell(s.p99_ns), cell(s.samples_per_second), row.pair ? row.pair->id : "",
                     row.pair ? name_of(row.pair->side) : "");
}

}  // namespace assay::report
