#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "assay/load/client/client.hpp"

namespace assay::load {

/// Reads the steal time of the CPUs allowed once a second, in a thread of its own: on large machines one reading takes
/// milliseconds.
class StealSampler {
 public:
  StealSampler();
  ~StealSampler();
  StealSampler(const StealSampler&) = delete;
  StealSampler& operator=(const StealSampler&) = delete;

  /// Between two times of CLOCK_MONOTONIC, by the readings next to them; null where it cannot be read. Call once the
  /// sampler has seen the later one.
  std::optional<std::int64_t> between(std::int64_t begin_ns, std::int64_t end_ns) const;

  /// Reads a last time and ends the thread.
  void finish();

 private:
  struct Reading {
    std::int64_t at_ns;
    std::optional<std::int64_t> steal_ns;
  };
  void run();
  void read();
  std::optional<std::int64_t> at(std::int64_t ns) const;

  std::vector<std::int64_t> cpus_;
  std::vector<Reading> readings_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

/// Collects how late a client was, window by window of one second.
class WindowCollector {
 public:
  static constexpr std::int64_t kWindowNs = 1'000'000'000;

  /// A moment at which the client meant to act, and how late it was; `due` where a request was to be sent.
  void add(std::int64_t at_ns, std::int64_t lateness_ns, bool due);
  /// CPU time of the client so far, at a time of the run.
  void cpu(std::int64_t at_ns, std::int64_t cpu_ns);

  /// The windows up to `end_ns`; `epoch_ns` is the time of the clock at which the run began.
  std::vector<ClientWindow> windows(std::int64_t end_ns, std::int64_t epoch_ns, const StealSampler& steal) const;

 private:
  struct Window {
    std::vector<double> lateness_ns;
    std::int64_t due = 0;
    std::int64_t cpu_ns = 0;
  };
  Window& window(std::int64_t at_ns);

  std::vector<Window> windows_;
  std::int64_t cpu_before_ns_ = 0;
};

}  // namespace assay::load
