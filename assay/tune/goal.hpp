#pragma once

#include <optional>
#include <string>

#include "assay/core/record.hpp"

namespace assay::tune {

enum class Metric { latency, throughput };

/// A bound on the tail: "p99<50ms".
struct TailLimit {
  int percent = 99;  ///< 50, 90 or 99
  double seconds = 0;
};

/// What is sought: the shortest step, or the most samples a second, within a bound on the tail where there is one.
struct Goal {
  Metric metric = Metric::latency;
  std::optional<TailLimit> limit;
};

/// "latency", "throughput", "throughput@p99<50ms". Throws Error{usage} that says what there is.
Goal parse_goal(const std::string& text);
std::string title(const Goal& goal);

/// What a run costs, in seconds: of a step, or of a sample through all instances together. A run beyond the limit costs
/// as much more as would take it there with a strong slope, so that the search is led back. Null where it has no
/// result.
std::optional<double> cost_of(const Goal& goal, const Summary& summary);

/// The part of that for exceeding the limit; 1 where it is kept.
double penalty_of(const Goal& goal, const Summary& summary);

/// Whether a run kept the limit.
bool within_limit(const Goal& goal, const Summary& summary);

}  // namespace assay::tune

namespace assay {

template <>
struct EnumNames<tune::Metric> {
  static constexpr std::array<const char*, 2> names{"latency", "throughput"};
};

}  // namespace assay
