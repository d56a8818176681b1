#include "assay/predict/traces/breakdown.hpp"

#include <algorithm>
#include <limits>

namespace assay::predict {
namespace {

TimeSpans spans_of(const TraceWindow& window, GpuWorkKind kind) {
  TimeSpans spans;
  for (const auto& one : window.works) {
    if (one.work.kind == kind) spans.push_back({one.work.begin_ns, one.work.end_ns});
  }
  return united(std::move(spans));
}

TimeSpans joined(TimeSpans one, const TimeSpans& other) {
  one.insert(one.end(), other.begin(), other.end());
  return united(std::move(one));
}

/// Idle times in which the host had not yet launched what ran next: until that work began.
TimeSpans late_launches(const TraceWindow& window, const TimeSpans& idle) {
  TimeSpans late;
  auto next = window.works.begin();
  for (const auto& gap : idle) {
    while (next != window.works.end() && next->work.begin_ns < gap.end_ns) ++next;
    std::int64_t launched = std::numeric_limits<std::int64_t>::max();
    for (auto one = next; one != window.works.end() && one->work.begin_ns == gap.end_ns; ++one) {
      if (one->launched_ns) launched = std::min(launched, *one->launched_ns);
    }
    if (launched != std::numeric_limits<std::int64_t>::max() && launched > gap.begin_ns) late.push_back(gap);
  }
  return late;
}

}  // namespace

RankBreakdown breakdown_of(const TraceWindow& window) {
  const auto compute = spans_of(window, GpuWorkKind::compute);
  const auto communication = spans_of(window, GpuWorkKind::communication);
  const auto copies = spans_of(window, GpuWorkKind::copy);
  const auto named = joined(compute, communication);
  const auto busy = joined(named, copies);
  RankBreakdown out;
  out.rank = window.trace->rank.value_or(0);
  out.file = window.trace->name;
  out.steps = window.steps;
  out.step_seconds = window.step_seconds();
  if (busy.empty()) return out;
  const TimeSpans all{{busy.front().begin_ns, busy.back().end_ns}};
  out.device_seconds = 1e-9 * static_cast<double>(length_ns(all)) / static_cast<double>(window.steps);
  const auto idle = without(all, busy);
  const auto late = late_launches(window, idle);
  const auto input = common(idle, window.input);
  const auto share = [&](const TimeSpans& part) {
    return static_cast<double>(length_ns(part)) / static_cast<double>(length_ns(all));
  };
  out.compute = share(compute);
  out.communication = share(communication);
  out.exposed_communication = share(without(communication, compute));
  out.overlapped_communication = share(common(communication, compute));
  out.copies = share(without(copies, named));
  out.idle = share(idle);
  out.input = share(input);
  out.host_bound = share(without(late, input));
  out.waiting = std::max(0.0, out.idle - out.input - out.host_bound);
  return out;
}

}  // namespace assay::predict
