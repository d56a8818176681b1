#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/trial.hpp"
#include "assay/predict/threads/thread_law_fit.hpp"

namespace assay::predict {

/// Of all settings with one quota.
struct ChosenSetting {
  std::optional<double> quota;
  std::int64_t fastest = 0;               ///< place in `predictions`
  std::optional<std::int64_t> guideline;  ///< of what the guideline says; null: it was not asked
};

template <typename V>
void describe(V& v, ChosenSetting& c) {
  v("quota", c.quota);
  required(v, "fastest", c.fastest);
  v("guideline", c.guideline);
}

/// How fast a network is under settings that nobody has measured.
struct SettingsPrediction {
  Workload workload;
  Worker worker;
  std::string created_utc;
  std::string platform;   ///< id of the machine on which operators and laws were measured
  ThreadMachine machine;  ///< for which it is predicted
  bool here = true;       ///< that machine is the one that was measured
  ThreadLaws laws;
  std::vector<ThreadLawPoint> law_points;  ///< empty: the laws were given
  std::vector<OperatorTime> operators;
  std::int64_t disturbed_settings = 0;  ///< of those that were measured, without a run that was not disturbed
  double alone_seconds = 0;             ///< a step on one thread, as measured
  double critical_seconds = 0;          ///< of it, the longest chain of operators
  std::vector<ThreadPrediction> predictions;
  std::vector<ChosenSetting> chosen;  ///< one for each quota
};

template <typename V>
void describe(V& v, SettingsPrediction& p) {
  required(v, "workload", p.workload);
  required(v, "worker", p.worker);
  required(v, "created_utc", p.created_utc);
  required(v, "platform", p.platform);
  required(v, "machine", p.machine);
  required(v, "here", p.here);
  required(v, "laws", p.laws);
  required(v, "law_points", p.law_points);
  required(v, "operators", p.operators);
  required(v, "disturbed_settings", p.disturbed_settings);
  required(v, "alone_seconds", p.alone_seconds);
  required(v, "critical_seconds", p.critical_seconds);
  required(v, "predictions", p.predictions);
  required(v, "chosen", p.chosen);
}

/// Numbers of threads to be compared.
struct ThreadChoices {
  std::vector<ThreadSetting> settings;  ///< without a quota
  std::vector<std::optional<double>> quotas{std::nullopt};
  std::optional<ThreadSetting> guideline;  ///< compared too; without a quota
};

/// Fills predictions and chosen from operators, laws and machine: for each quota every setting, in the order given.
void predict_settings(SettingsPrediction& prediction, const ThreadChoices& choices);

}  // namespace assay::predict
