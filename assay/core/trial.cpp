#include "assay/core/trial.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/hash.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/core/workloads/scenario.hpp"

namespace assay {
namespace {

constexpr std::size_t kLongestMeter = 4096;

void check_seconds(const char* name, double value, double low, double high) {
  if (!std::isfinite(value) || value < low || value > high) {
    fail(ErrorKind::usage, "measure.{}: {} is outside {} to {}.", name, value, low, high);
  }
}

void check_count(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high)
    fail(ErrorKind::usage, "measure.{}: {} is outside {} to {}.", name, value, low, high);
}

}  // namespace

void check(const Trial& trial) {
  check(trial.workload);
  check(trial.settings);
  if (trial.worker.name.empty())
    fail(ErrorKind::usage, "worker: it is empty. `assay worker list` shows what is installed.");
  if (trial.placement.ranks < 1 || trial.placement.ranks > 1'000'000) {
    fail(ErrorKind::usage, "placement.ranks: {} is outside 1 to 1000000.", trial.placement.ranks);
  }
  if (trial.placement.ranks > 1 && trial.settings.instances.value_or(1) > 1) {
    fail(ErrorKind::usage, "{} ranks and {} instances: processes either work together or side by side. Leave out one.",
         trial.placement.ranks, *trial.settings.instances);
  }
  const auto processes = std::max(trial.placement.ranks, trial.settings.instances.value_or(1));
  if (const auto scenario = scenario_of(trial.workload.load); scenario && processes > 1) {
    fail(ErrorKind::usage, "scenario: {} has one queue before one process, and {} are asked for. Leave them out.",
         name_of(scenario->kind), processes);
  }
  if (trial.workload.data == kDigits && processes > 1) {
    fail(ErrorKind::usage, "until: an accuracy is reached by one process here, and {} are asked for. Leave them out.",
         processes);
  }
}

std::string trial_id(const Trial& trial) {
  return hash_hex(canonical_json(to_json(trial)));
}

std::string conditions(const Trial& trial) {
  std::string placement;
  if (trial.placement.ranks > 1) placement += fmt::format("{} ranks", trial.placement.ranks);
  if (trial.placement.device != "cpu") placement += (placement.empty() ? "" : ", ") + trial.placement.device;
  std::string settings = title(trial.settings);
  if (placement.empty()) return settings;
  return settings == title(Settings{}) ? placement : placement + ", " + settings;
}

std::string title(const Trial& trial) {
  const auto& worker = trial.worker;  // a server of which nobody gave the release has none
  return fmt::format("{} on {}{}{}, {}", title(trial.workload), worker.name, worker.release.empty() ? "" : " ",
                     worker.release, conditions(trial));
}

void check(const Measure& m) {
  check_seconds("warmup_seconds", m.warmup_seconds, 0, 86400);
  if (m.warmup_cap_seconds) check_seconds("warmup_cap_seconds", *m.warmup_cap_seconds, m.warmup_seconds, 86400);
  check_seconds("seconds", m.seconds, 0.001, 86400);
  check_seconds("slice_seconds", m.slice_seconds, 0.001, 86400);
  check_seconds("prepare_limit_seconds", m.prepare_limit_seconds, 0.1, 86400);
  check_seconds("limit_seconds", m.limit_seconds, 0.1, 86400);
  check_count("max_samples", m.max_samples, 1, 1'000'000);
  check_count("pair_steps", m.pair_steps, 1, 10'000);
  check_count("retries", m.retries, 0, 100);
  if (m.stop) {
    if (!(m.stop->half_width > 0 && m.stop->half_width < 1)) {
      fail(ErrorKind::usage, "stop.half_width: {} is outside 0 to 1. Write a share, such as 1%.", m.stop->half_width);
    }
    if (m.stop->most_runs < 8 || m.stop->most_runs > 10'000) {
      fail(ErrorKind::usage, "stop.most_runs: {} is outside 8 to 10000: the first look is at 8.", m.stop->most_runs);
    }
    if (m.stop->seconds && !(*m.stop->seconds >= 1 && *m.stop->seconds <= 1e7)) {
      fail(ErrorKind::usage, "stop.seconds: {} is outside 1 to 10000000.", *m.stop->seconds);
    }
  }
  if (m.meter && (m.meter->empty() || m.meter->size() > kLongestMeter)) {
    fail(ErrorKind::usage, "meter: name a program, in at most {} characters.", kLongestMeter);
  }
  if (m.platform) {
    const bool digits = m.platform->find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!digits || m.platform->size() < 4 || m.platform->size() > 32) {
      fail(ErrorKind::usage,
           "platform: {} is not the id of a platform. Write its first digits, 4 or more, as `assay doctor` prints.",
           shown(*m.platform));
    }
  }
  if (m.memory_limit_bytes) check_count("memory_limit_bytes", *m.memory_limit_bytes, 1 << 20, std::int64_t{1} << 50);
}

template json to_json_value<Trial>(const Trial&);
template void from_json_value<Trial>(const json&, const std::string&, Trial&);
template json to_json_value<Measure>(const Measure&);
template void from_json_value<Measure>(const json&, const std::string&, Measure&);

}  // namespace assay
