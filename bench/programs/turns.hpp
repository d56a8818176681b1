#pragma once

#include <algorithm>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "assay/core/clock.hpp"
#include "assay/core/text/json.hpp"

namespace bench {

/// A worker's steps beside the same call made bare, in one process and in turns, the order swapped each round.
class Turns {
 public:
  /// As on a command line: rounds; milliseconds that a side of a round lasts, or one step; whether time is that of the
  /// clock on the wall or of this thread (wall, cpu).
  Turns(const std::string& rounds, const std::string& milliseconds, const std::string& clock)
      : rounds_(std::stoi(rounds)),
        side_ns_(1e6 * std::stod(milliseconds)),
        now_(clock == "cpu" ? cpu_ns : assay::monotonic_ns) {}

  /// A line of JSON: {"shape": "…", "rounds": [[worker_ns, bare_ns], …]}, nanoseconds of the median step.
  template <typename Worker, typename Bare>
  void print(const std::string& shape, Worker worker, Bare bare) const {
    median_ns(3, worker);
    const auto steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(side_ns_ / median_ns(3, bare)));
    assay::json found = assay::json::array();
    for (int round = 0; round < rounds_; ++round) {
      double worker_ns = 0, bare_ns = 0;
      if (round % 2 == 0) {
        worker_ns = median_ns(steps, worker);
        bare_ns = median_ns(steps, bare);
      } else {
        bare_ns = median_ns(steps, bare);
        worker_ns = median_ns(steps, worker);
      }
      found.push_back({worker_ns, bare_ns});
    }
    std::cout << assay::json{{"shape", shape}, {"rounds", found}}.dump() << "\n";
  }

 private:
  static std::int64_t cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
  }

  /// The median step in nanoseconds: one that lost its CPU meanwhile does not count.
  template <typename Step>
  double median_ns(std::int64_t steps, Step& step) const {
    std::vector<std::int64_t> taken;
    for (std::int64_t i = 0; i < steps; ++i) {
      const auto begin = now_();
      step();
      taken.push_back(now_() - begin);
    }
    const auto middle = taken.begin() + steps / 2;
    std::nth_element(taken.begin(), middle, taken.end());
    return static_cast<double>(*middle);
  }

  int rounds_;
  double side_ns_;
  std::int64_t (*now_)();
};

}  // namespace bench
