#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/measure/agent/agent.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/plan/plan_fixture.hpp"
#include "assay/process/waiting.hpp"

namespace assay::measure {

constexpr std::int64_t kSecondNs = 1'000'000'000;

/// Time that passes only where somebody waits. What is to happen at a time is said beforehand.
class FakeWaiting final : public process::Waiting {
 public:
  void at(double seconds, std::function<void()> event) {
    events_.emplace(static_cast<std::int64_t>(seconds * 1e9), std::move(event));
  }
  double seconds() const { return static_cast<double>(now_ns_) / 1e9; }

  std::int64_t now_ns() override { return now_ns_; }
  int poll(std::vector<pollfd>& fds, std::int64_t patience_ns) override {
    const std::int64_t until = now_ns_ + patience_ns;
    while (true) {
      const int ready = ::poll(fds.data(), fds.size(), 0);
      if (ready != 0) return ready;
      if (events_.empty() || events_.begin()->first > until) break;
      now_ns_ = std::max(now_ns_, events_.begin()->first);
      const auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      event();
    }
    now_ns_ = until;
    return 0;
  }

 private:
  std::int64_t now_ns_ = 0;
  std::multimap<std::int64_t, std::function<void()>> events_;
};

/// Runs of one campaign in memory, with what was asked of them. `away` and `lost` are what a store may do to an agent.
class FakeQueue final : public store::RunQueue {
 public:
  enum class State { ready, leased, done };
  struct Run {
    store::LeasedRun run;
    State state = State::ready;
  };

  std::vector<Run> runs;
  Measure measure;
  std::vector<store::Finished> records;
  int released = 0;
  int renewed = 0;
  bool away = false;
  bool lost = false;
  bool offers_nothing = false;  ///< to this agent: its runs ask for something else
  std::size_t group = 1;        ///< runs of a lease

  std::string uuid() override { return std::string(32, '0'); }
  std::optional<store::Lease> lease(const store::LeaseRequest&) override {
    check_here();
    if (offers_nothing) return std::nullopt;
    store::Lease lease{"c", "0123456789abcdef0123456789abcdef", 1, measure, {}};
    for (auto& one : runs) {
      if (one.state != State::ready) continue;
      one.state = State::leased;
      ++one.run.epoch;
      lease.runs.push_back(one.run);
      if (lease.runs.size() == group) return lease;
    }
    return std::nullopt;
  }
  store::Renewal renew(const store::Lease&, double) override {
    ++renewed;
    check_here();
    return lost ? store::Renewal::lost : store::Renewal::held;
  }
  store::Completion complete(const store::Lease& lease, const std::vector<store::Finished>& finished) override {
    check_here();
    for (std::size_t i = 0; i < finished.size(); ++i) {
      auto& run = of(lease.runs[i].run);
      records.push_back(finished[i]);
      run.state = finished[i].again ? State::ready : State::done;
      if (finished[i].again) ++run.run.attempt;
    }
    return store::Completion::accepted;
  }
  void release(const store::Lease& lease) override {
    ++released;
    for (const auto& run : lease.runs) of(run.run).state = State::ready;
  }
  void put_platform(const std::string&, const json&) override { check_here(); }
  std::vector<store::CampaignRow> campaigns() override {
    return {{"c", "c", 0, "", measure, 1, group > 1, progress("c")}};
  }
  store::Progress progress(const std::string&) override {
    check_here();
    store::Progress found;
    found.runs = static_cast<std::int64_t>(runs.size());
    for (const auto& run : runs) {
      found.ready += run.state == State::ready ? 1 : 0;
      found.leased += run.state == State::leased ? 1 : 0;
      found.done += run.state == State::done ? 1 : 0;
    }
    return found;
  }

