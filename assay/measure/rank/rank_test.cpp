#include "assay/measure/rank/rank.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "assay/core/workloads/learning.hpp"
#include "assay/core/workloads/scenario.hpp"
#include "assay/measure/rank/turns.hpp"

namespace assay::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kStepNs = 10'000'000;
constexpr std::size_t kMostSides = 5;

/// What the sessions of a run have done, for the test and for each other.
struct Stage {
  std::atomic<int> measuring{0};
  std::atomic<bool> together{false};  ///< two worked at once
  std::size_t sides = 2;
  std::array<std::atomic<bool>, kMostSides> stopped{};  ///< by SIGSTOP
  std::atomic<bool> partner_ran{false};                 ///< one worked while another was not stopped
};

/// Steps of 10 ms in no time.
class FakeSession final : public Session {
 public:
  FakeSession(Stage& stage, std::size_t side) : stage_(stage), side_(side) {}

  std::optional<std::int64_t> parameters;
  bool refuses_phases = false;
  bool crashes = false;
  std::int64_t held_out = kDigitsHeldOut;

  pid_t pid() const override { return 0; }
  void signal(int number) override { stage_.stopped[side_] = number == SIGSTOP; }
  Prepared prepare(const json&, double) override { return {{{"fake", "1"}}, parameters, json::object()}; }
  Measured measure(const std::string& detail, double seconds, std::int64_t max_samples, double,
                   const std::optional<std::string>&) override {
    if (crashes) worker_failed(OutcomeKind::crashed, "as told");
    if (detail == "phases" && refuses_phases) worker_failed(OutcomeKind::refused, "there are none");
    if (++stage_.measuring > 1) stage_.together = true;
    // At the first turn, a warm-up, the partner may not have come to its own wait yet.
    for (std::size_t other = 0; other < stage_.sides && now_ns_ > 0; ++other) {
      if (other != side_ && !stage_.stopped[other]) stage_.partner_ran = true;
    }
    const auto fit = static_cast<std::int64_t>(std::min(seconds * 1e9 / kStepNs, 1e9));
    Measured measured;
    measured.samples_ns.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(fit, 1, max_samples)), kStepNs);
    measured.begin_ns = now_ns_;
    now_ns_ += kStepNs * static_cast<std::int64_t>(measured.samples_ns.size());
    measured.end_ns = now_ns_;
    if (detail == "phases") measured.phases_ns["forward"] = measured.samples_ns;
    --stage_.measuring;
    return measured;
  }
  Evaluated evaluate(const Evaluation&, double) override { return {}; }
  /// 10 more held-out samples are right after each epoch.
  Scored score(double) override { return {10 * ++epochs_, held_out, {}}; }
  bool wait_end(double) override { return refuses_phases; }
  bool exit(double, Farewell) override { return !refuses_phases; }  // one that has refused is gone already
  void attend() override {}
  const std::string& stderr_tail() const override { return nothing_; }
  std::optional<std::int64_t> peak_memory_bytes() const override { return 1; }

 private:
  Stage& stage_;
  std::size_t side_;
  std::int64_t now_ns_ = 0;
  std::int64_t epochs_ = 0;
  std::string nothing_;
};

class RankTest : public testing::Test {
 protected:
  RankTest() {
    directory_ = std::filesystem::path(testing::TempDir()) / fmt::format("rank-{}", getpid());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    order_.parts.resize(1);
    order_.parts[0].trial.workload.network = "toy";
    order_.parts[0].argv = {"fake"};
    order_.parts[0].details = {"step", "phases"};
    order_.processes.resize(1);
    order_.measure.warmup_seconds = .2;
    order_.measure.seconds = 1;
    order_.measure.slice_seconds = .5;
  }
  ~RankTest() override { std::filesystem::remove_all(directory_); }

  /// Makes it a lock-step group.
  void group(std::size_t sides) {
    order_.lockstep = true;
    stage_.sides = sides;
    for (std::size_t side = 1; side < sides; ++side) {
      order_.parts.push_back(order_.parts[0]);
      order_.processes.emplace_back().part = static_cast<std::int64_t>(side);
    }
  }
  void pair() { group(2); }

