#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/trial.hpp"
#include "assay/store/store.hpp"

namespace assay::compare {

constexpr std::int64_t kScalingVersion = 1;

/// What stays the same while CPUs are added.
enum class ScalingKind {
  strong,  ///< the samples of a step, all processes together
  weak,    ///< the samples of a step for each CPU
};

/// What the CPUs are given to.
enum class ScaledBy { threads, instances };

}  // namespace assay::compare

template <>
struct assay::EnumNames<assay::compare::ScalingKind> {
  static constexpr std::array<const char*, 2> names{"strong", "weak"};
};

template <>
struct assay::EnumNames<assay::compare::ScaledBy> {
  static constexpr std::array<const char*, 2> names{"threads", "instances"};
};

namespace assay::compare {

/// One number of CPUs of a curve.
struct CurvePoint {
  std::int64_t cpus = 1;
  std::string trial_id;
  std::int64_t instances = 1;
  std::int64_t threads = 1;                  ///< of each instance
  std::int64_t batch = 1;                    ///< of each instance; where text is generated, its sequences
  std::int64_t runs = 0;                     ///< that count
  std::int64_t disturbed = 0;                ///< left out: something else was at work on the machine
  std::optional<double> samples_per_second;  ///< geometric mean over runs; of generated text, sequences per second
  std::optional<double> speedup;             ///< over the curve's first point
  std::optional<double> speedup_low;         ///< 95 %, by Welch over runs as independent processes
  std::optional<double> speedup_high;
  std::optional<double> efficiency;    ///< speed-up over the growth in CPUs
  std::optional<double> serial_share;  ///< of strong scaling: what does not scale, by Karp and Flatt (1990)
};

template <typename V>
void describe(V& v, CurvePoint& p) {
  required(v, "cpus", p.cpus);
  required(v, "trial_id", p.trial_id);
  required(v, "instances", p.instances);
  required(v, "threads", p.threads);
  required(v, "batch", p.batch);
  required(v, "runs", p.runs);
  v("disturbed", p.disturbed);
  v("samples_per_second", p.samples_per_second);
  v("speedup", p.speedup);
  v("speedup_low", p.speedup_low);
  v("speedup_high", p.speedup_high);
  v("efficiency", p.efficiency);
  v("serial_share", p.serial_share);
}

struct ScaleCurve {
  ScalingKind kind = ScalingKind::strong;
  ScaledBy by = ScaledBy::threads;
  std::vector<CurvePoint> points;
};

template <typename V>
void describe(V& v, ScaleCurve& c) {
  required(v, "kind", c.kind);
  required(v, "by", c.by);
  required(v, "points", c.points);
}

/// How a workload grows with the CPUs of one machine.
struct ScalingStudy {
  std::int64_t scaling_version = kScalingVersion;
  Workload workload;  ///< with the batch, or the sequences, of one CPU
  Worker worker;
  std::vector<ScaleCurve> curves;
  std::vector<std::string> left_out;  ///< points that are none, with the reason
};

template <typename V>
void describe(V& v, ScalingStudy& s) {
  required(v, "scaling_version", s.scaling_version);
  required(v, "workload", s.workload);
  required(v, "worker", s.worker);
  required(v, "curves", s.curves);
  v("left_out", s.left_out);
}

/// 1, 2, 4, … below `most`, and `most` itself.
std::vector<std::int64_t> doubling_up_to(std::int64_t most);

/// Curves without numbers, and the distinct trials to measure for them.
struct ScalingPlan {
  ScalingStudy study;
  std::vector<Trial> trials;
};

/// Four curves over numbers of CPUs: strong and weak, by threads of one instance and by instances. `base` has the batch
/// of the smallest point and everything that all points share; its intra_op, 1 where it has none, are the threads of
/// each instance on the curves by instances. Where text is generated, sequences grow in place of the batch.
ScalingPlan plan_scaling(const Trial& base, const std::vector<std::int64_t>& cpus);

/// Puts numbers on the points from runs that count.
void measure_curves(ScalingStudy& study, const std::vector<store::RunRow>& rows);

}  // namespace assay::compare
