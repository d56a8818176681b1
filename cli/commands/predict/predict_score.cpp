#include "cli/commands/predict/predict_score.hpp"

#include <algorithm>

#include "assay/core/text/file.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/report/results/scores.hpp"
#include "assay/report/subjects/predict/score.hpp"
#include "cli/command.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t kMostPublishedBytes = 16u << 20;

std::vector<predict::KeptPrediction> kept_predictions(store::Store& store, const ScoredStore& from) {
  const auto cluster = from.cluster.empty() ? "" : predict::read_cluster(from.cluster).name;
  std::vector<predict::KeptPrediction> kept;
  for (const auto& artifact : store.artifacts(report::kPredictionKind)) {
    auto one = report::kept_prediction(artifact);
    if (!from.network.empty() && one.said.network != from.network) continue;
    if (!from.cluster.empty() && one.said.cluster != cluster) continue;
    kept.push_back(std::move(one));
  }
  if (!kept.empty()) return kept;
  const auto where = store::shown_location(from.store);
  fail(ErrorKind::usage,
       "--score: {} has no prediction{}. Make one: assay predict NETWORK --cluster FILE --store {}, then measure.",
       where, from.network.empty() && from.cluster.empty() ? "" : " of that network and cluster", where);
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

void print_score(const ScoreFlags& flags, const ScoredStore& from, const AnswerFlags& wanted) {
  const auto store = store::open_store(from.store, store::Access::read);
  const auto kept = kept_predictions(*store, from);
  const store::Filter filter{.network = from.network};
  auto truths = report::step_truths(store->trials(filter), store->runs(filter));
  if (!flags.published.empty()) {
    const auto published = published_truths(flags);
    truths.insert(truths.end(), published.begin(), published.end());
  }
  const auto score = predict::score_predictions(kept, truths);
  answer(wanted, report::prediction_score_document(score), [&] { return to_json(score); });
}

void keep_prediction(const std::string& store, const json& inputs, predict::ScalingPrediction& said) {
  const auto opened = store::open_store(store, store::Access::create);
  const auto where = store::shown_location(store);
  const auto hash = hash_hex(canonical_json(inputs));
  const auto content = to_json(said);
  const auto kept = opened->artifacts(report::kPredictionKind);
  const auto found = std::find_if(kept.begin(), kept.end(),
                                  [&](const auto& one) { return one.inputs_hash == hash && one.content == content; });
  if (found == kept.end()) {
    opened->put_artifact(report::kPredictionKind, hash, content);
    said.notes.push_back(
        fmt::format("Kept in {}: once it was measured, assay predict --score --store {} scores it.", where, where));
  } else {
    said.notes.push_back(fmt::format("{} has this prediction since {}.", where, found->created_utc));
  }
}

}  // namespace assay::cli