  /// All sides of a group at once.
  std::vector<RankResult> run_all(const std::function<void(std::size_t, FakeSession&)>& as = [](auto, auto&) {}) {
    std::vector<RankResult> results(stage_.sides);
    std::vector<std::thread> threads;
    for (std::size_t side = 0; side < stage_.sides; ++side) {
      threads.emplace_back([&, side] { results[side] = run(side, [&](auto& session) { as(side, session); }); });
    }
    for (auto& thread : threads) thread.join();
    return results;
  }

  RankResult run(
      std::size_t number, const std::function<void(FakeSession&)>& as = [](auto&) {}) {
    Sync sync(directory_);
    const auto start = [&](const auto&, const auto&, const auto&) -> std::unique_ptr<Session> {
      auto session = std::make_unique<FakeSession>(stage_, number);
      as(*session);
      return session;
    };
    return run_rank(order_, number, {directory_, sync, stop_, start});
  }

  std::filesystem::path directory_;
  Order order_;
  Stage stage_;
  volatile std::sig_atomic_t stop_ = 0;
};

TEST_F(RankTest, warms_up_measures_in_slices_and_asks_for_phases_last) {
  const auto result = run(0);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.message;
  std::vector<std::pair<bool, std::int64_t>> slices;
  for (const auto& slice : result.slices) slices.emplace_back(slice.warmup, slice.samples);
  // .2 s of warm-up in steps of 10 ms, then 1 s in slices of .5 s.
  EXPECT_THAT(slices, ElementsAre(std::pair(true, 20), std::pair(false, 50), std::pair(false, 50)));
  EXPECT_EQ(result.samples_ns.size(), 120U);
  EXPECT_EQ(result.phase_step_ns.size(), 10U) << "a tenth of the time";
  EXPECT_EQ(result.versions.at("fake"), "1");
  EXPECT_TRUE(result.probe_after_ns.has_value());
}

/// A training in epochs of 3 steps: 1437 = 3 x 479.
void let_learn(Workload& workload, const char* until, std::int64_t epochs = 100) {
  complete_learning(workload);
  workload.batch = 479;
  workload.options["until"] = std::string(until);
  workload.options["epochs"] = epochs;
}

TEST_F(RankTest, a_training_ends_at_the_first_epoch_with_the_accuracy) {
  let_learn(order_.parts[0].trial.workload, "accuracy>=8%");  // 28.8 of 360: the third epoch has 30
  const auto result = run(0);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.message;
  const auto learned = from_json<Learned>(result.effective.at(kLearned), "learned");
  EXPECT_TRUE(learned.reached);
  EXPECT_THAT(learned.correct, ElementsAre(10, 20, 30));
  EXPECT_EQ(learned.ns, 9 * kStepNs);
  EXPECT_EQ(result.samples_ns.size(), 9U);
  for (const auto& slice : result.slices) EXPECT_FALSE(slice.warmup);
  EXPECT_TRUE(result.phase_step_ns.empty()) << "more steps would go on learning";
}

TEST_F(RankTest, a_training_that_does_not_reach_its_accuracy_ends_with_its_epochs) {
  let_learn(order_.parts[0].trial.workload, "accuracy>=97%", 4);
  const auto result = run(0);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::ok);
  const auto learned = from_json<Learned>(result.effective.at(kLearned), "learned");
  EXPECT_FALSE(learned.reached);
  EXPECT_EQ(learned.epochs, 4);
  EXPECT_EQ(result.samples_ns.size(), 12U);
}

TEST_F(RankTest, a_score_of_other_samples_is_bad_output) {
  let_learn(order_.parts[0].trial.workload, "accuracy>=97%");
  const auto result = run(0, [](auto& session) { session.held_out = 359; });
  EXPECT_EQ(result.outcome.kind, OutcomeKind::bad_output);
  EXPECT_THAT(result.outcome.message, HasSubstr("a score of 359 samples"));
}

TEST_F(RankTest, takes_no_more_samples_than_asked_for) {
  order_.measure.max_samples = 60;
  const auto result = run(0);
  EXPECT_EQ(result.samples_ns.size(), 20U + 60U);
}

