#include "assay/load/client/windows.hpp"

#include <algorithm>
#include <chrono>

#include "assay/core/clock.hpp"
#include "assay/platform/counters.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/proc.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::load {

StealSampler::StealSampler() : cpus_(platform::allowed_cpus()) {
  read();
  thread_ = std::thread([this] { run(); });
}

StealSampler::~StealSampler() {
  finish();
}

void StealSampler::finish() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
    read();
  }
}

void StealSampler::run() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return end_; })) read();
}

void StealSampler::read() {
  platform::Counters counters;
  const auto text = platform::read_small_file("/proc/stat");
  if (text) platform::read_cpu_times(*text, cpus_, counters);
  readings_.push_back({monotonic_ns(), counters.so_far.steal_ns});
}

/// Between readings it is taken to grow evenly.
std::optional<std::int64_t> StealSampler::at(std::int64_t ns) const {
  const auto after = std::lower_bound(readings_.begin(), readings_.end(), ns,
                                      [](const Reading& reading, std::int64_t t) { return reading.at_ns < t; });
  if (after == readings_.end()) return readings_.back().steal_ns;
  if (after == readings_.begin()) return after->steal_ns;
  const auto& before = *(after - 1);
  if (!before.steal_ns || !after->steal_ns) return std::nullopt;
  const auto share = static_cast<double>(ns - before.at_ns) / static_cast<double>(after->at_ns - before.at_ns);
  return *before.steal_ns + static_cast<std::int64_t>(share * static_cast<double>(*after->steal_ns - *before.steal_ns));
}

std::optional<std::int64_t> StealSampler::between(std::int64_t begin_ns, std::int64_t end_ns) const {
  const auto begin = at(begin_ns);
  const auto end = at(end_ns);
  if (!begin || !end) return std::nullopt;
  return *end - *begin;
}

WindowCollector::Window& WindowCollector::window(std::int64_t at_ns) {
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(at_ns, 0) / kWindowNs);
  if (index >= windows_.size()) windows_.resize(index + 1);
  return windows_[index];
}

void WindowCollector::add(std::int64_t at_ns, std::int64_t lateness_ns, bool due) {
  auto& one = window(at_ns);
  one.lateness_ns.push_back(static_cast<double>(lateness_ns));
  if (due) ++one.due;
}

void WindowCollector::cpu(std::int64_t at_ns, std::int64_t cpu_ns) {
  window(at_ns).cpu_ns += cpu_ns - cpu_before_ns_;
  cpu_before_ns_ = cpu_ns;
}

std::vector<ClientWindow> WindowCollector::windows(std::int64_t end_ns, std::int64_t epoch_ns,
                                                   const StealSampler& steal) const {
  std::vector<ClientWindow> all;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(i) * kWindowNs;
    const auto end = std::min(begin + kWindowNs, end_ns);
    if (end <= begin) break;
    auto lateness = windows_[i].lateness_ns;
    std::sort(lateness.begin(), lateness.end());
    ClientWindow window;
    window.begin_ns = begin;
    window.end_ns = end;
    window.due = windows_[i].due;
    if (!lateness.empty()) {
      window.lateness_p99_ns = stats::quantile_sorted(lateness, 0.99);
      window.lateness_most_ns = lateness.back();
    }
    window.steal_ns = steal.between(epoch_ns + begin, epoch_ns + end);
    window.cpu_ns = windows_[i].cpu_ns;
    all.push_back(window);
  }
  return all;
}

}  // namespace assay::load
