#include "assay/measure/agent/agent_fixture.hpp"
#include "assay/measure/agent/execution.hpp"

namespace assay::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// The hypervisor took a quarter of two CPUs' time.
std::optional<RankResult> stolen_result(const Order& /*order*/, std::size_t /*number*/) {
  auto result = good_result();
  result.disturbance.window_ns = 10 * kSecondNs;
  result.disturbance.cpus = 2;
  result.disturbance.steal_ns = 5 * kSecondNs;
  return result;
}

TEST_F(AgentTest, carries_out_every_run_once_and_ends) {
  plan(3);
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  ASSERT_EQ(queue_.records.size(), 3U);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto& record = queue_.records[static_cast<std::size_t>(i)].record;
    EXPECT_EQ(record.index, i);
    EXPECT_EQ(record.trial, queue_.runs[0].run.trial_id);
    EXPECT_EQ(record.outcome.kind, OutcomeKind::ok);
    EXPECT_EQ(record.summary.median_ns, 1'000'000);
  }
  EXPECT_EQ(launcher_.started, 3);
  EXPECT_EQ(observer_.finished_count, 3);
  EXPECT_FALSE(std::filesystem::exists(launcher_.directory)) << "the run directory is left";
}

TEST_F(AgentTest, waits_for_a_store_that_is_away_and_goes_on) {
  plan(1);
  queue_.away = true;
  waiting_.at(5, [this] { queue_.away = false; });
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  EXPECT_EQ(queue_.records.size(), 1U);
  EXPECT_THAT(observer_.waits, Contains(HasSubstr("away")));
}

TEST_F(AgentTest, gives_up_a_store_that_is_away_for_longer_than_its_patience) {
  plan(1);
  queue_.away = true;
  options_.patience_seconds = 30;
  EXPECT_THROW(work(), Error);
  EXPECT_GT(waiting_.seconds(), 30);
  EXPECT_LT(waiting_.seconds(), 33);
}

TEST_F(AgentTest, gives_a_run_back_when_it_is_asked_to_stop) {
  plan(1);
  launcher_.program = {"sleep", "1000"};
  waiting_.at(2, [this] { ask_to_stop(); });
  EXPECT_EQ(work(), AgentEnd::stopped);
  EXPECT_EQ(queue_.released, 1);
  EXPECT_EQ(queue_.progress("c").ready, 1);
  EXPECT_TRUE(queue_.records.empty());
}

TEST_F(AgentTest, ends_work_on_a_run_that_another_agent_has) {
  plan(1);
  launcher_.program = {"sleep", "1000"};
  options_.lease_seconds = 60;
  waiting_.at(15, [this] { queue_.lost = true; });
  waiting_.at(100, [this] { queue_.runs[0].state = FakeQueue::State::done; });  // by that other agent
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  EXPECT_TRUE(queue_.records.empty());
  EXPECT_EQ(queue_.released, 0);
  EXPECT_EQ(queue_.renewed, 1) << "a third of the lease has passed at 20 s";
  EXPECT_THAT(observer_.warnings, Contains(HasSubstr("another agent")));
}

TEST_F(AgentTest, goes_on_with_a_run_while_the_store_is_away) {
  plan(1);
  launcher_.program = {"sleep", "1000"};
  waiting_.at(10, [this] { queue_.away = true; });
  waiting_.at(70, [this] { queue_.away = false; });
  waiting_.at(90, [this] { launcher_.program.clear(); });
  waiting_.at(91, [this] { ask_to_stop(); });
  EXPECT_EQ(work(), AgentEnd::stopped);
  EXPECT_GE(queue_.renewed, 4);
  EXPECT_THAT(observer_.warnings, Contains(HasSubstr("could not be renewed")));
  EXPECT_EQ(launcher_.started, 1) << "it was not started again";
}

TEST_F(AgentTest, measures_a_disturbed_run_again_as_often_as_it_may) {
  plan(1);
  queue_.measure.retries = 2;
  launcher_.result = stolen_result;
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  std::vector<std::pair<std::int64_t, bool>> seen;
  for (const auto& one : queue_.records) seen.emplace_back(one.record.attempt, one.again);
  EXPECT_THAT(seen, ElementsAre(std::pair(0, true), std::pair(1, true), std::pair(2, false)));
  EXPECT_FALSE(queue_.records.back().record.validity.trusted);
}

TEST_F(AgentTest, measures_no_run_again_where_the_next_does_as_well) {
  plan(2);
  queue_.measure.retries = 2;
  options_.measure_again = false;
  launcher_.result = stolen_result;
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  ASSERT_EQ(queue_.records.size(), 2U);
  for (const auto& one : queue_.records) EXPECT_FALSE(one.again || one.record.validity.trusted);
}

