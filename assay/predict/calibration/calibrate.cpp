#include "assay/predict/calibration/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/predict/calibration/bounded_fit.hpp"

namespace assay::predict {
namespace {

// What is tried, as logarithms: a nanosecond to 10 ms for a message, 10 MB/s to 1 TB/s, a slow-down of up to 20.
const BoundedConstant kLatency{std::log(5e-5), std::log(1e-9), std::log(1e-2)};
const BoundedConstant kByte{std::log(5e-10), std::log(1e-12), std::log(1e-7)};
const BoundedConstant kSlowDown{std::log(1.2), 0, std::log(20)};
const BoundedConstant kHost{0.1, 0, 10};  // a share of the step on one device

std::int64_t nodes_of(const MeasuredStep& step) {
  if (step.devices <= step.devices_per_node) return 1;
  if (step.devices % step.devices_per_node != 0) {
    fail(ErrorKind::usage, "{} devices fill no whole nodes of {}; take a multiple.", step.devices,
         step.devices_per_node);
  }
  return step.devices / step.devices_per_node;
}

template <typename Constants>
const Constants& constants_of(const std::map<std::string, Constants>& all, const std::string& name, const char* what) {
  const auto found = all.find(name);
  if (found == all.end())
    fail(ErrorKind::usage, "nothing is calibrated for the {} {}; add rows of it.", what, shown(name));
  return found->second;
}

void check_step(const MeasuredStep& step) {
  const bool good = step.devices >= 1 && step.devices_per_node >= 1 && step.seconds > 0 && step.alone_seconds > 0 &&
                    step.backward_seconds >= 0 && step.backward_seconds <= step.alone_seconds &&
                    std::isfinite(step.seconds) && std::isfinite(step.alone_seconds);
  if (!good) {
    fail(ErrorKind::usage,
         "a row of {} on {} devices takes {} s, {} s on one device, {} s of that backward; times must be above 0 and "
         "the backward pass a part of the step.",
         shown(step.job), step.devices, step.seconds, step.alone_seconds, step.backward_seconds);
  }
}

/// Between links, from how much single messages differ over runs: the time of a ring is that of its slowest link.
double spread_of_link(const std::string& link, const std::vector<MeasuredStep>& steps) {
  std::vector<double> seen;
  for (const auto& step : steps) {
    const double communication = step.seconds - step.alone_seconds;
    if (step.link != link || nodes_of(step) < 2 || step.messages.size() != 1 || !step.spread_seconds) continue;
    if (communication > 0) seen.push_back(*step.spread_seconds / communication / LargestOf(nodes_of(step)).deviation);
  }
  if (seen.empty()) return 0;
  std::sort(seen.begin(), seen.end());
  return (seen[seen.size() / 2] + seen[(seen.size() - 1) / 2]) / 2;
}

/// Which place of the vector of constants means what.
class ConstantsInOrder {
 public:
  explicit ConstantsInOrder(const std::vector<MeasuredStep>& steps) {
    for (const auto& step : steps) {
      alone_.emplace(step.job, step.alone_seconds);
      if (nodes_of(step) > 1) spreads_.emplace(step.link, 0);
    }
    for (auto& [link, spread] : spreads_) spread = spread_of_link(link, steps);
  }

  std::vector<BoundedConstant> bounds() const {
    std::vector<BoundedConstant> all{kLatency, kByte};
    for (std::size_t i = 0; i < alone_.size(); ++i) all.insert(all.end(), {kHost, kSlowDown});
    for (std::size_t i = 0; i < spreads_.size(); ++i) all.insert(all.end(), {kLatency, kByte});
    return all;
  }

  CalibratedCluster cluster_at(const std::vector<double>& values) const {
    CalibratedCluster cluster;
    std::size_t next = 0;
    cluster.call_seconds = std::exp(values[next++]);
    cluster.inside_byte_seconds = std::exp(values[next++]);
    for (const auto& [job, seconds] : alone_) {
      auto& constants = cluster.jobs[job];
      constants.host_seconds = seconds * values[next++];
      constants.slow_down = std::exp(values[next++]);
    }
    for (const auto& [link, spread] : spreads_) {
      auto& constants = cluster.links[link];
      constants.crossing_seconds = std::exp(values[next++]);
      constants.byte_seconds = std::exp(values[next++]);
      constants.spread = spread;
    }
    return cluster;
  }

