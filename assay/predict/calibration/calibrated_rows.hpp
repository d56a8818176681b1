#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/predict/calibration/calibrate.hpp"

namespace assay::predict {

constexpr std::int64_t kCalibrationVersion = 1;

/// A row that constants were found from, beside what they say of it.
struct CalibratedRow {
  std::string job;
  std::string link;
  std::int64_t devices = 1;
  std::int64_t messages = 0;
  double measured_seconds = 0;
  double said_seconds = 0;
  double error = 0;  ///< said over measured, minus 1
};

template <typename V>
void describe(V& v, CalibratedRow& r) {
  required(v, "job", r.job);
  required(v, "link", r.link);
  required(v, "devices", r.devices);
  required(v, "messages", r.messages);
  required(v, "measured_seconds", r.measured_seconds);
  required(v, "said_seconds", r.said_seconds);
  required(v, "error", r.error);
}

/// What the constants say of a job on so many devices, sending as its row with most devices does.
struct CalibratedPoint {
  std::string job;
  std::string link;
  std::int64_t devices = 1;
  std::int64_t messages = 0;
  double seconds = 0;
  double efficiency = 1;  ///< throughput over that of as many single devices
  /// From rows that were left out in turn, as much wider as there are doublings beyond the devices of all rows; null
  /// where none could be left out.
  std::optional<double> low_seconds;
  std::optional<double> high_seconds;
};

template <typename V>
void describe(V& v, CalibratedPoint& p) {
  required(v, "job", p.job);
  required(v, "link", p.link);
  required(v, "devices", p.devices);
  required(v, "messages", p.messages);
  required(v, "seconds", p.seconds);
  required(v, "efficiency", p.efficiency);
  v("low_seconds", p.low_seconds);
  v("high_seconds", p.high_seconds);
}

/// A cluster's constants from measured steps.
struct ClusterCalibration {
  std::int64_t calibration_version = kCalibrationVersion;
  CalibratedCluster constants;
  std::vector<std::string> no_overlap;  ///< jobs that never overlap in these rows, so that their slow_down is not told
  std::vector<CalibratedRow> rows;
  double mean_error = 0;  ///< of its size, over rows
  double worst_error = 0;
  std::int64_t range_rows = 0;  ///< that were each predicted from the others, for the ranges of points
  std::vector<CalibratedPoint> points;
};

template <typename V>
void describe(V& v, ClusterCalibration& c) {
  required(v, "calibration_version", c.calibration_version);
  required(v, "constants", c.constants);
  required(v, "no_overlap", c.no_overlap);
  required(v, "rows", c.rows);
  required(v, "mean_error", c.mean_error);
  required(v, "worst_error", c.worst_error);
  v("range_rows", c.range_rows);
  required(v, "points", c.points);
}

/// A CSV table of measured steps: columns job, link, devices, devices_per_node, seconds, alone_seconds and messages:
/// the bytes of each with ; between, and before them READY: where it may travel once that share of the backward pass is
/// done (0.5:4e6;1:2e6). Where there are, also backward_seconds (else two thirds of alone_seconds), extra_seconds and
/// spread_seconds. Throws Error{bad_input} with the row.
std::vector<MeasuredStep> parse_measured_steps(std::string_view csv, const std::string& name);

/// Constants from these rows, how close they come, and what they say of these numbers of devices. Throws Error{usage}
/// as calibrate() and step_seconds().
ClusterCalibration calibrate_rows(const std::vector<MeasuredStep>& steps, const std::vector<std::int64_t>& devices);

}  // namespace assay::predict