TEST_F(AgentTest, a_failed_run_is_a_result_and_is_not_tried_again) {
  plan(1);
  launcher_.result = [](const Order&, std::size_t) { return result_with(OutcomeKind::crashed); };
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  ASSERT_EQ(queue_.records.size(), 1U);
  EXPECT_EQ(queue_.records[0].record.outcome.kind, OutcomeKind::crashed);
  EXPECT_FALSE(queue_.records[0].again);
}

TEST_F(AgentTest, a_rank_that_leaves_nothing_is_interrupted_and_tried_five_times) {
  plan(1);
  launcher_.result = [](const Order&, std::size_t) { return std::nullopt; };
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  ASSERT_EQ(queue_.records.size(), 6U);
  EXPECT_TRUE(queue_.records[4].again);
  EXPECT_FALSE(queue_.records[5].again);
  EXPECT_THAT(queue_.records[5].record.outcome.message, HasSubstr("without leaving a result"));
}

TEST_F(AgentTest, partners_are_measured_again_together) {
  plan(2);
  queue_.group = 2;
  launcher_.result = [this](const Order&, std::size_t number) {
    return launcher_.started == 1 && number == 1 ? result_with(OutcomeKind::interrupted) : good_result();
  };
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  ASSERT_EQ(queue_.records.size(), 4U);
  EXPECT_TRUE(queue_.records[0].again && queue_.records[1].again);
  EXPECT_FALSE(queue_.records[2].again || queue_.records[3].again);
}

TEST_F(AgentTest, a_group_is_measured_again_only_where_much_was_taken_from_it) {
  plan(2);
  queue_.group = 2;
  queue_.measure.retries = 2;
  launcher_.result = [this](const Order&, std::size_t number) {
    auto result = good_result();
    result.disturbance.window_ns = 10 * kSecondNs;
    result.disturbance.cpus = 2;
    // First 6 % of 20 s of CPU time on one side alone, then 4 %, which is a reason for a single run, not for a group.
    result.disturbance.steal_ns = number == 1 ? (launcher_.started == 1 ? 1200 : 800) * kSecondNs / 1000 : 0;
    return result;
  };
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  ASSERT_EQ(queue_.records.size(), 4U);
  EXPECT_TRUE(queue_.records[0].again && queue_.records[1].again);
  EXPECT_FALSE(queue_.records[2].again || queue_.records[3].again);
}

TEST_F(AgentTest, each_side_of_a_group_has_its_ratio_to_the_first) {
  plan(3);
  queue_.group = 3;
  launcher_.result = [](const Order& order, std::size_t number) {
    auto result = good_result();
    const auto part = order.processes[number].part;
    result.slices = {{3 + part, 0, 4'000'000, 4, false, std::nullopt}};  // round 1 of three
    for (auto& sample : result.samples_ns) sample *= 1 + part;
    return result;
  };
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  EXPECT_EQ(launcher_.started, 1);
  ASSERT_EQ(queue_.records.size(), 3U);
  EXPECT_FALSE(queue_.records[0].record.pair_log_ratio) << "it is the reference";
  EXPECT_NEAR(queue_.records[1].record.pair_log_ratio.value(), std::log(2), 1e-12);
  EXPECT_NEAR(queue_.records[2].record.pair_log_ratio.value(), std::log(3), 1e-12);
}

TEST_F(AgentTest, a_group_that_does_not_fit_in_memory_is_not_started) {
  plan(3);
  queue_.group = 3;
  options_.memory_bytes = 900;
  options_.known_memory = {{queue_.runs[0].run.trial_id, 320}};  // all three are the same trial
  try {
    work();
    FAIL() << "3 x 320 bytes in 900";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 trials alive at once need 960 B, and 900 B are available"));
  }
  EXPECT_EQ(launcher_.started, 0);
  EXPECT_EQ(queue_.released, 1);
  options_.memory_bytes = 960;
  EXPECT_EQ(work(), AgentEnd::nothing_left);
}

TEST_F(AgentTest, what_a_group_took_is_known_to_the_next) {
  plan(4);
  queue_.group = 2;
  options_.memory_bytes = 1000;
  launcher_.result = [](const Order& order, std::size_t number) {
    auto result = good_result(order.processes[number].rank);
    result.peak_memory_bytes = 600;
    return result;
  };
  EXPECT_THROW(work(), Error);
  EXPECT_EQ(launcher_.started, 1) << "of the first nothing was known";
}

