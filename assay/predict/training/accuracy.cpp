#include "assay/predict/training/accuracy.hpp"

#include <algorithm>

#include "assay/core/workloads/learning.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

constexpr double kIntervalOfStep = 0.95;

/// Median steps of the runs of a trial on a platform, in seconds.
using StepTimes = std::map<std::pair<std::string, std::string>, std::vector<double>>;

StepTimes step_times(const std::vector<store::RunRow>& runs) {
  StepTimes out;
  for (const auto& run : runs) {
    const bool counts = run.counted && run.trusted && run.outcome == OutcomeKind::ok && run.summary.median_ns;
    if (counts) out[{run.trial, run.platform}].push_back(1e-9 * static_cast<double>(*run.summary.median_ns));
  }
  return out;
}

/// Whether the steps of a trial are those of the training that is asked for.
bool takes_such_steps(const Trial& trial, const model::TrainingKind& asked) {
  if (trial.workload.mode != Mode::train || trial.settings.instances.value_or(1) != 1) return false;
  if (const auto training = model::training_of(trial)) return model::is_one_of(*training, asked);
  auto stated = asked;
  stated.erase("learning_rate");  // it costs no time
  const auto optimizer = stated.extract("optimizer");
  const bool by_sgd = optimizer.empty() || optimizer.mapped() == name_of(Optimizer::sgd);
  return by_sgd && model::is_one_of(model::step_of(trial), stated);
}

model::TimeTo time_of_step(const std::vector<double>& seconds) {
  model::TimeTo out{stats::median(seconds), {}, {}};
  if (const auto interval = stats::median_interval(seconds, kIntervalOfStep)) {
    out.low_seconds = interval->low;
    out.high_seconds = interval->high;
  }
  return out;
}

/// The training that is asked for, with what the trial says of it.
model::TrainingKind training_with(const Trial& trial, const model::TrainingKind& asked) {
  auto out = model::training_of(trial).value_or(model::step_of(trial));
  out.insert(asked.begin(), asked.end());
  return out;
}

double order_of(const AccuracyRow& row) {
  return row.reached ? row.reached->time.seconds : 1e300;
}

}  // namespace

AccuracyPrediction predict_accuracy(const AccuracyQuestion& question, const model::LearntRuns& learnt,
                                    const std::vector<store::TrialRow>& trials,
                                    const std::vector<store::RunRow>& runs) {
  AccuracyPrediction out{question.training.at("network"), question.accuracy, {}};
  const auto times = step_times(runs);
  for (const auto& trial : trials) {
    if (!takes_such_steps(trial.trial, question.training)) continue;
    for (auto it = times.lower_bound({trial.id, ""}); it != times.end() && it->first.first == trial.id; ++it) {
      AccuracyRow row{
          trial.id, title(trial.trial), it->first.second, std::ssize(it->second), time_of_step(it->second), {}, {}};
      try {
        const auto needed = learnt.steps_to(question.accuracy, training_with(trial.trial, question.training));
        row.reached = model::ToAccuracy{needed, model::time_to(needed, row.step)};
      } catch (const Error& error) {
        row.refused = error.what();
      }
      out.rows.push_back(std::move(row));
    }
  }
  if (out.rows.empty()) {
    fail(ErrorKind::usage,
         "no undisturbed run of {} in mode train tells how long such a step takes. Measure it: assay run {} --mode "
         "train "
         "--batch 32 --runs 6",
         out.network, out.network);
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
  if (!out.rows.front().reached) fail(ErrorKind::usage, "{}", *out.rows.front().refused);
  return out;
}

}  // namespace assay::predict
