#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/predict/scaling.hpp"
#include "assay/predict/step/stack.hpp"
#include "assay/predict/step/step_memory.hpp"

namespace assay::predict {

constexpr std::int64_t kRowsVersion = 1;

/// What would shorten a step most if it took no time at all.
enum class StepLimit {
  compute,        ///< products, attention, passes over memory, the output layer, the update
  launching,      ///< the same, where the device waits for its kernels to be launched
  communication,  ///< sums of tensor groups, gathers, exchanges, stages, gradients
  bubble,         ///< the pipeline fills and empties
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::StepLimit> {
  static constexpr std::array<const char*, 4> names{"compute", "launching", "communication", "bubble"};
};

namespace assay::predict {

StepLimit limit_of(const StepTime& time);

/// One job of a table.
struct RowPrediction {
  std::int64_t row = 0;  ///< from 1
  std::string model;
  std::string device;
  std::int64_t devices = 1;
  double seconds = 0;  ///< of a step
  double low_seconds = 0;
  double high_seconds = 0;
  std::int64_t range_rows = 0;  ///< residuals that the range is from
  std::string regime;
  bool new_device = false;  ///< no calibrated row has this device
  double memory_bytes = 0;
  StepMemory memory;  ///< the same, by kind
  bool fits = true;
  StepLimit limit = StepLimit::compute;
  double utilization = 0;  ///< FLOPs of the model without recomputing, over the devices' peak in bf16
  StepTime step;
  std::optional<double> measured_seconds;
  std::optional<double> error;  ///< predicted over measured, minus 1
  std::vector<std::string> assumed;
  std::optional<double> simulated_seconds;  ///< the graph of the step with its messages as flows; null: not asked
};

template <typename V>
void describe(V& v, RowPrediction& r) {
  required(v, "row", r.row);
  required(v, "model", r.model);
  required(v, "device", r.device);
  required(v, "devices", r.devices);
  required(v, "seconds", r.seconds);
  required(v, "low_seconds", r.low_seconds);
  required(v, "high_seconds", r.high_seconds);
  required(v, "range_rows", r.range_rows);
  required(v, "regime", r.regime);
  required(v, "new_device", r.new_device);
  required(v, "memory_bytes", r.memory_bytes);
  required(v, "memory", r.memory);
  required(v, "fits", r.fits);
  required(v, "limit", r.limit);
  required(v, "utilization", r.utilization);
  required(v, "step", r.step);
  v("measured_seconds", r.measured_seconds);
  v("error", r.error);
  v("assumed", r.assumed);
  v("simulated_seconds", r.simulated_seconds);
}

/// A number of devices of a sweep over which a job cannot be divided.
struct RefusedDevices {
  std::int64_t devices = 0;
  std::int64_t after_row = 0;  ///< its place in the sweep: after this many predicted rows
  std::string why;
};

template <typename V>
void describe(V& v, RefusedDevices& r) {
  required(v, "devices", r.devices);
  required(v, "after_row", r.after_row);
  required(v, "why", r.why);
}

/// All jobs of a table, and how far off they are where they were measured.
struct RowsPrediction {
  std::int64_t rows_version = kRowsVersion;
  std::string stack;
  std::int64_t calibrated_rows = 0;
  StepConstants constants;              ///< of all devices together
  std::vector<ConstantSpread> spreads;  ///< of those that rows determine, where groups of rows are left out
  std::vector<RefusedConstant> refused_constants;
  std::vector<RowPrediction> rows;
  std::vector<std::string> refused;             ///< rows that no job could be made of, with the reason
  std::vector<RefusedDevices> refused_devices;  ///< of a sweep
  std::optional<double> mean_error;             ///< of its size, over measured rows
  std::optional<double> median_error;
  std::optional<double> worst_error;
  std::optional<double> held_share;  ///< of measured rows, inside their range
  std::vector<Improvement> advice;   ///< for the last row, most helpful first; of a single job alone
  std::vector<std::string> notes;
};

template <typename V>
void describe(V& v, RowsPrediction& p) {
  required(v, "rows_version", p.rows_version);
  required(v, "stack", p.stack);
  required(v, "calibrated_rows", p.calibrated_rows);
  required(v, "constants", p.constants);
  v("spreads", p.spreads);
  v("refused_constants", p.refused_constants);
  required(v, "rows", p.rows);
  v("refused", p.refused);
  v("refused_devices", p.refused_devices);
  v("mean_error", p.mean_error);
  v("median_error", p.median_error);
  v("worst_error", p.worst_error);
  v("held_share", p.held_share);
  v("advice", p.advice);
  v("notes", p.notes);
}

/// Predicts every job. `known` has the rows to calibrate on; null: those of `jobs` itself that were measured, of which
/// each whole group is predicted from the others; where none was, constants are usual ones and all is a what-if. Throws
/// Error{usage} where 1 to 9 rows, or rows of one group alone, were measured.
RowsPrediction predict_rows(const RowMap& map, const JobRows& jobs, const JobRows* known);

/// The same with constants of a stack that is there already.
RowsPrediction predict_rows(const Stack& stack, const std::string& name, const JobRows& jobs);

}  // namespace assay::predict
