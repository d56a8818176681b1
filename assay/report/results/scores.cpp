#include "assay/report/results/scores.hpp"

#include <map>

namespace assay::report {
namespace {

constexpr std::size_t kPredictionDigits = 8;

}  // namespace

predict::KeptPrediction kept_prediction(const store::Artifact& artifact) {
  return {artifact.inputs_hash.substr(0, kPredictionDigits), artifact.created_utc,
          from_json<predict::ScalingPrediction>(artifact.content, kPredictionKind)};
}

std::vector<predict::StepTruth> step_truths(const std::vector<store::TrialRow>& trials,
                                            const std::vector<store::RunRow>& runs) {
  std::map<std::string, const Trial*> by_id;
  for (const auto& row : trials) by_id.emplace(row.id, &row.trial);
  std::vector<predict::StepTruth> truths;
  for (const auto& run : runs) {
    const auto found = by_id.find(run.trial);
    if (found == by_id.end()) continue;
    const auto& trial = *found->second;
    const auto& workload = trial.workload;
    const bool counts = run.counted && run.trusted && run.outcome == OutcomeKind::ok && run.summary.median_ns;
    if (!counts || workload.mode != Mode::train || trial.settings.instances.value_or(1) != 1) continue;
    predict::StepTruth truth;
    truth.source = fmt::format("{} [{}]", title(trial), run.platform.substr(0, kPredictionDigits));
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

std::vector<predict::PredictionScore> newest_scores(const std::vector<predict::KeptPrediction>& kept,
                                                    const std::vector<predict::StepTruth>& truths, std::size_t most) {
  std::vector<predict::PredictionScore> scores;
  for (auto one = kept.rbegin(); one != kept.rend() && scores.size() < most; ++one) {
    auto score = predict::score_predictions({*one}, truths);
    if (!score.points.empty()) scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace assay::report
