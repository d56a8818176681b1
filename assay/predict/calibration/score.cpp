#include "assay/predict/calibration/score.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/predict/calibration/named_columns.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

template <typename T>
bool agrees(const std::optional<T>& told, const T& value) {
  return !told || *told == value;
}

/// By network and devices, since a store may have many runs and many predictions.
using TruthsOfJobs = std::map<std::pair<std::string, std::int64_t>, std::vector<const StepTruth*>>;

bool is_of(const StepTruth& truth, const ScalingPrediction& said, const ScalePoint& point) {
  if (!agrees(truth.batch, point.batch)) return false;
  // A run of ours sends gradients after every batch.
  if (truth.started_utc && said.practice.accumulation != 1) return false;
  return agrees(truth.precision, said.precision) && agrees(truth.options, said.options) &&
         agrees(truth.cluster, said.cluster);
}

TruthKind kind_of(const StepTruth& truth, const std::string& predicted_utc) {
  if (!truth.started_utc) return TruthKind::published;
  return *truth.started_utc > predicted_utc ? TruthKind::later : TruthKind::known_before;
}

double seconds_of(const StepTruth& truth, const ScalePoint& point, const Practice& practice) {
  if (truth.seconds) return *truth.seconds;
  return static_cast<double>(point.batch * practice.accumulation * point.devices) / *truth.samples_per_second;
}

ScoredPoint scored(const KeptPrediction& kept, const ScalePoint& point, const std::vector<double>& measured) {
  ScoredPoint out;
  out.prediction = kept.id;
  out.predicted_utc = kept.predicted_utc;
  out.network = kept.said.network;
  out.cluster = kept.said.cluster;
  out.origin = kept.said.origin;
  out.range = kept.said.range;
  out.devices = point.devices;
  out.batch = point.batch;
  out.predicted_seconds = point.step.seconds;
  out.low_seconds = point.low_seconds;
  out.high_seconds = point.high_seconds;
  out.measured_seconds = stats::median(measured);
  out.runs = static_cast<std::int64_t>(measured.size());
  out.error = out.predicted_seconds / out.measured_seconds - 1;
  if (out.range != RangeKind::none) {
    out.inside = out.low_seconds <= out.measured_seconds && out.measured_seconds <= out.high_seconds;
  }
  return out;
}

/// Every truth of one point, those of one source together.
std::vector<ScoredPoint> scored_points(const KeptPrediction& kept, const ScalePoint& point,
                                       const TruthsOfJobs& truths) {
  const auto of_job = truths.find({kept.said.network, point.devices});
  if (of_job == truths.end()) return {};
  std::map<std::pair<TruthKind, std::string>, std::vector<double>> found;
  for (const auto* one : of_job->second) {
    const auto& truth = *one;
    if (!is_of(truth, kept.said, point)) continue;
    found[{kind_of(truth, kept.predicted_utc), truth.source}].push_back(seconds_of(truth, point, kept.said.practice));
  }
  std::vector<ScoredPoint> out;
  for (const auto& [key, measured] : found) {
    out.push_back(scored(kept, point, measured));
    out.back().truth = key.first;
    out.back().source = key.second;
  }
  return out;
}

void summarise(PredictionScore& score) {
  std::vector<double> sizes;
  std::map<RangeKind, RangeCoverage> coverage;
  for (const auto& point : score.points) {
    if (point.truth == TruthKind::known_before) continue;
    sizes.push_back(std::abs(point.error));
    if (!point.inside) continue;
    auto& one = coverage[point.range];
    one.range = point.range;
    one.points += 1;
    one.inside += *point.inside ? 1 : 0;
  }
  score.counted = static_cast<std::int64_t>(sizes.size());
  for (const auto& [kind, one] : coverage) score.coverage.push_back(one);
  if (sizes.empty()) return;
  double sum = 0;
  for (const double size : sizes) sum += size;
  score.mean_error = sum / static_cast<double>(sizes.size());
  score.worst_error = *std::max_element(sizes.begin(), sizes.end());
  score.median_error = stats::median(sizes);
}

UnmatchedPrediction unmatched(const KeptPrediction& kept) {
  UnmatchedPrediction out{kept.id, kept.said.network, kept.said.cluster, {}, {}};
  for (const auto& point : kept.said.points) {
    out.devices.push_back(point.devices);
    out.batches.push_back(point.batch);
  }
  return out;
}

double above_zero(const NamedColumns& file, std::size_t row, const char* column) {
  const double value = file.number(row, column);
  if (value > 0) return value;
  file.wrong(row, fmt::format("{} is 0; it must be above that.", column));
}

/// "ddl_2020.csv row 3", and in brackets the cells that tell it from other rows.
std::string source_of(const NamedColumns& file, std::size_t row) {
  std::string apart;
  for (const auto& column : file.frame().columns) {
    if (column != "method" && column != "interconnect" && column != "cluster") continue;
    apart += (apart.empty() ? " (" : ", ") + file.text(row, column);
  }
  return fmt::format("{} row {}{}", file.file(), row + 1, apart.empty() ? "" : apart + ")");
}

StepTruth truth_of(const NamedColumns& file, std::size_t row) {
  StepTruth truth;
  truth.source = source_of(file, row);
  truth.network = file.text(row, "network");
  truth.devices = file.count(row, "devices");
  if (file.has("batch")) truth.batch = file.count(row, "batch");
  if (file.has("batch_per_device")) truth.batch = file.count(row, "batch_per_device");
  if (file.has("cluster")) truth.cluster = file.text(row, "cluster");
  if (file.has("samples_per_second")) {
    truth.samples_per_second = above_zero(file, row, "samples_per_second");
  } else {
    truth.seconds = above_zero(file, row, "seconds");
  }
  return truth;
}

}  // namespace

PredictionScore score_predictions(const std::vector<KeptPrediction>& kept, const std::vector<StepTruth>& truths) {
  PredictionScore score;
  score.predictions = static_cast<std::int64_t>(kept.size());
  TruthsOfJobs of_jobs;
  for (const auto& truth : truths) of_jobs[{truth.network, truth.devices}].push_back(&truth);
  for (const auto& one : kept) {
    bool matched = false;
    for (const auto& point : one.said.points) {
      const auto found = scored_points(one, point, of_jobs);
      matched = matched || !found.empty();
      score.points.insert(score.points.end(), found.begin(), found.end());
    }
    if (!matched) score.unmatched.push_back(unmatched(one));
  }
  summarise(score);
  return score;
}

std::vector<StepTruth> parse_truths(std::string_view csv, const std::string& name,
                                    const std::map<std::string, std::string>& where) {
  const NamedColumns file(csv, name,
                          "Such a table has the columns network, devices, and seconds or samples_per_second; batch and "
                          "cluster may be there.");
  std::vector<StepTruth> truths;
  for (std::size_t row = 0; row < file.rows(); ++row) {
    const auto is_wanted = [&](const auto& one) { return file.text(row, one.first) == one.second; };
    if (std::all_of(where.begin(), where.end(), is_wanted)) truths.push_back(truth_of(file, row));
  }
  if (truths.empty()) fail(ErrorKind::usage, "{}: no row has all that --where asks for.", name);
  return truths;
}

}  // namespace assay::predict