 private:
  std::map<std::string, double> alone_;    // job to its time on one device
  std::map<std::string, double> spreads_;  // by link
};

}  // namespace

LargestOf::LargestOf(std::int64_t count) {
  ASSAY_CHECK(count >= 1);
  // Moments of the density n phi(x) Phi(x)^(n-1), by the trapezoidal rule, which is exact to rounding here.
  constexpr double kStep = 1.0 / 8;
  double first = 0;
  double second = 0;
  for (double x = -10; x <= 10; x += kStep) {
    const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double density = static_cast<double>(count) * std::exp(-x * x / 2) / std::sqrt(2 * M_PI) *
                           std::pow(below, static_cast<double>(count - 1));
    first += kStep * x * density;
    second += kStep * x * x * density;
  }
  mean = first;
  deviation = std::sqrt(second - first * first);
}

namespace {

/// A message costs so much for itself, and so much for each of its bytes.
struct MessageCost {
  double call = 0;
  double byte = 0;
};

double slowest_byte(const CalibratedLink& link, std::int64_t links) {
  return link.byte_seconds * (link.spread > 0 ? 1 + link.spread * LargestOf(links).mean : 1);
}

MessageCost ring_cost(const MeasuredStep& step, const CalibratedCluster& cluster) {
  const auto nodes = nodes_of(step);
  const auto devices = static_cast<double>(step.devices);
  const double byte_times = 2 * (devices - 1) / devices;
  if (nodes == 1) return {cluster.call_seconds, byte_times * cluster.inside_byte_seconds};
  const auto& link = constants_of(cluster.links, step.link, "link");
  // A part of the message makes 2 (P - 1) hops, of which one in g crosses to another node.
  const double crossings = 2 * (devices - 1) / static_cast<double>(step.devices_per_node);
  return {cluster.call_seconds + crossings * link.crossing_seconds, byte_times * slowest_byte(link, nodes)};
}

/// A ring inside of each node; then sums go to the servers and come back.
MessageCost servers_cost(const MeasuredStep& step, const CalibratedCluster& cluster) {
  const auto nodes = nodes_of(step);
  const auto inside = static_cast<double>(std::min(step.devices, step.devices_per_node));
  MessageCost cost{cluster.call_seconds, 2 * (inside - 1) / inside * cluster.inside_byte_seconds};
  if (nodes == 1) return cost;
  const auto& link = constants_of(cluster.links, step.link, "link");
  const bool own = step.servers->place == ServerPlace::own;
  const auto links = nodes + (own ? step.servers->count.value_or(nodes) : 0);
  cost.call += 2 * link.crossing_seconds;
  cost.byte += server_traffic(*step.servers, nodes) * slowest_byte(link, links);
  return cost;
}

}  // namespace

double step_seconds(const MeasuredStep& step, const CalibratedCluster& cluster) {
  if (step.devices == 1) return step.alone_seconds;
  const auto& job = constants_of(cluster.jobs, step.job, "job");
  const auto cost = step.servers ? servers_cost(step, cluster) : ring_cost(step, cluster);
  const double both = overlapped_seconds(step.backward_seconds, job.slow_down, step.messages,
                                         [&](double bytes) { return cost.call + bytes * cost.byte; });
  return step.alone_seconds - step.backward_seconds + both + job.host_seconds + step.extra_seconds;
}

CalibratedCluster calibrate(const std::vector<MeasuredStep>& steps) {
  std::vector<MeasuredStep> shared;
  for (const auto& step : steps) {
    check_step(step);
    if (step.devices > 1) shared.push_back(step);
  }
  if (shared.empty()) fail(ErrorKind::usage, "no row has several devices; calibrating needs at least one.");
  const ConstantsInOrder order(shared);
  const auto found = bounded_least_squares(
      [&](const std::vector<double>& values) {
        const auto cluster = order.cluster_at(values);
        std::vector<double> left;
        for (const auto& step : shared) left.push_back(std::log(step_seconds(step, cluster) / step.seconds));
        return left;
      },
      order.bounds());
  return order.cluster_at(found);
}

}  // namespace assay::predict
