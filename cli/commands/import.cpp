#include <algorithm>
#include <memory>

#include "assay/core/clock.hpp"
#include "assay/core/text/file.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/core/text/units.hpp"
#include "assay/load/recording.hpp"
#include "assay/load/result_source.hpp"
#include "assay/measure/agent/agent.hpp"
#include "assay/model/tables/llama_bench.hpp"
#include "assay/model/tables/prototype.hpp"
#include "assay/predict/layer_sources/kineto_ranks.hpp"
#include "assay/predict/traces/gpu_trace.hpp"
#include "assay/predict/traces/gzip.hpp"
#include "assay/report/subjects/load.hpp"
#include "assay/report/table.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t kShown = 8;

struct ImportFlags {
  std::vector<std::string> files;
  std::optional<std::int64_t> batch;
  std::string out;
  bool json = false;
  std::string store;
  std::string server;
};

using Align = report::Table::Align;

std::string duration(double seconds) {
  return format_duration(1e9 * seconds);
}

/// Ranks that were read together, and what the table has of them.
std::string ranks_of(const predict::LayerTable& table) {
  report::Table shown({{"rank", Align::right},
                       {"forward", Align::right},
                       {"backward", Align::right},
                       {"update", Align::right},
                       {"load", Align::right},
                       {"file"}});
  for (const auto& rank : table.ranks) {
    shown.add({std::to_string(rank.rank), duration(rank.forward_seconds), duration(rank.backward_seconds),
               duration(rank.update_seconds), duration(rank.load_seconds), rank.file});
  }
  const auto text = shown.text(terminal_width());
  if (table.why_not_joined.empty()) {
    return text + fmt::format("Every time above is the median over {} ranks.\n", table.ranks.size());
  }
  return text + fmt::format("Layers differ: {}. The table is {}, the rank that computes longest.\n",
                            table.why_not_joined, shown_path(table.name));
}

/// What was found, and the layers that take longest.
std::string summary_of(const predict::LayerTable& table) {
  auto text = fmt::format("{} layers: forward {}, backward {}, update {}, load {}; {:.4g} MB of gradients\n\n",
                          table.layers.size(), duration(table.forward_seconds()), duration(table.backward_seconds()),
                          duration(table.update_seconds), duration(table.load_seconds), 1e-6 * table.gradient_bytes());
  auto layers = table.layers;
  const auto seconds = [](const auto& layer) { return layer.forward_seconds + layer.backward_seconds; };
  std::stable_sort(layers.begin(), layers.end(), [&](const auto& a, const auto& b) { return seconds(a) > seconds(b); });
  layers.resize(std::min(layers.size(), kShown));
  report::Table shown(
      {{"longest"}, {"forward", Align::right}, {"backward", Align::right}, {"gradients", Align::right}});
  for (const auto& layer : layers) {
    double bytes = 0;
    for (const double one : layer.gradient_bytes) bytes += one;
    shown.add({layer.name, duration(layer.forward_seconds), duration(layer.backward_seconds),
               format_bytes(static_cast<std::int64_t>(bytes))});
  }
  text += shown.text(terminal_width());
  if (!table.ranks.empty()) text += "\n" + ranks_of(table);
  if (!(table.backward_seconds() > 0)) {
    text += "Only inference is in it: predict has no backward pass and no gradients to go by.\n";
  }
  return text;
}

std::string read_trace(const std::string& path) {
  auto text = read_file(path, predict::kMostTraceBytes);
  if (text.size() > predict::kMostTraceBytes) {
    fail(ErrorKind::bad_input, "{} is larger than 1 GiB. Profile fewer steps.", path);
  }
  if (!predict::is_gzip(text)) return text;
  return naming(path, [&] { return predict::unpack_gzip(text, predict::kMostTraceBytes); });
}

/// Ranks of one job, one profile at a time: a large job's profiles do not fit into memory together.
predict::LayerTable import_ranks(const ImportFlags& o, std::string text) {
  std::vector<predict::RankSteps> ranks;
  for (const auto& file : o.files) {
    if (!ranks.empty()) text = read_trace(file);
    if (!predict::layer_sources::kineto.recognises(text)) {
      fail(
          ErrorKind::usage,
          "{} files: {} is not what PyTorch's profiler wrote. Of several files only such ones, a file for each rank of "
          "one job, and runs of the prototype are read together.",
          o.files.size(), shown_path(file));
    }
    ranks.push_back(predict::rank_steps(text, file, *o.batch));
  }
  return predict::joined_layers(std::move(ranks));
}

void import_layers(const ImportFlags& o, std::string text) {
  if (!o.batch) fail(ErrorKind::usage, "--batch is missing: how many samples did the profiled step have on a device?");
  const auto table =
      o.files.size() > 1 ? import_ranks(o, std::move(text)) : predict::import_layers(text, o.files.front(), *o.batch);
  const auto written = to_json(table).dump(2) + "\n";
  if (!o.out.empty()) write_output(o.out, written);
  print(o.json ? written : summary_of(table));
}

/// Runs of the prototype become a table of times, for `assay fit`.
void import_runs(const ImportFlags& o) {
  if (o.json || o.batch) {
    fail(ErrorKind::usage, "--{}: runs of the prototype tell their batch, and become a CSV table. Leave it out.",
         o.json ? "json" : "batch");
  }
  std::vector<model::PrototypeFile> files;
  for (const auto& path : o.files) files.push_back({path, read_trace(path)});
  const auto table = model::csv_of(model::import_prototype(files));
  if (o.out.empty()) return print(table);
  write_output(o.out, table);
  print(fmt::format("{} runs of the prototype in {}\n", files.size(), o.out));
}

