#include "assay/load/rate_search.hpp"

#include <algorithm>
#include <cmath>

namespace assay::load {
namespace {

constexpr std::size_t kLeastRuns = 8;  // near the edge
constexpr std::size_t kMostStarvedRuns = 5;
constexpr double kWindow = 0.3;  // of the logarithm of the rate: which runs are near the edge
constexpr double kBracket = 1.2;
// Log-odds per logarithm of the rate: queues near their limit have 10 to 40. Weak, so that runs soon outweigh it.
constexpr double kSlope = 20;
constexpr double kSlopeDeviation = 15;

/// Student's quantile at 99.5 %, by the expansion of Cornish and Fisher. Beyond the 97.5 % of a single look, because a
/// search looks after every run and ends at the first narrow interval: those whose dispersion was underestimated.
double student(double freedom) {
  return 2.576 + 4.916 / freedom + 8.834 / (freedom * freedom);
}

double log_odds(double p) {
  return std::log(p / (1 - p));
}

/// The edge of one limit, by the runs near it.
struct Edge {
  double log_rate = 0;
  double half = 1;  ///< of its interval of 95 %
};

/// log-odds = a + b (x - origin), by Newton's steps on the likelihood with a prior on b.
struct Line {
  double a = 0;
  double b = kSlope;
  double aa = 0, ab = 0, bb = 0;  ///< information
};

struct Row {
  double x = 0;
  double n = 0;
  double k = 0;
  double effect = 1;
};

void newton(Line& line, const std::vector<Row>& rows, double origin) {
  for (int i = 0; i < 50; ++i) {
    double ga = 0;
    double gb = (kSlope - line.b) / (kSlopeDeviation * kSlopeDeviation);
    line.aa = 1e-9;
    line.ab = 0;
    line.bb = 1 / (kSlopeDeviation * kSlopeDeviation);
    for (const auto& row : rows) {
      const auto x = row.x - origin;
      const auto p = 1 / (1 + std::exp(-std::clamp(line.a + line.b * x, -30.0, 30.0)));
      const auto weight = row.n * p * (1 - p) / row.effect;
      const auto residual = (row.k - row.n * p) / row.effect;
      ga += residual;
      gb += residual * x;
      line.aa += weight;
      line.ab += weight * x;
      line.bb += weight * x * x;
    }
    const auto determinant = line.aa * line.bb - line.ab * line.ab;
    const auto da = (line.bb * ga - line.ab * gb) / determinant;
    const auto db = (line.aa * gb - line.ab * ga) / determinant;
    // Half steps far out, where the likelihood is flat.
    const auto scale = std::min(1.0, 3 / std::max(std::abs(da), 1e-12));
    line.a += scale * da;
    line.b = std::max(1.0, line.b + scale * db);
    if (std::abs(da) + std::abs(db) < 1e-9) break;
  }
}

/// How much more runs differ than a binomial allows.
double dispersion(const Line& line, const std::vector<Row>& rows, double origin) {
  double sum = 0;
  double inside = 0;
  for (const auto& row : rows) {
    const auto p = 1 / (1 + std::exp(-std::clamp(line.a + line.b * (row.x - origin), -30.0, 30.0)));
    sum += (row.k - row.n * p) * (row.k - row.n * p) / (row.n * p * (1 - p));
    inside += row.effect;
  }
  const auto between = rows.size() > 3 ? sum / static_cast<double>(rows.size() - 2) : 1;
  return std::max({1.0, between, inside / static_cast<double>(rows.size())});
}

Edge edge_of(const std::vector<RatePoint>& points, std::size_t limit, double quantile, double near) {
  std::vector<Row> rows;
  for (const auto& point : points) {
    const auto x = std::log(point.rate_per_second);
    if (std::abs(x - near) > kWindow) continue;
    rows.push_back({x, static_cast<double>(point.requests), static_cast<double>(point.over[limit]),
                    std::max(1.0, point.design_effects[limit])});
  }
  if (rows.empty()) return {near, 1};
  Line line;
  line.a = log_odds(1 - quantile);
  newton(line, rows, near);
  const auto wide = dispersion(line, rows, near);
  for (auto& row : rows) row.effect = wide;
  newton(line, rows, near);
  const auto shift = (log_odds(1 - quantile) - line.a) / line.b;
  const auto determinant = line.aa * line.bb - line.ab * line.ab;
  const auto variance = (line.bb - 2 * shift * line.ab + shift * shift * line.aa) / determinant / (line.b * line.b);
  // Requests beyond a limit come in clusters, each about as many as the dispersion: few of them are skewed.
  double over = 0;
  for (const auto& row : rows) over += row.k;
  const auto freedom = std::min(static_cast<double>(rows.size()) - 2, over / wide - 1);
  const auto half = student(std::max(freedom, 1.0)) * std::sqrt(std::max(0.0, variance));
  return {near + std::clamp(shift, -kWindow, kWindow), half};
}

/// Between the highest rate whose queue does not grow and the lowest whose queue does, parted where fewest runs are on
/// the wrong side. A queue that takes long to show is known by its slope: beyond what is served by a share, latency
/// grows by that share of a second each second, so that the edge may be as far below. Null where no run grows.
std::optional<Edge> growth_edge(std::vector<RatePoint> points) {
  std::sort(points.begin(), points.end(),
            [](const RatePoint& a, const RatePoint& b) { return a.rate_per_second < b.rate_per_second; });
  auto wrong = std::count_if(points.begin(), points.end(), [](const RatePoint& point) { return !point.growing; });
  auto fewest = wrong;
  std::size_t below = 0;  // points on the steady side
  for (std::size_t i = 0; i < points.size(); ++i) {
    wrong += points[i].growing ? 1 : -1;
    if (wrong >= fewest) continue;
    fewest = wrong;
    below = i + 1;
  }
  if (below == 0 || below == points.size()) return std::nullopt;
  const auto high = std::log(points[below].rate_per_second);
  const auto served = high - std::log1p(std::max(0.0, points[below].growth));
  const auto low = std::min(std::log(points[below - 1].rate_per_second), served);
  return Edge{(low + high) / 2, (high - low) / 2};
}

class Search {
 public:
  Search(const RateQuestion& question, const MeasureRate& measure) : q_(question), measure_(measure) {}

