#pragma once

#include "assay/model/steps_needed.hpp"

namespace assay::predict {

/// A step that was measured, and how long a training of such steps takes to an accuracy.
struct AccuracyRow {
  std::string trial_id;
  std::string title;
  std::string platform;
  std::int64_t runs = 0;                     ///< that the time of the step rests on
  model::TimeTo step;                        ///< median, and its 95 % interval where there are 6 runs
  std::optional<model::ToAccuracy> reached;  ///< null where nobody knows the steps
  std::optional<std::string> refused;        ///< why
};

template <typename V>
void describe(V& v, AccuracyRow& r) {
  required(v, "trial_id", r.trial_id);
  required(v, "title", r.title);
  required(v, "platform", r.platform);
  required(v, "runs", r.runs);
  required(v, "step", r.step);
  v("reached", r.reached);
  v("refused", r.refused);
}

/// What is asked of measured steps.
struct AccuracyQuestion {
  double accuracy = 0;
  model::TrainingKind training;  ///< network, optimizer, and what else is stated: batch, precision, rate, options
};

/// Times to an accuracy, by time of a step and steps needed, the shortest first.
struct AccuracyPrediction {
  std::string network;
  double accuracy = 0;
  std::vector<AccuracyRow> rows;
};

template <typename V>
void describe(V& v, AccuracyPrediction& p) {
  required(v, "network", p.network);
  required(v, "accuracy", p.accuracy);
  required(v, "rows", p.rows);
}

/// A row for each trial and platform that trains what is asked for: those that learn it, and where it is learnt by SGD
/// also those that take such steps on random samples. Steps needed are those of the same training with any framework.
/// Runs that were disturbed give no time. Throws Error{usage} where no such step was measured, or the steps needed are
/// known for none.
AccuracyPrediction predict_accuracy(const AccuracyQuestion& question, const model::LearntRuns& learnt,
                                    const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& runs);

}  // namespace assay::predict