/// Tests of llama-bench become a table of times, for `assay fit`.
void import_bench(const ImportFlags& o, const std::string& text) {
  if (o.files.size() > 1 || o.json || o.batch) {
    fail(ErrorKind::usage, "{} is a result of llama-bench: give one file, without --batch and --json; it becomes CSV.",
         shown_path(o.files.front()));
  }
  const auto frame = naming(o.files.front(), [&] { return model::import_llama_bench(text); });
  const auto table = model::csv_of(frame);
  if (o.out.empty()) return print(table);
  write_output(o.out, table);
  print(fmt::format("{} times of llama-bench in {}\n", frame.rows.size(), o.out));
}

/// Keeps what was read as runs of this machine.
std::string keep_loads(const ImportFlags& o, const std::vector<load::MeasuredLoad>& loads,
                       const std::vector<load::ImportedRun>& runs) {
  const auto store = store::open_store(o.store, store::Access::create);
  plan::Campaign campaign;
  campaign.name = "import";
  campaign.grows = "import " + o.files.front();
  load::Recorder recorder(*store, *store, campaign,
                          {"", measure::this_owner(), 0, std::nullopt, measure::owner_is_dead});
  for (std::size_t i = 0; i < loads.size(); ++i) {
    load::LoadQuestion question;
    question.arrivals = runs[i].arrivals;
    auto trial = load::trial_of(question, {o.files.front(), load::named_worker(o.server), std::nullopt});
    trial.workload.load->client = runs[i].client;
    recorder.add(trial);
    const auto lease = recorder.take(600);
    ASSAY_CHECK(lease);
    recorder.complete(*lease, load::record_of(loads[i]), utc_now(), monotonic_ns());
  }
  return recorder.campaign();
}

/// Results of other load clients, by our rules: times from the schedule, tokens by `usage`.
void import_loads(const ImportFlags& o, const std::string& text) {
  if (o.files.size() > 1 || o.batch) {
    fail(ErrorKind::usage, "{} is a result of a load client: give one file, without --batch.", o.files.front());
  }
  const auto runs = load::import_load(text);
  load::LoadResult result;
  result.began_utc = utc_now();
  result.server = o.files.front();
  result.client = runs.front().client;
  std::vector<load::MeasuredLoad> loads;
  for (const auto& run : runs) {
    load::Sent sent;
    sent.requests = run.requests;
    load::MeasuredLoad one;
    one.point = load::summarise(run.arrivals, sent, {}, 0);
    one.point.arrivals.requests = one.point.requests;
    if (one.point.output_tokens) result.api = load::Api::completions;
    one.outcome = load::outcome_of(one.point);
    one.requests = run.requests;
    result.points.push_back(one.point);
    loads.push_back(std::move(one));
  }
  if (!o.store.empty()) result.campaign = keep_loads(o, loads, runs);
  const auto document = to_json(result).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  if (!o.out.empty()) write_output(o.out, document);
  print(o.json ? document : report::load_report(result, terminal_look()));
}

int import_files(ImportFlags o) {
  o.files = predict::trace_files(o.files);
  auto text = read_trace(o.files.front());
  if (load::is_load_result(text)) {
    import_loads(o, text);
    return 0;
  }
  if (!o.store.empty() || !o.server.empty()) {
    fail(ErrorKind::usage, "--{} is for results of a load client, and {} is not one. Leave it out.",
         o.store.empty() ? "server" : "keep", shown_path(o.files.front()));
  }
  if (model::is_llama_bench(text)) {
    import_bench(o, text);
  } else if (predict::is_json_object(text) && model::is_prototype(text)) {
    import_runs(o);
  } else {
    import_layers(o, std::move(text));
  }
  return 0;
}

void add_import(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<ImportFlags>();
  command
      .add_option(
          "trace", o->files,
          "What PyTorch's profiler wrote (export_chrome_trace, record_shapes=True), .json or .json.gz, a file for each "
          "rank of a job, or a folder of them; a Chakra execution trace with "
          "durations (.et, or JSON of chakra_trace_link); a profile of ONNX Runtime; counters of OpenVINO's "
          "benchmark_app; JSON of runs of the prototype, as many as there are; what `llama-bench -o json` prints; "
          "or results of a load client: profile_export.jsonl of AIPerf, benchmarks.json of GuideLLM")
      ->required();
  command.add_option("--batch", o->batch, "Give the number of samples that a device had in the profiled step")
      ->check(CLI::Range(1, 1 << 24));
  command.add_option("-o,--out", o->out, "Write the table to this file")->type_name("PATH");
  command.add_option("--keep", o->store, "Keep results of a load client as records of this machine in this store")
      ->type_name("STORE");
  command.add_option("--server", o->server, "Name the server's program in these records, such as vllm==0.32.0")
      ->type_name("NAME");
  add_json_flag(command, o->json, "Print the table as JSON");
  command.footer(
      "assay import trace.json --batch 32 -o layers.json\n"
      "assay import traces/ --batch 32 -o layers.json\n"
      "assay predict mine --cluster c.yaml --layers layers.json --devices 8-64*2\n"
      "assay import logs/*.json -o times.csv && assay fit times.csv\n"
      "assay import llama-bench.json -o answers.csv\n"
      "assay import benchmarks.json --keep assay.db --server vllm");
  command.callback([o, &invocation] { invocation.exit_code = import_files(*o); });
}

}  // namespace

const Command commands::import_profile{
    "import",
    "Read a profile into a table of layers, runs of the prototype or of llama-bench, or results of a load client",
    add_import};

}  // namespace assay::cli