TEST_F(AgentTest, a_full_disk_below_the_rank_ends_the_agent_and_keeps_the_run) {
  plan(1);
  launcher_.result = [](const Order&, std::size_t) { return std::nullopt; };
  launcher_.program = {"sh", "-c", "exit 92"};                    // 64 + ENOSPC
  Agent agent(queue_, catalog_, launcher_, observer_, options_);  // the child's end is waited for
  try {
    agent.work(stop_.read_end.get());
    FAIL() << "it went on";
  } catch (const FileError& error) {
    EXPECT_EQ(error.number(), ENOSPC);
    EXPECT_EQ(error.kind(), ErrorKind::no_space);
  }
  EXPECT_EQ(queue_.released, 1);
  EXPECT_TRUE(queue_.records.empty());
}

TEST_F(AgentTest, ranks_that_left_their_results_are_not_waited_for_when_the_launcher_hangs) {
  plan(1, 2);
  launcher_.program = {"sleep", "1000"};
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  ASSERT_EQ(queue_.records.size(), 1U);
  EXPECT_EQ(queue_.records[0].record.outcome.kind, OutcomeKind::ok);
  EXPECT_LT(waiting_.seconds(), 10);
}

TEST_F(AgentTest, ranks_that_are_not_started_are_given_up) {
  plan(1, 2);
  launcher_.program = {"sleep", "1000"};
  launcher_.result = [](const Order&, std::size_t) { return std::nullopt; };
  queue_.runs[0].run.attempt = 5;  // the last one that an interruption has
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  ASSERT_EQ(queue_.records.size(), 1U);
  EXPECT_THAT(queue_.records[0].record.outcome.message, HasSubstr("were not started"));
  EXPECT_LT(waiting_.seconds(), 40) << "30 s to start, and some to end";
}

TEST_F(AgentTest, of_a_fleet_stores_that_a_run_cannot_be_started_and_ends_at_the_third_in_a_row) {
  plan(4);
  options_.of_fleet = true;
  for (auto& run : queue_.runs) run.run.trial.worker.release = "9.9";
  EXPECT_THROW(work(), Error);
  ASSERT_EQ(queue_.records.size(), 2U);
  EXPECT_EQ(queue_.records[0].record.outcome.kind, OutcomeKind::not_started);
}

TEST_F(AgentTest, of_a_fleet_ends_where_runs_are_left_that_it_cannot_carry_out) {
  plan(2);
  options_.of_fleet = true;
  queue_.offers_nothing = true;
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  EXPECT_THAT(observer_.warnings, Contains(HasSubstr("2 runs ask for")));
}

TEST_F(AgentTest, waits_for_new_runs_as_long_as_it_is_told) {
  options_.idle_seconds = 50;
  waiting_.at(20, [this] { plan(1); });
  EXPECT_EQ(work(), AgentEnd::nothing_left);
  EXPECT_EQ(queue_.records.size(), 1U);
  EXPECT_GE(waiting_.seconds(), 70);
  EXPECT_LT(waiting_.seconds(), 72);
}

TEST_F(AgentTest, a_worker_that_ends_by_the_signal_that_ends_the_agent_has_not_failed) {
  plan(1);
  launcher_.result = [](const Order&, std::size_t) {
    auto result = result_with(OutcomeKind::crashed);
    result.outcome.signal = SIGTERM;
    return result;
  };
  waiting_.at(1, [this] { ask_to_stop(); });  // within the two seconds that it looks for it
  EXPECT_EQ(work(), AgentEnd::stopped);
  EXPECT_EQ(queue_.released, 1);
  EXPECT_TRUE(queue_.records.empty());
}

TEST(Outcome, of_a_run_is_its_first_failure) {
  const auto good = good_result();
  const auto cut = result_with(OutcomeKind::interrupted, "cut");
  const auto crash = result_with(OutcomeKind::crashed, "crash");
  EXPECT_EQ(outcome_of({good, good}).kind, OutcomeKind::ok);
  EXPECT_EQ(outcome_of({cut, good}).message, "cut");
  EXPECT_EQ(outcome_of({cut, crash, good}).message, "crash");
}

TEST(Owner, of_another_namespace_or_unreadable_is_not_dead) {
  auto owner = this_owner();
  EXPECT_FALSE(owner_is_dead(owner));
  owner.start_ticks += 1;
  EXPECT_TRUE(owner_is_dead(owner)) << "the pid has been given to another process";
  owner.pid_namespace = "pid:[1]";
  EXPECT_FALSE(owner_is_dead(owner));
}

}  // namespace
}  // namespace assay::measure