  FoundRate run() {
    if (!bracket()) return found_;
    while (high_ / low_ > kBracket) {
      if (!step(std::sqrt(low_ * high_), short_run())) return found_;
    }
    refine();
    return found_;
  }

 private:
  std::int64_t short_run() const { return std::max<std::int64_t>(q_.requests / 2, 100); }

  /// Whether the run at hand breaks a limit, as it is seen, or its queue grows.
  bool breaks(const RatePoint& point) const {
    if (point.growing) return true;
    for (std::size_t i = 0; i < q_.limits.size(); ++i) {
      const auto share = static_cast<double>(point.over[i]) / static_cast<double>(point.requests);
      if (share > 1 - q_.limits[i].quantile) return true;
    }
    return false;
  }

  std::optional<RatePoint> measure(double rate, std::int64_t requests) {
    while (true) {
      if (found_.requests + requests > q_.most_requests) return end(SearchEnd::spent);
      auto point = measure_(rate, requests, number_++);
      if (!point) return end(SearchEnd::stopped);
      found_.requests += point->requests;
      found_.points.push_back(*point);
      if (!point->starved && point->requests > 0) {
        used_.push_back(*point);
        return point;
      }
      if (++starved_ > kMostStarvedRuns) return end(SearchEnd::starved);
    }
  }

  std::optional<RatePoint> end(SearchEnd why) {
    found_.end = why;
    return std::nullopt;
  }

  /// Measures, and moves the side of the bracket that the run speaks of.
  bool step(double rate, std::int64_t requests) {
    const auto point = measure(rate, requests);
    if (!point) return false;
    (breaks(*point) ? high_ : low_) = rate;
    return true;
  }

  bool bracket() {
    for (double rate = q_.first_rate;;) {
      rate = std::clamp(rate, q_.least_rate, q_.most_rate);
      if (!step(rate, short_run())) return false;
      if (low_ > 0 && high_ > 0) return true;
      if (low_ >= q_.most_rate) return end(SearchEnd::above).has_value();
      if (high_ > 0 && high_ <= q_.least_rate) return end(SearchEnd::below).has_value();
      rate = low_ > 0 ? 2 * low_ : high_ / 2;
    }
  }

  /// The limit that is met first, or the queue's growth, and its edge.
  Edge lowest_edge(double near) {
    Edge lowest{INFINITY, 0};
    for (std::size_t i = 0; i < q_.limits.size(); ++i) {
      const auto edge = edge_of(used_, i, q_.limits[i].quantile, near);
      if (edge.log_rate >= lowest.log_rate) continue;
      lowest = edge;
      found_.limit = static_cast<std::int64_t>(i);
    }
    const auto growth = growth_edge(used_);
    found_.by_growth = growth && growth->log_rate < lowest.log_rate;
    if (found_.by_growth) lowest = *growth;
    return lowest;
  }

  void refine() {
    auto edge = lowest_edge(std::log(low_ * high_) / 2);
    found_.end = SearchEnd::spent;
    for (std::size_t runs = 0;; ++runs) {
      for (int i = 0; i < 3; ++i) edge = lowest_edge(edge.log_rate);
      const auto half = edge.half;
      found_.rate_per_second = std::exp(edge.log_rate);
      found_.low_per_second = std::exp(edge.log_rate - half);
      found_.high_per_second = std::exp(edge.log_rate + half);
      if (runs >= kLeastRuns && half <= q_.precision) {
        found_.end = SearchEnd::found;
        return;
      }
      // More below than above: beyond the edge a run tells of its own length.
      constexpr std::array kPlaces{0.0, -0.04, 0.02, -0.02};
      const auto rate = std::exp(edge.log_rate + kPlaces[runs % kPlaces.size()]);
      if (!measure(std::clamp(rate, q_.least_rate, q_.most_rate), q_.requests)) return;
    }
  }

  RateQuestion q_;
  const MeasureRate& measure_;
  FoundRate found_;
  std::vector<RatePoint> used_;
  double low_ = 0;
  double high_ = 0;
  std::int64_t number_ = 1;
  std::size_t starved_ = 0;
};

}  // namespace

std::int64_t default_run_length(const std::vector<Limit>& limits) {
  double highest = 0;
  for (const auto& limit : limits) highest = std::max(highest, limit.quantile);
  return std::llround(50 / (1 - highest));
}

FoundRate find_rate(const RateQuestion& question, const MeasureRate& measure) {
  ASSAY_CHECK(!question.limits.empty());
  return Search(question, measure).run();
}

}  // namespace assay::load
