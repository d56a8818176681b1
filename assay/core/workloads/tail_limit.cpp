#include "assay/core/workloads/tail_limit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/core/error.hpp"
#include "assay/core/text/units.hpp"

namespace assay {
namespace {

constexpr std::array<std::int64_t, 4> kPercents{50, 90, 95, 99};
constexpr double kMostLimitSeconds = 3600;

}  // namespace

TailLimit parse_tail_limit(const std::string& text, const std::string& what) {
  const auto less = text.find('<');
  if (less == std::string::npos) {
    fail(ErrorKind::usage, "{}: {} is not a limit on latency. Write one such as p99<50ms.", what, shown(text));
  }
  const auto quantile = text.substr(0, less);
  const auto* const percent = std::find_if(kPercents.begin(), kPercents.end(),
                                           [&](std::int64_t one) { return quantile == fmt::format("p{}", one); });
  if (percent == kPercents.end()) {
    fail(ErrorKind::usage, "{}: {} is not a quantile that can be limited. Write p50, p90, p95 or p99.", what,
         shown(quantile));
  }
  const TailLimit limit{*percent, parse_seconds(text.substr(less + 1), what)};
  check(limit, what);
  return limit;
}

void check(const TailLimit& limit, const std::string& what) {
  if (std::find(kPercents.begin(), kPercents.end(), limit.percent) == kPercents.end()) {
    fail(ErrorKind::usage, "{}: p{} is not a quantile that can be limited. Write p50, p90, p95 or p99.", what,
         limit.percent);
  }
  if (!std::isfinite(limit.seconds) || limit.seconds <= 0 || limit.seconds > kMostLimitSeconds) {
    fail(ErrorKind::usage, "{}: a limit of {:g} s is not valid. Write a time above 0, at most {:g} s, such as 50ms.",
         what, limit.seconds, kMostLimitSeconds);
  }
}

std::string title(const TailLimit& limit) {
  return fmt::format("p{}<{:g}ms", limit.percent, limit.seconds * 1e3);
}

}  // namespace assay
