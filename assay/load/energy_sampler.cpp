#include "assay/load/energy_sampler.hpp"

#include <chrono>
#include <utility>

#include "assay/core/clock.hpp"

namespace assay::load {
namespace {

constexpr auto kBetweenReadings = std::chrono::seconds(10);  // RAPL wraps after a minute at the least

}  // namespace

EnergySampler::EnergySampler(std::vector<platform::EnergyCounter> counters) : windows_("rapl", std::move(counters)) {
  windows_.begin(monotonic_ns());
  thread_ = std::thread([this] { run(); });
}

EnergySampler::~EnergySampler() {
  end();
}

void EnergySampler::run() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kBetweenReadings, [this] { return end_; })) {
    const auto now = monotonic_ns();
    windows_.end(now);
    windows_.begin(now);
  }
}

void EnergySampler::end() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<Energy> EnergySampler::finish() {
  end();
  windows_.end(monotonic_ns());
  return windows_.total();
}

}  // namespace assay::load
