#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/trial.hpp"
#include "assay/plan/sweeps/trial_sweep.hpp"

namespace assay::cli {

/// The flag that is no axis of its own: each worker follows it by another one.
constexpr const char* kThreadsAxis = "threads";

/// What is measured, as flags say it.
struct PlanFlags {
  std::vector<std::pair<std::string, std::string>> axes;  ///< axis of the plan, and the sweep written for it
  std::vector<std::string> options;                       ///< NAME=SWEEP
  std::vector<std::string> env;                           ///< NAME=VALUE

  bool empty() const { return axes.empty() && options.empty() && env.empty(); }
};

void add_plan_flags(CLI::App& command, PlanFlags& flags);
plan::TrialSweep sweep_of(const PlanFlags& flags);

/// How it is measured, as flags say it.
struct MeasureFlags {
  std::string seconds;
  std::string warmup;
  std::string warmup_cap;
  std::string limit;
  std::string prepare_limit;
  std::string memory_limit;
  std::string meter;
  std::string platform;
  std::optional<std::int64_t> max_samples;
  std::optional<std::int64_t> pair_steps;
  std::optional<std::int64_t> retries;
  std::optional<bool> phases;
  bool layers = false;
  std::string stop;
  std::optional<std::int64_t> most_runs;
  std::string most_time;
};

void add_measure_flags(CLI::App& command, MeasureFlags& flags);

/// Flags override what stands in `measure`.
void apply(const MeasureFlags& flags, Measure& measure);

}  // namespace assay::cli
