#include "assay/model/steps_needed.hpp"

#include <algorithm>

#include "assay/core/text/number.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::model {
namespace {

constexpr double kNeverReached = 1e300;  // finite, because medians of two values add them
constexpr double kMostSteps = 1e200;
constexpr double kStepsConfidence = 0.95;
constexpr double kShareRounding = 1e-9;

std::string shown_training(const TrainingKind& training) {
  std::string out;
  for (const auto& [name, text] : training) out += (out.empty() ? "" : ", ") + name + " " + text;
  return out;
}

std::string percent(double share) {
  return fmt::format("{:.4g} %", 100 * share);
}

std::string listed(const std::vector<TrainingKind>& trainings) {
  std::string out;
  for (const auto& one : trainings) out += "\n  " + shown_training(one);
  return out;
}

}  // namespace

TrainingKind step_of(const Trial& trial) {
  const auto& workload = trial.workload;
  TrainingKind out{{"network", workload.network},
                   {"precision", workload.precision},
                   {"batch", std::to_string(workload.batch * trial.placement.ranks)}};
  for (const auto& [name, value] : options_of_network(workload)) out[name] = plain_text(to_json(value));
  return out;
}

bool is_one_of(const TrainingKind& training, const TrainingKind& asked) {
  return std::all_of(asked.begin(), asked.end(), [&](const auto& one) {
    const auto found = training.find(one.first);
    if (found == training.end()) return false;
    const auto number = parse_number<double>(one.second);  // 0.010 is 0.01
    return found->second == one.second || (number && number == parse_number<double>(found->second));
  });
}

std::optional<TrainingKind> training_of(const Trial& trial) {
  const auto learning = learning_of(trial.workload);
  if (!learning) return std::nullopt;
  auto out = step_of(trial);
  out["optimizer"] = name_of(learning->optimizer);
  out["learning_rate"] = fmt::format("{}", learning->learning_rate);
  return out;
}

LearntRuns::LearntRuns(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& runs) {
  std::map<std::string, const Trial*> of_ids;
  for (const auto& row : trials) of_ids[row.id] = &row.trial;
  for (const auto& row : runs) {
    const auto trial = of_ids.find(row.trial);
    const auto learnt = row.digest.effective.find(kLearned);
    if (trial == of_ids.end() || learnt == row.digest.effective.end()) continue;
    const auto training = training_of(*trial->second);
    if (!training || !row.counted || row.outcome != OutcomeKind::ok) continue;
    const auto how = learning_of(trial->second->workload);
    const auto learned = from_json<Learned>(learnt->second.at(0), kLearned);
    of_[*training].push_back(
        {how->accuracy, how->epochs, trial->second->workload.batch, learned.held_out, learned.correct});
  }
}

StepsNeeded LearntRuns::steps_to(double accuracy, const TrainingKind& asked) const {
  std::vector<TrainingKind> meant;
  std::vector<Run> runs;
  for (const auto& [training, all] : of_) {
    if (!is_one_of(training, asked)) continue;
    std::vector<Run> enough;
    std::copy_if(all.begin(), all.end(), std::back_inserter(enough),
                 [&](const auto& run) { return run.target >= accuracy - kShareRounding; });
    if (enough.empty()) continue;
    meant.push_back(training);
    runs = std::move(enough);
  }
  if (meant.empty()) {
    std::vector<TrainingKind> others;
    for (const auto& [training, all] : of_) others.push_back(training);
    fail(ErrorKind::usage,
         "no run that counts was trained to {} with {}. `assay run NETWORK --until 'accuracy>={:.4g}%' --runs 6` tells "
         "how many steps that needs.{}{}",
         percent(accuracy), shown_training(asked), 100 * accuracy,
         others.empty() ? "" : " Trained were:", listed(others));
  }
  if (meant.size() > 1) {
    fail(ErrorKind::usage, "{} trainings to {} are meant. Say more of the one to take:{}", meant.size(),
         percent(accuracy), listed(meant));
  }
  return of_runs(accuracy, meant.front(), runs);
}

StepsNeeded LearntRuns::of_runs(double accuracy, const TrainingKind& training, const std::vector<Run>& runs) {
  StepsNeeded out;
  out.training = training;
  out.accuracy = accuracy;
  out.batch = std::stoll(training.at("batch"));
  for (const auto& run : runs) out.epochs = std::max(out.epochs, run.most_epochs);
  std::vector<double> steps;
  for (const auto& run : runs) {
    if (run.most_epochs < out.epochs) continue;
    const auto wanted = accuracy * static_cast<double>(run.held_out) - kShareRounding;
    const auto found = std::find_if(run.correct.begin(), run.correct.end(),
                                    [&](std::int64_t correct) { return static_cast<double>(correct) >= wanted; });
    const bool reached = found != run.correct.end();
    out.reached += reached ? 1 : 0;
    const auto epochs = found - run.correct.begin() + 1;
    steps.push_back(reached ? static_cast<double>(epochs * steps_of_epoch(run.batch)) : kNeverReached);
  }
  out.runs = std::ssize(steps);
  out.steps = stats::median(steps);
  if (out.steps > kMostSteps) {
    fail(ErrorKind::usage,
         "{} of {} runs reached {} within {} epochs ({}): with half of them or fewer nobody knows how "
         "many steps it needs.",
         out.reached, out.runs, percent(accuracy), out.epochs, shown_training(training));
  }
  if (const auto interval = stats::median_interval(steps, kStepsConfidence)) {
    out.low_steps = interval->low;
    if (interval->high < kMostSteps) out.high_steps = interval->high;
  }
  return out;
}

TimeTo time_to(const StepsNeeded& needed, const TimeTo& step) {
  TimeTo out{needed.steps * step.seconds, {}, {}};
  if (needed.low_steps && step.low_seconds) out.low_seconds = *needed.low_steps * *step.low_seconds;
  if (needed.high_steps && step.high_seconds) out.high_seconds = *needed.high_steps * *step.high_seconds;
  return out;
}

}  // namespace assay::model
