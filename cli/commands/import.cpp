#include <algorithm>
#include <memory>

#include "assay/core/clock.hpp"
#include "assay/core/text/file.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/load/recording.hpp"
#include "assay/load/result_source.hpp"
#include "assay/measure/agent/agent.hpp"
#include "assay/model/tables/llama_bench.hpp"
#include "assay/model/tables/prototype.hpp"
#include "assay/predict/layer_sources/kineto_ranks.hpp"
#include "assay/predict/traces/gpu_trace.hpp"
#include "assay/predict/traces/gzip.hpp"
#include "assay/report/subjects/layers/layer_table.hpp"
#include "assay/report/subjects/load/load.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

struct ImportFlags {
  std::vector<std::string> files;
  std::optional<std::int64_t> batch;
  std::string out;
  AnswerFlags answer;
  std::string store;
  std::string server;
};

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
  if (!o.out.empty()) write_output(o.out, to_json(table).dump(2) + "\n");
  answer(o.answer, report::layer_table_document(table), [&] { return to_json(table); });
}

/// The first flag that what becomes a CSV table does not take; null where none was given.
const char* flag_without_effect(const ImportFlags& o) {
  if (o.batch) return "--batch";
  if (o.answer.json) return "--json";
  return o.answer.markdown.empty() ? nullptr : "--markdown";
}

/// Runs of the prototype become a table of times, for `assay fit`.
void import_runs(const ImportFlags& o) {
  if (const char* flag = flag_without_effect(o)) {
    fail(ErrorKind::usage, "{}: runs of the prototype tell their batch, and become a CSV table. Leave it out.", flag);
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
  if (o.files.size() > 1 || flag_without_effect(o) != nullptr) {
    fail(ErrorKind::usage,
         "{} is a result of llama-bench: give one file, without --batch, --json and --markdown; it becomes CSV.",
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
  if (!o.out.empty()) {
    write_output(o.out, to_json(result).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  }
  answer(o.answer, report::load_document(result), [&] { return to_json(result); });
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
  add_answer_flags(command, o->answer);
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
