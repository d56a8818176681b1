#pragma once

#include <cstdint>
#include <vector>

namespace assay::predict {

/// From `begin_ns` until before `end_ns`.
struct TimeSpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// In order, none empty, none touching another: what united() returns, and what the functions below take.
using TimeSpans = std::vector<TimeSpan>;

/// The time that at least one of them covers, in any order.
TimeSpans united(TimeSpans spans);

/// The time that both cover.
TimeSpans common(const TimeSpans& one, const TimeSpans& other);

/// The time that `one` covers and `other` does not.
TimeSpans without(const TimeSpans& one, const TimeSpans& other);

std::int64_t length_ns(const TimeSpans& spans);

}  // namespace assay::predict
