#include "assay/predict/traces/intervals.hpp"

#include <algorithm>

namespace assay::predict {

TimeSpans united(TimeSpans spans) {
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  TimeSpans out;
  for (const auto& span : spans) {
    if (span.end_ns <= span.begin_ns) continue;
    if (!out.empty() && span.begin_ns <= out.back().end_ns) {
      out.back().end_ns = std::max(out.back().end_ns, span.end_ns);
    } else {
      out.push_back(span);
    }
  }
  return out;
}

TimeSpans common(const TimeSpans& one, const TimeSpans& other) {
  TimeSpans out;
  auto a = one.begin();
  auto b = other.begin();
  while (a != one.end() && b != other.end()) {
    const TimeSpan both{std::max(a->begin_ns, b->begin_ns), std::min(a->end_ns, b->end_ns)};
    if (both.begin_ns < both.end_ns) out.push_back(both);
    (a->end_ns < b->end_ns) ? ++a : ++b;
  }
  return out;
}

TimeSpans without(const TimeSpans& one, const TimeSpans& other) {
  TimeSpans out;
  auto b = other.begin();
  for (const auto& span : one) {
    auto at = span.begin_ns;
    while (b != other.end() && b->end_ns <= at) ++b;
    for (auto covered = b; covered != other.end() && covered->begin_ns < span.end_ns; ++covered) {
      if (covered->begin_ns > at) out.push_back({at, covered->begin_ns});
      at = std::max(at, covered->end_ns);
    }
    if (at < span.end_ns) out.push_back({at, span.end_ns});
  }
  return out;
}

std::int64_t length_ns(const TimeSpans& spans) {
  std::int64_t length = 0;
  for (const auto& span : spans) length += span.end_ns - span.begin_ns;
  return length;
}

}  // namespace assay::predict
