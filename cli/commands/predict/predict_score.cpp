#include "cli/commands/predict/predict_score.hpp"

#include <algorithm>

#include "assay/core/text/file.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/predict/calibration/score.hpp"
#include "assay/report/subjects/predict/score.hpp"
#include "assay/store/store.hpp"
#include "cli/command.hpp"

namespace assay::cli {
namespace {

constexpr const char* kPredictionKind = "prediction";
constexpr std::size_t kMostPublishedBytes = 16u << 20;
constexpr std::size_t kShownDigits = 8;

std::vector<predict::KeptPrediction> kept_predictions(store::Store& store, const ScoredStore& from) {
  const auto cluster = from.cluster.empty() ? "" : predict::read_cluster(from.cluster).name;
  std::vector<predict::KeptPrediction> kept;
  for (const auto& one : store.artifacts(kPredictionKind)) {
    auto said = from_json<predict::ScalingPrediction>(one.content, kPredictionKind);
    if (!from.network.empty() && said.network != from.network) continue;
    if (!from.cluster.empty() && said.cluster != cluster) continue;
    kept.push_back({one.inputs_hash.substr(0, kShownDigits), one.created_utc, std::move(said)});
  }
  if (!kept.empty()) return kept;
  const auto where = store::shown_location(from.store);
  fail(ErrorKind::usage,
       "--score: {} has no prediction{}. Make one: assay predict NETWORK --cluster FILE --store {}, then measure.",
       where, from.network.empty() && from.cluster.empty() ? "" : " of that network and cluster", where);
}

/// Runs of training that ended well and were not disturbed, one process for each device.
std::vector<predict::StepTruth> truths_of(store::Store& store, const ScoredStore& from) {
  const store::Filter filter{.network = from.network};
  std::map<std::string, Trial> trials;
  for (const auto& row : store.trials(filter)) trials.emplace(row.id, row.trial);
  std::vector<predict::StepTruth> truths;
  for (const auto& run : store.runs(filter)) {
    const auto& trial = trials.at(run.trial);
    const auto& workload = trial.workload;
    const bool counts = run.counted && run.trusted && run.outcome == OutcomeKind::ok && run.summary.median_ns;
    if (!counts || workload.mode != Mode::train || trial.settings.instances.value_or(1) != 1) continue;
    predict::StepTruth truth;
    truth.source = fmt::format("{} [{}]", title(trial), run.platform.substr(0, kShownDigits));
    truth.network = workload.network;
    truth.devices = trial.placement.ranks;
    truth.batch = workload.batch;
    truth.precision = workload.precision;
    truth.options = workload.options;
    truth.started_utc = run.started_utc;
    truth.seconds = 1e-9 * static_cast<double>(*run.summary.median_ns);
    truths.push_back(std::move(truth));
  }
  return truths;
}

std::vector<predict::StepTruth> published_truths(const ScoreFlags& flags) {
  std::map<std::string, std::string> where;
  for (const auto& text : flags.where) {
    const auto assigned = split_assignment(text, "--where");
    where[assigned.first] = assigned.second;
  }
  const auto text = read_file(flags.published, kMostPublishedBytes);
  if (text.size() > kMostPublishedBytes) {
    fail(ErrorKind::bad_input, "{} is larger than 16 MiB. Leave out what is not asked.", flags.published);
  }
  return predict::parse_truths(text, flags.published, where);
}

}  // namespace

void add_score_flags(CLI::App& command, ScoreFlags& flags) {
  const char* group = "Scores";
  command
      .add_flag("--score", flags.score,
                "Predict nothing: score the predictions of --store against what was measured after them")
      ->group(group);
  command
      .add_option("--published", flags.published,
                  "Score them against this table too: CSV with network, devices, seconds or samples_per_second")
      ->type_name("PATH")
      ->group(group);
  command
      .add_option("--where", flags.where,
                  "Keep only its rows with this text in this column, NAME=TEXT; may be repeated")
      ->allow_extra_args(false)
      ->group(group);
}

void print_score(const ScoreFlags& flags, const ScoredStore& from, bool as_json) {
  const auto store = store::open_store(from.store, store::Access::read);
  const auto kept = kept_predictions(*store, from);
  auto truths = truths_of(*store, from);
  if (!flags.published.empty()) {
    const auto published = published_truths(flags);
    truths.insert(truths.end(), published.begin(), published.end());
  }
  const auto score = predict::score_predictions(kept, truths);
  print(as_json ? to_json(score).dump(2) + "\n" : report::prediction_score_report(score, terminal_look()));
}

void keep_prediction(const std::string& store, const json& inputs, predict::ScalingPrediction& said) {
  const auto opened = store::open_store(store, store::Access::create);
  const auto where = store::shown_location(store);
  const auto hash = hash_hex(canonical_json(inputs));
  const auto content = to_json(said);
  const auto kept = opened->artifacts(kPredictionKind);
  const auto found = std::find_if(kept.begin(), kept.end(),
                                  [&](const auto& one) { return one.inputs_hash == hash && one.content == content; });
  if (found == kept.end()) {
    opened->put_artifact(kPredictionKind, hash, content);
    said.notes.push_back(
        fmt::format("Kept in {}: once it was measured, assay predict --score --store {} scores it.", where, where));
  } else {
    said.notes.push_back(fmt::format("{} has this prediction since {}.", where, found->created_utc));
  }
}

}  // namespace assay::cli
