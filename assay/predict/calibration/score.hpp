#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/predict/scaling.hpp"

namespace assay::predict {

constexpr std::int64_t kScoreVersion = 1;

/// How a truth stands to a prediction.
enum class TruthKind {
  later,         ///< measured after it was predicted: it counts
  known_before,  ///< measured before: it is shown and does not count
  published,     ///< a row of a user's table, which bears no time: it counts
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::TruthKind> {
  static constexpr std::array<const char*, 3> names{"later", "known_before", "published"};
};

namespace assay::predict {

/// A prediction as a store keeps it.
struct KeptPrediction {
  std::string id;
  std::string predicted_utc;
  ScalingPrediction said;
};

/// What a step was found to take: a run of a store, or a row of a table. What is null is not told, and fits everything.
struct StepTruth {
  std::string source;  ///< for a person; truths of one source and one point are pooled
  std::string network;
  std::int64_t devices = 1;
  std::optional<std::int64_t> batch;  ///< of a device
  std::optional<std::string> precision;
  std::optional<std::map<std::string, Scalar>> options;  ///< of the network
  std::optional<std::string> cluster;
  std::optional<std::string> started_utc;  ///< of a run; null for a row of a table
  std::optional<double> seconds;           ///< of a step; else samples_per_second is there
  std::optional<double> samples_per_second;
};

/// A predicted point beside what was measured.
struct ScoredPoint {
  std::string prediction;  ///< the first digits of the hash of what it was made from
  std::string predicted_utc;
  std::string network;
  std::string cluster;
  Origin origin = Origin::assumed;    ///< as in the prediction
  RangeKind range = RangeKind::none;  ///< as in the prediction
  std::int64_t devices = 1;
  std::int64_t batch = 1;  ///< of a device
  double predicted_seconds = 0;
  double low_seconds = 0;
  double high_seconds = 0;
  double measured_seconds = 0;  ///< median of runs
  std::int64_t runs = 1;
  double error = 0;            ///< predicted over measured, minus 1
  std::optional<bool> inside;  ///< of the range; null where there is none
  /// later: measured after the prediction; known_before: shown and not counted; published: a row of a table.
  TruthKind truth = TruthKind::later;
  std::string source;
};

template <typename V>
void describe(V& v, ScoredPoint& p) {
  required(v, "prediction", p.prediction);
  required(v, "predicted_utc", p.predicted_utc);
  required(v, "network", p.network);
  v("cluster", p.cluster);
  required(v, "origin", p.origin);
  required(v, "range", p.range);
  required(v, "devices", p.devices);
  required(v, "batch", p.batch);
  required(v, "predicted_seconds", p.predicted_seconds);
  required(v, "low_seconds", p.low_seconds);
  required(v, "high_seconds", p.high_seconds);
  required(v, "measured_seconds", p.measured_seconds);
  required(v, "runs", p.runs);
  required(v, "error", p.error);
  v("inside", p.inside);
  required(v, "truth", p.truth);
  required(v, "source", p.source);
}

/// How many of the ranges of one kind hold what was measured.
struct RangeCoverage {
  RangeKind range = RangeKind::what_if;
  std::int64_t points = 0;
  std::int64_t inside = 0;
};

template <typename V>
void describe(V& v, RangeCoverage& c) {
  required(v, "range", c.range);
  required(v, "points", c.points);
  required(v, "inside", c.inside);
}

/// A prediction that nothing was found for.
struct UnmatchedPrediction {
  std::string prediction;
  std::string network;
  std::string cluster;
  std::vector<std::int64_t> devices;
  std::vector<std::int64_t> batches;  ///< of a device, one for each of those
};

template <typename V>
void describe(V& v, UnmatchedPrediction& u) {
  required(v, "prediction", u.prediction);
  required(v, "network", u.network);
  v("cluster", u.cluster);
  required(v, "devices", u.devices);
  required(v, "batches", u.batches);
}

/// How predictions of a store did. Errors are sizes, over the points that count.
struct PredictionScore {
  std::int64_t score_version = kScoreVersion;
  std::int64_t predictions = 0;
  std::int64_t counted = 0;  ///< points whose truth is later or published
  std::optional<double> mean_error;
  std::optional<double> median_error;
  std::optional<double> worst_error;
  std::vector<RangeCoverage> coverage;  ///< of kinds of ranges that were there
  std::vector<ScoredPoint> points;      ///< by prediction and devices
  std::vector<UnmatchedPrediction> unmatched;
};

template <typename V>
void describe(V& v, PredictionScore& s) {
  required(v, "score_version", s.score_version);
  required(v, "predictions", s.predictions);
  required(v, "counted", s.counted);
  v("mean_error", s.mean_error);
  v("median_error", s.median_error);
  v("worst_error", s.worst_error);
  required(v, "coverage", s.coverage);
  required(v, "points", s.points);
  required(v, "unmatched", s.unmatched);
}

/// Joins each predicted point with the truths of its network, devices, batch, precision, options and cluster. A run
/// that began after the prediction was made is later than it.
PredictionScore score_predictions(const std::vector<KeptPrediction>& kept, const std::vector<StepTruth>& truths);

/// A table of published times: columns network, devices, seconds or samples_per_second; where there are, also batch (or
/// batch_per_device) and cluster. `where` leaves the rows with this text in that column. Throws Error{bad_input} with
/// the row, and Error{usage} where no row is left.
std::vector<StepTruth> parse_truths(std::string_view csv, const std::string& name,
                                    const std::map<std::string, std::string>& where);

}  // namespace assay::predict
