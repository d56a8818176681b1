#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "assay/report/subjects/tuning.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/flags/work.hpp"

namespace assay::cli {

struct PredictedSettingsFlags {
  bool wanted = false;
  std::string quotas;                  ///< "0.5,1,all"; empty: the quota there is
  std::string laws;                    ///< file; empty: measured
  std::optional<double> memory_cores;  ///< null: no limit
  std::optional<std::int64_t> runs;    ///< of every setting that is measured; null: 3
};

/// Declares --predict, --quota, --laws, --memory-cores and --runs.
void add_predicted_settings_flags(CLI::App& command, PredictedSettingsFlags& flags);

/// Throws Error{usage} where --predict is not given and one of the others is.
void check_predicted_settings_flags(const PredictedSettingsFlags& flags);

/// A network whose settings are to be predicted.
struct PredictedSettingsRequest {
  const PredictedSettingsFlags& flags;
  const PlanFlags& plan_flags;
  const MeasureFlags& measure_flags;
  const WorkFlags& work;
  const AnswerFlags& answer;
  const report::TunePlan& plan;
  const plan::Catalog& catalog;
  const plan::WorkerInfo& worker;
  std::int64_t seed = 1;
  std::string platform;  ///< id of this machine; empty: it is predicted for one that is described
};

/// Measures the network on one thread and, unless laws are given, another network on several; then predicts a step for
/// every number of threads, keeps that in the store and prints it. The exit code.
int predict_settings_here(const PredictedSettingsRequest& request);

}  // namespace assay::cli
