#include "assay/measure/rank/query_server.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <ctime>

#include "assay/core/clock.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kLongestNapNs = 50'000'000;  // a worker that ends, and a user who stops, are seen within it

class ClockedServer final : public load::StepServer {
 public:
  explicit ClockedServer(AskedWorker worker) : worker_(std::move(worker)), epoch_ns_(monotonic_ns()) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // else the kernel wakes us 50 us late
  }

  std::int64_t now_ns() override { return monotonic_ns() - epoch_ns_; }

  void wait_until(std::int64_t ns) override {
    for (auto now = now_ns(); now < ns; now = now_ns()) {
      worker_.attend();
      const auto until = epoch_ns_ + std::min(ns, now + kLongestNapNs);
      const timespec at{until / 1'000'000'000, until % 1'000'000'000};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    }
  }

  Step step() override {
    const auto measured = worker_.step();
    return {measured.begin_ns - epoch_ns_, measured.end_ns - epoch_ns_};
  }

 private:
  AskedWorker worker_;
  std::int64_t epoch_ns_;
};

class VirtualServer final : public load::StepServer {
 public:
  explicit VirtualServer(AskedWorker worker) : worker_(std::move(worker)) {}

  std::int64_t now_ns() override { return now_ns_; }
  void wait_until(std::int64_t ns) override { now_ns_ = std::max(now_ns_, ns); }

  Step step() override {
    const auto begin = now_ns_;
    now_ns_ += worker_.step().samples_ns.at(0);
    return {begin, now_ns_};
  }

 private:
  AskedWorker worker_;
  std::int64_t now_ns_ = 0;
};

}  // namespace

std::unique_ptr<load::StepServer> clocked_server(AskedWorker worker) {
  return std::make_unique<ClockedServer>(std::move(worker));
}

std::unique_ptr<load::StepServer> virtual_server(AskedWorker worker) {
  return std::make_unique<VirtualServer>(std::move(worker));
}

}  // namespace assay::measure
