#include "assay/predict/traces/trace_waits.hpp"

#include <algorithm>

namespace assay::predict {
namespace {

constexpr std::int64_t kClockErrorNs = 2'000;  ///< clocks of host and device agree within microseconds

}  // namespace

TraceWaits::TraceWaits(const TraceWindow& window) : window_(window) {
  for (std::size_t i = 0; i < window.works.size(); ++i) {
    by_end_.push_back(i);
    if (window.works[i].launched_ns) by_launch_.push_back(i);
  }
  const auto& works = window.works;
  std::stable_sort(by_launch_.begin(), by_launch_.end(),
                   [&](auto a, auto b) { return *works[a].launched_ns < *works[b].launched_ns; });
  std::stable_sort(by_end_.begin(), by_end_.end(),
                   [&](auto a, auto b) { return works[a].work.end_ns < works[b].work.end_ns; });
  window.trace->syncs.empty() ? find_events_by_order() : find_events_by_marks();
  find_host_waits();
}

const std::vector<std::size_t>& TraceWaits::of_work(std::size_t index) const {
  static const std::vector<std::size_t> kNone;
  const auto found = of_work_.find(index);
  return found == of_work_.end() ? kNone : found->second;
}

/// The profiler names both streams and the call that recorded the event: what was launched last before that call on
/// the one is waited for by what is launched next on the other.
void TraceWaits::find_events_by_marks() {
  std::unordered_map<std::int64_t, std::int64_t> began;
  for (const auto& call : window_.trace->calls) began.emplace(call.correlation, call.begin_ns);
  const auto first_from = [&](std::int64_t at_ns) {
    return std::partition_point(by_launch_.begin(), by_launch_.end(),
                                [&](auto one) { return *window_.works[one].launched_ns < at_ns; });
  };
  for (const auto& mark : window_.trace->syncs) {
    const auto recorded = began.find(mark.record_correlation);
    const auto waited = began.find(mark.correlation);
    if (mark.source_queue < 0 || mark.queue < 0 || recorded == began.end() || waited == began.end()) continue;
    auto source = first_from(recorded->second);
    while (source != by_launch_.begin() && window_.works[*(source - 1)].work.queue != mark.source_queue) --source;
    auto target = first_from(waited->second);
    while (target != by_launch_.end() && window_.works[*target].work.queue != mark.queue) ++target;
    if (source == by_launch_.begin() || target == by_launch_.end()) continue;
    of_work_[*target].push_back(*(source - 1));
  }
}

/// Without names: a stream is made to wait by the thread that launches on it next, for what was launched last on
/// another stream. Libraries of collectives do so before and after each of them.
void TraceWaits::find_events_by_order() {
  std::unordered_map<std::int64_t, std::int64_t> waiting;  // threads, and when the call was
  auto call = window_.trace->calls.begin();
  std::unordered_map<std::int64_t, std::size_t> newest;  // of each stream
  for (const auto index : by_launch_) {
    const auto& one = window_.works[index];
    for (; call != window_.trace->calls.end() && call->begin_ns <= *one.launched_ns; ++call) {
      if (call->kind == RuntimeCallKind::wait) waiting[call->thread] = call->begin_ns;
    }
    const auto told = waiting.find(one.thread);
    if (told != waiting.end()) {
      std::optional<std::size_t> source;
      for (const auto& [queue, other] : newest) {
        if (queue == one.work.queue || *window_.works[other].launched_ns > told->second) continue;
        if (!source || *window_.works[other].launched_ns > *window_.works[*source].launched_ns) source = other;
      }
      if (source) of_work_[index].push_back(*source);
      waiting.erase(told);
    }
    newest[one.work.queue] = index;
  }
}

/// What ended last before the call came back; none where it ended before the call.
std::optional<std::size_t> TraceWaits::last_ended(const RuntimeCall& call, std::optional<std::int64_t> queue) const {
  auto at = std::partition_point(by_end_.begin(), by_end_.end(), [&](auto one) {
    return window_.works[one].work.end_ns <= call.end_ns + kClockErrorNs;
  });
  while (at != by_end_.begin()) {
    --at;
    const auto& one = window_.works[*at];
    if (one.work.end_ns <= call.begin_ns) return std::nullopt;
    if (queue && one.work.queue != *queue) continue;
    if (one.launched_ns.value_or(one.work.begin_ns) <= call.begin_ns) return *at;
  }
  return std::nullopt;
}

void TraceWaits::find_host_waits() {
  std::unordered_map<std::int64_t, std::int64_t> queues;  // of calls that synchronise, by correlation
  for (const auto& mark : window_.trace->syncs) {
    const auto queue = mark.source_queue >= 0 ? mark.source_queue : mark.queue;
    if (queue >= 0) queues.emplace(mark.correlation, queue);
  }
  std::unordered_map<std::int64_t, std::size_t> copies;
  for (std::size_t i = 0; i < window_.works.size(); ++i) {
    const auto& work = window_.works[i].work;
    if (work.kind == GpuWorkKind::copy && work.correlation >= 0) copies.emplace(work.correlation, i);
  }
  for (const auto& call : window_.trace->calls) {
    if (call.begin_ns < window_.begin_ns || call.end_ns > window_.host_end_ns) continue;
    std::optional<std::size_t> work;
    if (call.kind == RuntimeCallKind::synchronise) {
      const auto queue = queues.find(call.correlation);
      work = last_ended(call, queue == queues.end() ? std::nullopt : std::optional(queue->second));
    } else if (call.copies) {
      // A copy of pageable memory comes back when it is done, whatever its name says.
      const auto copy = copies.find(call.correlation);
      const bool waited = copy != copies.end() && window_.works[copy->second].work.end_ns > call.begin_ns &&
                          window_.works[copy->second].work.end_ns <= call.end_ns;
      if (waited) work = copy->second;
    }
    if (work) of_host_.push_back({call.begin_ns, call.end_ns, *work});
  }
}

}  // namespace assay::predict