 private:
  Run& of(std::int64_t key) { return runs.at(static_cast<std::size_t>(key)); }
  void check_here() const {
    if (away) fail(ErrorKind::away, "the store is away");
  }
};

/// What an assay-rank leaves where all is well.
inline RankResult good_result(std::int64_t rank = 0) {
  RankResult result;
  result.rank = rank;
  result.samples_ns = {1'000'000, 1'000'000, 1'000'000, 1'000'000};
  result.slices = {{0, 0, 4'000'000, 4, false, std::nullopt}};
  return result;
}

inline RankResult result_with(OutcomeKind kind, const std::string& message = "as told") {
  RankResult result;
  result.outcome = {kind, message, {}, {}, {}, {}};
  return result;
}

/// Leaves results in the run directory at once, or starts a program that stands for ranks that take their time.
class FakeLauncher final : public Launcher {
 public:
  std::function<std::optional<RankResult>(const Order& order, std::size_t number)> result =
      [](const Order& order, std::size_t number) { return good_result(order.processes[number].rank); };
  std::vector<std::string> program;  ///< empty: all have ended already
  int started = 0;
  std::filesystem::path directory;  ///< of the last run

  std::vector<process::Spawned> start(const std::filesystem::path& where, const Order& order,
                                      const std::vector<int>&) override {
    ++started;
    directory = where;
    for (std::size_t number = 0; number < order.processes.size(); ++number) {
      if (const auto left = result(order, number)) write_result(where, number, *left);
    }
    std::vector<process::Spawned> running;
    if (!program.empty()) {
      process::SpawnRequest request;
      request.argv = program;
      running.push_back(process::spawn(request));
    }
    return running;
  }
};

class FakeObserver final : public AgentObserver {
 public:
  std::vector<std::string> warnings;
  std::vector<std::string> waits;
  int finished_count = 0;
  bool follows_runs = false;
  std::vector<std::int64_t> medians;
  void started(const store::Lease&) override {}
  bool follows() const override { return follows_runs; }
  void measuring(const store::Lease&, std::int64_t median_ns) override { medians.push_back(median_ns); }
  void finished(const store::Lease&, const std::vector<store::Finished>&) override { ++finished_count; }
  void waiting(const std::string& why) override { waits.push_back(why); }
  void warning(const std::string& what) override { warnings.push_back(what); }
};

/// An agent whose store, launcher and clock are a test's own.
class AgentTest : public testing::Test {
 protected:
  AgentTest() : catalog_({plan::fake_worker()}), stop_(process::make_pipe()) {
    folder_ = std::filesystem::path(testing::TempDir()) / fmt::format("agent-{}", getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    options_.campaign = "c";
    options_.host_lock_path = (folder_ / "lock").string();
    options_.run_root = folder_;
    options_.store_mark = "mark";
    queue_.measure.seconds = 1;
    queue_.measure.prepare_limit_seconds = 30;
    queue_.measure.limit_seconds = 10;
  }
  ~AgentTest() override { std::filesystem::remove_all(folder_); }

  void plan(int count, std::int64_t ranks = 1) {
    for (int i = 0; i < count; ++i) {
      FakeQueue::Run one;
      one.run.run = i;
      one.run.index = i;
      one.run.trial.workload.network = "toy";
      one.run.trial.worker = {"fake", "1.0.0"};
      one.run.trial.placement.ranks = ranks;
      one.run.trial_id = trial_id(one.run.trial);
      queue_.runs.push_back(one);
    }
  }

  AgentEnd work() {
    Agent agent(queue_, catalog_, launcher_, observer_, options_, waiting_);
    return agent.work(stop_.read_end.get());
  }

  void ask_to_stop() { ASSERT_EQ(write(stop_.write_end.get(), "x", 1), 1); }

  std::filesystem::path folder_;
  plan::Catalog catalog_;
  process::Pipe stop_;
  FakeQueue queue_;
  FakeLauncher launcher_;
  FakeObserver observer_;
  FakeWaiting waiting_;
  AgentOptions options_;
};

}  // namespace assay::measure