TEST_F(RankTest, queries_of_a_scenario_wait_for_the_worker) {
  auto& load = order_.parts[0].trial.workload.load.emplace();
  load.server = kInProcess;
  load.api = "server";
  load.rate_per_second = 1000;  // ten times of what steps of 10 ms hold
  order_.parts[0].seed = 5;
  const auto result = run(0);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.message;
  ASSERT_EQ(result.slices.size(), 2U);  // the warm-up, and 1 s of queries
  EXPECT_EQ(result.slices[1].samples, 1000);
  ASSERT_EQ(result.samples_ns.size(), 1020U);
  EXPECT_EQ(result.samples_ns[20], kStepNs) << "the first has nobody to wait for";
  // The last has waited for 999 steps, less the second or so until it came.
  EXPECT_GT(result.samples_ns.back(), 8'000'000'000);
  ASSERT_TRUE(result.load);
  EXPECT_EQ(result.load->seed, 5);
  EXPECT_EQ(std::count(result.load->stamps->begin(), result.load->stamps->end(), '\n'), 1001);
  EXPECT_TRUE(result.phase_step_ns.empty());
  EXPECT_THAT(result.notes, Contains(HasSubstr("server: p99")));
}

TEST_F(RankTest, a_worker_that_built_another_network_has_failed) {
  order_.parts[0].graph = {{"parameters", 100}};
  const auto result = run(0, [](auto& session) { session.parameters = 99; });
  EXPECT_EQ(result.outcome.kind, OutcomeKind::bad_output);
  EXPECT_THAT(result.outcome.message, HasSubstr("built 99 parameters where toy has 100"));
  EXPECT_EQ(result.outcome.stage, "prepare");
  EXPECT_TRUE(result.samples_ns.empty());
}

TEST_F(RankTest, phases_that_nobody_asked_for_may_be_refused) {
  const auto refuses = [](auto& session) { session.refuses_phases = true; };
  const auto result = run(0, refuses);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.message;
  EXPECT_THAT(result.notes, Contains(HasSubstr("no phases: there are none")));
  order_.measure.phases = true;  // asked for
  EXPECT_EQ(run(0, refuses).outcome.kind, OutcomeKind::refused);
}

TEST_F(RankTest, told_to_stop_it_is_interrupted) {
  pair();  // it waits for its partner, and looks around meanwhile
  stop_ = 1;
  const auto result = run(0);
  EXPECT_EQ(result.outcome.kind, OutcomeKind::interrupted);
  EXPECT_THAT(result.outcome.message, HasSubstr("asked to stop"));
}

class GroupTest : public RankTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(GroupTest, sides_take_turns_and_those_that_wait_are_stopped) {
  const auto sides = static_cast<std::int64_t>(GetParam());
  group(GetParam());
  order_.measure.seconds = .2;
  order_.measure.pair_steps = 2;
  order_.measure.phases = false;
  const auto results = run_all();
  for (const auto& result : results) ASSERT_EQ(result.outcome.kind, OutcomeKind::ok) << result.outcome.message;
  EXPECT_FALSE(stage_.together);
  EXPECT_FALSE(stage_.partner_ran) << "threads that spin would take the other's CPUs";
  for (std::int64_t side = 0; side < sides; ++side) {
    const auto& slices = results[static_cast<std::size_t>(side)].slices;
    EXPECT_EQ(slices.size(), results[0].slices.size()) << "a round has a slice of each side";
    for (std::size_t round = 0; round < slices.size(); ++round) {
      const auto& slice = slices[round];
      EXPECT_EQ(slice.turn / sides, static_cast<std::int64_t>(round));
      EXPECT_EQ(side_of_turn(slice.turn, sides), side) << slice.turn;
      EXPECT_EQ(slice.warmup, slice.turn < sides);
      if (!slice.warmup) {
        EXPECT_EQ(slice.samples, 3) << "one step that settles, two that count";
      }
    }
    // .2 s are 20 steps of 10 ms: 7 rounds of 3 for the side that has the last turn then.
    EXPECT_EQ(slices.size(), 1U + 7U);
  }
}

TEST_P(GroupTest, a_side_that_fails_ends_the_others) {
  group(GetParam());
  const auto results = run_all([](std::size_t side, auto& session) { session.crashes = side == 1; });
  for (std::size_t side = 0; side < results.size(); ++side) {
    if (side == 1) {
      EXPECT_EQ(results[side].outcome.kind, OutcomeKind::crashed);
      continue;
    }
    EXPECT_EQ(results[side].outcome.kind, OutcomeKind::interrupted);
    EXPECT_THAT(results[side].outcome.message, HasSubstr("process 1 of the same run failed"));
  }
}

INSTANTIATE_TEST_SUITE_P(Sides, GroupTest, testing::Values(2, 3, 5));

}  // namespace
}  // namespace assay::measure
