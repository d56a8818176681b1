#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/model/steps_needed.hpp"
#include "assay/predict/iteration.hpp"
#include "assay/predict/memory.hpp"

namespace assay::predict {

constexpr std::int64_t kPredictionVersion = 1;

/// What a job does when it gets more devices.
enum class Scaling {
  weak,    ///< each device keeps its batch
  strong,  ///< they share one batch
};

/// What would shorten a step most if it took no time at all.
enum class ScaleLimit { compute, communication, input };

/// Where a range comes from.
enum class RangeKind {
  none,     ///< one number: nothing is known of its spread
  what_if,  ///< the ends of what is assumed: no confidence interval
  interval  ///< 90 %, from runs that were measured
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::Scaling> {
  static constexpr std::array<const char*, 2> names{"weak", "strong"};
};

template <>
struct assay::EnumNames<assay::predict::ScaleLimit> {
  static constexpr std::array<const char*, 3> names{"compute", "communication", "input"};
};

template <>
struct assay::EnumNames<assay::predict::RangeKind> {
  static constexpr std::array<const char*, 3> names{"none", "what_if", "interval"};
};

namespace assay::predict {

/// One end of what is not known exactly.
struct Assumption {
  double compute = 1;    ///< times as long as the table says
  double slow_down = 1;  ///< of compute while gradients travel
};

/// What is asked.
struct Question {
  LayerTable table;  ///< of one device
  Cluster cluster;
  Practice practice;
  Scaling scaling = Scaling::weak;
  std::string optimizer = "sgd";
  std::string precision = "fp32";
  std::map<std::string, Scalar> options;  ///< of the network, so that what is measured later can be joined
  std::optional<double> job_samples;      ///< of a whole training, for its time and price
  Assumption best;                        ///< of what is assumed or measured, its good end
  Assumption worst;                       ///< and its bad one
  RangeKind range = RangeKind::none;
};

/// One number of devices.
struct ScalePoint {
  std::int64_t devices = 1;
  std::int64_t nodes = 1;
  std::int64_t batch = 1;  ///< of a device
  Iteration step;
  double low_seconds = 0;
  double high_seconds = 0;
  double samples_per_second = 0;
  double efficiency = 1;                   ///< throughput over that of as many single devices
  ScaleLimit limit = ScaleLimit::compute;  ///< what would shorten a step most if it took no time
  MemoryUse memory;
  std::optional<bool> fits;  ///< null where the device's memory is not known
  std::optional<double> job_hours;
  std::optional<double> job_price;
  std::optional<double> simulated_seconds;  ///< the same step with collectives simulated as flows; null: not asked
  /// What so many steps as trainings needed take; null: not asked, or not known for these samples in a step.
  std::optional<model::ToAccuracy> to_accuracy;
};

template <typename V>
void describe(V& v, ScalePoint& p) {
  required(v, "devices", p.devices);
  required(v, "nodes", p.nodes);
  required(v, "batch", p.batch);
  required(v, "step", p.step);
  v("low_seconds", p.low_seconds);
  v("high_seconds", p.high_seconds);
  required(v, "samples_per_second", p.samples_per_second);
  required(v, "efficiency", p.efficiency);
  required(v, "limit", p.limit);
  required(v, "memory", p.memory);
  v("fits", p.fits);
  v("job_hours", p.job_hours);
  v("job_price", p.job_price);
  v("simulated_seconds", p.simulated_seconds);
  v("to_accuracy", p.to_accuracy);
}

/// Something to change, and what it would give.
struct Improvement {
  std::string change;
  double seconds = 0;  ///< of a step of as many samples
  double gain = 1;     ///< throughput with it over throughput without
};

template <typename V>
void describe(V& v, Improvement& a) {
  required(v, "change", a.change);
  required(v, "seconds", a.seconds);
  required(v, "gain", a.gain);
}

/// What Assay says of a job on a cluster, as it is kept in a store.
struct ScalingPrediction {
  std::int64_t prediction_version = kPredictionVersion;
  std::string network;
  std::map<std::string, Scalar> options;  ///< of the network
  std::string precision = "fp32";
  std::string cluster;
  Origin origin = Origin::assumed;  ///< where the times of layers come from
  /// What low_seconds and high_seconds are: nothing, the ends of what is assumed, or a 90 % interval from measured
  /// runs.
  RangeKind range = RangeKind::none;
  Scaling scaling = Scaling::weak;
  Practice practice;
  std::vector<ScalePoint> points;
  std::vector<Improvement> advice;  ///< for the last point, most helpful first
  std::vector<std::string> notes;
};

template <typename V>
void describe(V& v, ScalingPrediction& p) {
  required(v, "prediction_version", p.prediction_version);
  required(v, "network", p.network);
  v("options", p.options);
  v("precision", p.precision);
  v("cluster", p.cluster);
  required(v, "origin", p.origin);
  v("range", p.range);
  v("scaling", p.scaling);
  v("practice", p.practice);
  required(v, "points", p.points);
  v("advice", p.advice);
  v("notes", p.notes);
}

/// The table of one of so many devices. Throws Error{usage} where strong scaling leaves no whole sample for each.
LayerTable table_at(const Question& question, std::int64_t devices);

/// The step on so many devices. Throws Error{usage} where the cluster has no such part, or strong scaling leaves no
/// whole sample for each.
ScalePoint predict_point(const Question& question, std::int64_t devices);

/// What would help on so many devices, most helpful first; only what gains at least 1 %.
std::vector<Improvement> advise(const Question& question, std::int64_t devices);

/// All of it. Precondition: devices is not empty.
ScalingPrediction predict_scaling(const Question& question, const std::vector<std::int64_t>& devices);

}  // namespace assay::predict
