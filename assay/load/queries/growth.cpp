#include <algorithm>
#include <cmath>

#include "assay/load/queries/point.hpp"

namespace assay::load {
namespace {

constexpr std::size_t kBatches = 16;
constexpr std::size_t kLeastOfBatch = 4;
constexpr double kStudent = 3.787;  // one-sided 99.9 %, 14 degrees of freedom
constexpr double kMostAutocorrelation = 0.9;
constexpr double kLeastGrowth = 0.01;

/// Latencies over deadlines, in seconds.
struct Track {
  std::vector<double> at;
  std::vector<double> latency;
};

Track track_of(const std::vector<const Request*>& requests) {
  Track track;
  for (const auto* request : requests) {
    const auto time = time_ns(*request, Metric::latency);
    if (!time) continue;
    track.at.push_back(static_cast<double>(request->due_ns - requests.front()->due_ns) * 1e-9);
    track.latency.push_back(*time * 1e-9);
  }
  return track;
}

double mean_of(const std::vector<double>& values, std::size_t begin, std::size_t count) {
  double sum = 0;
  for (std::size_t i = begin; i < begin + count; ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

Track means_of_batches(const Track& track) {
  Track means;
  const auto length = track.at.size() / kBatches;
  for (std::size_t b = 0; b < kBatches; ++b) {
    means.at.push_back(mean_of(track.at, b * length, length));
    means.latency.push_back(mean_of(track.latency, b * length, length));
  }
  return means;
}

/// A line by least squares.
struct FittedLine {
  double slope = 0;
  double spread = 0;  ///< sum of squares of times about their mean
  std::vector<double> residuals;
};

std::optional<FittedLine> fitted(const Track& track) {
  const auto n = track.at.size();
  if (n < 2) return std::nullopt;
  FittedLine line;
  const auto at = mean_of(track.at, 0, n);
  const auto latency = mean_of(track.latency, 0, n);
  double xy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    line.spread += (track.at[i] - at) * (track.at[i] - at);
    xy += (track.at[i] - at) * (track.latency[i] - latency);
  }
  if (line.spread <= 0) return std::nullopt;
  line.slope = xy / line.spread;
  for (std::size_t i = 0; i < n; ++i)
    line.residuals.push_back(track.latency[i] - latency - line.slope * (track.at[i] - at));
  return line;
}

/// Of the slope; wider where neighbouring batches are alike, as they are in a long queue.
double standard_error(const FittedLine& line) {
  double squares = 0;
  double neighbours = 0;
  for (std::size_t i = 0; i < line.residuals.size(); ++i) {
    squares += line.residuals[i] * line.residuals[i];
    if (i > 0) neighbours += line.residuals[i] * line.residuals[i - 1];
  }
  if (squares <= 0) return 0;
  const auto alike = std::clamp(neighbours / squares, 0.0, kMostAutocorrelation);
  const auto freedom = static_cast<double>(line.residuals.size() - 2);
  return std::sqrt(squares / freedom / line.spread * (1 + alike) / (1 - alike));
}

}  // namespace

Growth growth_of(const std::vector<const Request*>& requests) {
  Growth growth;
  const auto track = track_of(requests);
  if (const auto line = fitted(track)) growth.slope = line->slope;
  if (track.at.size() < kBatches * kLeastOfBatch) return growth;
  const auto line = fitted(means_of_batches(track));
  if (line) growth.low = line->slope - kStudent * standard_error(*line);
  return growth;
}

bool is_growing(const Growth& growth) {
  return growth.low && *growth.low > kLeastGrowth;
}

}  // namespace assay::load
