#include "assay/stats/steady.hpp"

#include <algorithm>
#include <cmath>

#include "assay/stats/change_points/pelt.hpp"
#include "assay/stats/moments.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::stats {
namespace {

constexpr std::size_t kFewest = 12;       // below this the penalty outweighs any change
constexpr std::size_t kMostPoints = 500;  // more samples are taken together: the search grows with the square
constexpr std::size_t kWindow = 100;      // of the look for outliers
constexpr std::size_t kStride = 25;
constexpr std::size_t kLongestOutlier = 2;  // points in a row; more are a level of their own
constexpr double kOutlierSpreads = 3;
constexpr double kPenalty = 15;  // times ln n
constexpr double kNearby = 0.01;
constexpr double kTimerNs = 100;  // what no clock tells apart

struct Segment {
  std::size_t begin;  ///< sample
  std::size_t end;
  double mean;
  double sd;
};

/// Medians of `size` neighbours.
std::vector<double> blocks_of(const std::vector<double>& samples, std::size_t size) {
  if (size == 1) return samples;
  std::vector<double> out;
  for (std::size_t at = 0; at < samples.size(); at += size) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(at);
    out.push_back(median({begin, begin + static_cast<std::ptrdiff_t>(std::min(size, samples.size() - at))}));
  }
  return out;
}

/// Points far from the middle of those around them.
std::vector<bool> far_points(const std::vector<double>& points) {
  std::vector<bool> far(points.size(), false);
  for (std::size_t at = 0; at < points.size(); at += kStride) {
    const std::size_t end = std::min(points.size(), at + kStride / 2 + kWindow / 2);
    const std::size_t begin = end - std::min(end, kWindow);
    std::vector<double> around(points.begin() + static_cast<std::ptrdiff_t>(begin),
                               points.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(around.begin(), around.end());
    const double middle = quantile_sorted(around, 0.5);
    const double spread = quantile_sorted(around, 0.9) - quantile_sorted(around, 0.1);
    for (std::size_t i = at; i < std::min(points.size(), at + kStride); ++i) {
      far[i] = std::fabs(points[i] - middle) > kOutlierSpreads * spread;
    }
  }
  return far;
}

/// Indices of the points that are no outliers. A few far points in a row are; more of them are another level.
std::vector<std::size_t> usual_points(const std::vector<double>& points) {
  const auto far = far_points(points);
  std::vector<std::size_t> usual;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i;
    while (end < points.size() && far[end] == far[i]) ++end;
    if (!far[i] || end - i > kLongestOutlier) {
      for (std::size_t j = i; j < end; ++j) usual.push_back(j);
    }
    i = end;
  }
  return usual;
}

std::vector<Segment> segments_of(const std::vector<double>& points, const std::vector<std::size_t>& usual,
                                 std::size_t block, std::size_t samples) {
  std::vector<double> values;
  for (const auto i : usual) values.push_back(points[i]);
  const double scale = std::max(kTimerNs, 1e-4 * median(values));
  const auto starts = segment_starts(values, {kPenalty * std::log(static_cast<double>(values.size())), scale * scale});
  std::vector<Segment> out;
  for (std::size_t s = 0; s < starts.size(); ++s) {
    const std::size_t end = s + 1 < starts.size() ? starts[s + 1] : values.size();
    const std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(starts[s]),
                                   values.begin() + static_cast<std::ptrdiff_t>(end));
    const std::size_t begin_sample = s == 0 ? 0 : usual[starts[s]] * block;
    const std::size_t end_sample = end < values.size() ? usual[end] * block : samples;
    out.push_back({begin_sample, end_sample, mean(part), std::sqrt(variance(part).value_or(0))});
  }
  return out;
}

/// How the last segments of a series stand to those before.
struct Ending {
  std::size_t begin = 0;  ///< first sample from which on all segments are like the last
  bool steady = true;     ///< it lies before the last third
  bool faster_before = false;
};

std::optional<Ending> ending_of(const std::vector<double>& samples_ns) {
  if (samples_ns.size() < kFewest) return std::nullopt;
  const std::size_t block = (samples_ns.size() + kMostPoints - 1) / kMostPoints;
  const auto points = blocks_of(samples_ns, block);
  const auto usual = usual_points(points);
  if (usual.size() < kFewest) return std::nullopt;
  const auto segments = segments_of(points, usual, block, samples_ns.size());

  const Segment& last = segments.back();
  const double nearby = std::max({last.sd, kNearby * last.mean, kTimerNs});
  const auto alike = [&](const Segment& s) { return std::fabs(s.mean - last.mean) <= nearby; };
  std::size_t first = segments.size() - 1;
  while (first > 0 && alike(segments[first - 1])) --first;
  Ending ending;
  ending.begin = segments[first].begin;
  ending.steady = 3 * ending.begin <= 2 * samples_ns.size();
  ending.faster_before = std::any_of(segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(first),
                                     [&](const Segment& s) { return s.mean < last.mean && !alike(s); });
  return ending;
}

}  // namespace

std::optional<SteadyState> steady_state(const std::vector<double>& samples_ns) {
  const auto ending = ending_of(samples_ns);
  if (!ending) return std::nullopt;
  if (!ending->steady) return SteadyState{SteadyKind::no_steady_state, 0};
  if (ending->begin == 0) return SteadyState{SteadyKind::flat, 0};
  return SteadyState{ending->faster_before ? SteadyKind::slow_down : SteadyKind::warm_up, ending->begin};
}

bool still_warming(const std::vector<double>& samples_ns) {
  const auto ending = ending_of(samples_ns);
  return ending && !ending->steady && !ending->faster_before;
}

}  // namespace assay::stats
