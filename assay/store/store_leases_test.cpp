#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "assay/store/store_fixture.hpp"

namespace assay::store {
namespace {

TEST_P(StoreSuite, RunsAreTakenInRandomisedCompleteBlocks) {
  const auto campaign = campaign_of(8, 3);
  const auto id = store_->plan(campaign, false).campaign;
  std::vector<std::vector<std::string>> blocks;
  for (std::int64_t index = 0; index < 3; ++index) {
    std::vector<std::string> expected;
    for (const auto& trial : campaign.trials) expected.push_back(trial_id(trial));
    std::sort(expected.begin(), expected.end(), [&](const std::string& a, const std::string& b) {
      return plan::run_order(campaign.seed, a, index) < plan::run_order(campaign.seed, b, index);
    });
    for (const auto& trial : expected) {
      const auto lease = take(id);
      ASSERT_EQ(lease.runs.size(), 1u);
      EXPECT_EQ(lease.runs[0].index, index);
      EXPECT_EQ(lease.runs[0].trial_id, trial);
      EXPECT_EQ(trial_id(lease.runs[0].trial), trial);
      EXPECT_EQ(lease.seed, 7);
      EXPECT_EQ(lease.measure.seconds, 0.25);
    }
    blocks.push_back(expected);
  }
  EXPECT_NE(blocks[0], blocks[1]) << "every block has an order of its own";
  EXPECT_FALSE(store_->lease(request_of(id)));
  EXPECT_EQ(text_of(store_->progress(id)), "runs 24 ready 0 leased 24 done 0 failed 0 set_aside 0");
}

TEST_P(StoreSuite, AFinishedRunIsDoneAndItsRecordCounted) {
  const auto id = store_->plan(campaign_of(1, 2), false).campaign;
  const auto lease = take(id);
  EXPECT_EQ(store_->complete(lease, finished_of(lease)), Completion::accepted);
  EXPECT_EQ(text_of(store_->progress(id)), "runs 2 ready 1 leased 0 done 1 failed 0 set_aside 0");
  const auto rows = connect(Access::read)->runs({.campaign = id});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].index, 0);
  EXPECT_TRUE(rows[0].counted);
}

TEST_P(StoreSuite, AStaleOwnerWritesNothing) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  const auto zombie = take(id, 100, 0);  // runs out at once
  const auto owner = take(id, 200);
  EXPECT_EQ(owner.runs[0].run, zombie.runs[0].run);
  EXPECT_GT(owner.runs[0].epoch, zombie.runs[0].epoch);

  EXPECT_EQ(store_->renew(zombie, 60), Renewal::lost);
  store_->release(zombie);
  EXPECT_EQ(store_->complete(zombie, finished_of(zombie)), Completion::stale);
  EXPECT_TRUE(store_->runs({.counted_only = false}).empty());
  EXPECT_EQ(text_of(store_->progress(id)), "runs 1 ready 0 leased 1 done 0 failed 0 set_aside 0");

  EXPECT_EQ(store_->renew(owner, 60), Renewal::held);
  EXPECT_EQ(store_->complete(owner, finished_of(owner)), Completion::accepted);
  EXPECT_EQ(store_->complete(zombie, finished_of(zombie)), Completion::stale);
  EXPECT_EQ(store_->runs({.counted_only = false}).size(), 1u);
}

TEST_P(StoreSuite, AResultNeverCountsForTheRunThatTookItsPlace) {
  const auto id = store_->plan(campaign_of(2, 1), false).campaign;
  const auto paused = take(id, 100, 0);
  store_->drop(id);
  ASSERT_EQ(store_->plan(campaign_of(2, 1), false).campaign, id) << "the same plan is the same campaign";
  const auto first = take(id, 200);
  const auto second = take(id, 200);
  EXPECT_GT(std::min(first.runs[0].run, second.runs[0].run), paused.runs[0].run + 1) << "keys are never given twice";

  // Even if a key and an epoch were given twice, as by a store that was made again: only the claim differs.
  for (const auto& holder : {first, second}) {
    auto forged = paused;
    forged.runs[0].run = holder.runs[0].run;
    forged.runs[0].epoch = holder.runs[0].epoch;
    EXPECT_EQ(store_->complete(forged, finished_of(forged)), Completion::stale);
    EXPECT_EQ(store_->renew(forged, 60), Renewal::lost);
    store_->release(forged);
  }
  EXPECT_EQ(store_->complete(paused, finished_of(paused)), Completion::stale);
  EXPECT_TRUE(store_->runs({.counted_only = false}).empty());
  EXPECT_EQ(text_of(store_->progress(id)), "runs 2 ready 0 leased 2 done 0 failed 0 set_aside 0");
  EXPECT_EQ(store_->complete(first, finished_of(first)), Completion::accepted);
  ASSERT_EQ(store_->runs({}).size(), 1u);
  EXPECT_EQ(store_->runs({})[0].trial, first.runs[0].trial_id);
}

TEST_P(StoreSuite, ARecordOfAnotherTrialIndexOrAttemptIsStale) {
  const auto id = store_->plan(campaign_of(2, 1), false).campaign;
  const auto lease = take(id);
  const auto other = take(id);
  for (int field = 0; field < 3; ++field) {
    auto wrong = lease;
    if (field == 0) wrong.runs[0].trial_id = other.runs[0].trial_id;
    if (field == 1) wrong.runs[0].index += 1;
    if (field == 2) wrong.runs[0].attempt += 1;
    EXPECT_EQ(store_->complete(wrong, finished_of(wrong)), Completion::stale) << field;
  }
  EXPECT_TRUE(store_->runs({.counted_only = false}).empty());
  EXPECT_EQ(store_->complete(lease, finished_of(lease)), Completion::accepted);
}

TEST_P(StoreSuite, ClaimsAreDrawnForEachLeaseAndNobodyWritesWithoutOne) {
  const auto id = store_->plan(campaign_of(1, 2), false).campaign;
  auto lease = take(id);
  EXPECT_THAT(lease.claim, testing::MatchesRegex("[0-9a-f]{32}"));
  store_->release(lease);
  const auto again = take(id);
  EXPECT_NE(again.claim, lease.claim);
  for (const auto& claim : {std::string(), lease.claim, std::string(32, '0')}) {
    auto guessed = again;
    guessed.claim = claim;
    EXPECT_EQ(store_->complete(guessed, finished_of(guessed)), Completion::stale);
    EXPECT_EQ(store_->renew(guessed, 60), Renewal::lost);
    store_->release(guessed);
  }
  EXPECT_EQ(store_->progress(id).leased, 1);
}

TEST_P(StoreSuite, ALateResultCountsWhileNobodyElseTookTheRun) {
  const auto id = store_->plan(campaign_of(1, 2), false).campaign;
  const auto late = take(id, 100, 0);
  EXPECT_EQ(store_->complete(late, finished_of(late)), Completion::accepted);

  const auto overtaken = take(id, 100, 0);
  const auto other = take(id, 200);
  ASSERT_EQ(other.runs[0].run, overtaken.runs[0].run);
  store_->release(other);
  EXPECT_EQ(store_->complete(overtaken, finished_of(overtaken)), Completion::stale) << "ready, but taken in between";
  EXPECT_EQ(store_->runs({}).size(), 1u);
}

TEST_P(StoreSuite, ALateResultCountsAfterTheLeaseWasFreedForAnEarlierRun) {
  const auto id = store_->plan(campaign_of(1, 2), false).campaign;
  const auto first = take(id, 100, 0);
  ASSERT_EQ(store_->renew(first, 60), Renewal::held);
  const auto second = take(id, 100, 0);
  ASSERT_EQ(second.runs[0].index, 1);
  ASSERT_EQ(store_->renew(first, 0), Renewal::held);
  const auto third = take(id, 200);  // frees both, takes the first
  ASSERT_EQ(third.runs[0].run, first.runs[0].run);
  ASSERT_EQ(store_->progress(id).ready, 1);
  EXPECT_EQ(store_->complete(second, finished_of(second)), Completion::accepted);
  EXPECT_EQ(store_->complete(first, finished_of(first)), Completion::stale);
  EXPECT_EQ(store_->complete(third, finished_of(third)), Completion::accepted);
  EXPECT_EQ(store_->runs({}).size(), 2u);
}

TEST_P(StoreSuite, ACompletedRunIsNeverCountedTwice) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  const auto lease = take(id, 100, 0);
  EXPECT_EQ(store_->complete(lease, finished_of(lease)), Completion::accepted);
  EXPECT_EQ(store_->complete(lease, finished_of(lease)), Completion::repeated);
  EXPECT_EQ(store_->renew(lease, 60), Renewal::lost);
  store_->release(lease);
  EXPECT_FALSE(store_->lease(request_of(id)));
  EXPECT_EQ(text_of(store_->progress(id)), "runs 1 ready 0 leased 0 done 1 failed 0 set_aside 0");
}

TEST_P(StoreSuite, ARenewedLeaseIsNotTaken) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  const auto lease = take(id, 100, 0);
  EXPECT_EQ(store_->renew(lease, 60), Renewal::held);
  EXPECT_FALSE(store_->lease(request_of(id, 200)));
  EXPECT_EQ(store_->renew(lease, 0), Renewal::held);
  EXPECT_TRUE(store_->lease(request_of(id, 200)));
}

TEST_P(StoreSuite, ADeadOwnerOnThisHostLosesItsRunsAtOnce) {
  const auto id = store_->plan(campaign_of(1, 3), false).campaign;
  const auto dead = take(id, 100);
  const auto alive = take(id, 200);
  auto elsewhere = request_of(id, 300);
  elsewhere.owner.boot_id = "boot-2";
  ASSERT_TRUE(store_->lease(elsewhere));

  std::vector<std::int64_t> asked;
  auto request = request_of(id, 400);
  request.is_dead = [&](const Owner& owner) {
    EXPECT_EQ(owner.host, "here");
    EXPECT_EQ(owner.start_ticks, 5);
    asked.push_back(owner.pid);
    return owner.pid != 200;
  };
  const auto taken = store_->lease(request);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->runs[0].run, dead.runs[0].run);
  EXPECT_THAT(asked, testing::UnorderedElementsAre(100, 200)) << "nobody can tell for another host";
  EXPECT_EQ(store_->renew(alive, 60), Renewal::held);
  EXPECT_EQ(store_->renew(dead, 60), Renewal::lost);
}

TEST_P(StoreSuite, AReleasedRunIsReadyAtTheSameAttempt) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  const auto lease = take(id);
  store_->release(lease);
  EXPECT_EQ(text_of(store_->progress(id)), "runs 1 ready 1 leased 0 done 0 failed 0 set_aside 0");
  EXPECT_EQ(store_->renew(lease, 60), Renewal::lost) << "given back is given back";
  const auto next = take(id);
  EXPECT_EQ(next.runs[0].attempt, 0);
  EXPECT_GT(next.runs[0].epoch, lease.runs[0].epoch);
}

TEST_P(StoreSuite, ADisturbedRunIsMeasuredAgainAndItsEarlierAttemptsAreKeptUncounted) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  const auto first = take(id);
  EXPECT_EQ(store_->complete(first, finished_of(first, true)), Completion::accepted);
  EXPECT_EQ(text_of(store_->progress(id)), "runs 1 ready 1 leased 0 done 0 failed 0 set_aside 1");
  EXPECT_TRUE(store_->runs({.campaign = id}).empty());
  EXPECT_EQ(store_->complete(first, finished_of(first, true)), Completion::repeated) << "the same result twice";

  const auto second = take(id);
  EXPECT_EQ(second.runs[0].attempt, 1);
  auto finished = finished_of(second);
  finished[0].record.outcome.kind = OutcomeKind::timed_out;
  EXPECT_EQ(store_->complete(second, finished), Completion::accepted);
  EXPECT_EQ(text_of(store_->progress(id)), "runs 1 ready 0 leased 0 done 1 failed 1 set_aside 1");

  const auto all = store_->runs({.campaign = id, .counted_only = false});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].attempt, 0);
  EXPECT_FALSE(all[0].counted);
  EXPECT_EQ(all[1].attempt, 1);
  EXPECT_TRUE(all[1].counted);
  EXPECT_FALSE(records({.counted_only = false}).at(0).counted);
}

TEST_P(StoreSuite, PartnersAreTakenTogether) {
  const auto campaign = campaign_of(2, 3, true);
  const auto id = store_->plan(campaign, false).campaign;
  std::set<std::string> pairs;
  for (std::int64_t index = 0; index < 3; ++index) {
    const auto lease = take(id);
    ASSERT_EQ(lease.runs.size(), 2u);
    for (const auto& run : lease.runs) EXPECT_EQ(run.index, index);
    EXPECT_EQ(lease.runs[0].trial_id, trial_id(campaign.trials[0]));
    EXPECT_EQ(lease.runs[1].trial_id, trial_id(campaign.trials[1]));
    EXPECT_EQ(lease.runs[0].pair.value().side, PairSide::a);
    EXPECT_EQ(lease.runs[1].pair.value().side, PairSide::b);
    EXPECT_EQ(lease.runs[0].pair->id, lease.runs[1].pair->id);
    EXPECT_EQ(lease.runs[0].pair->id.size(), 32u);
    pairs.insert(lease.runs[0].pair->id);
  }
  EXPECT_EQ(pairs.size(), 3u);
  EXPECT_FALSE(store_->lease(request_of(id)));
}

TEST_P(StoreSuite, AGroupIsTakenGivenBackAndStoredWhole) {
  const auto campaign = campaign_of(5, 2, true);
  const auto id = store_->plan(campaign, false).campaign;
  const auto first = take(id);
  ASSERT_EQ(first.runs.size(), 5u);
  for (std::size_t side = 0; side < 5; ++side) {
    EXPECT_EQ(first.runs[side].trial_id, trial_id(campaign.trials[side])) << "in the order written";
    EXPECT_EQ(first.runs[side].pair.value().side, side == 0 ? PairSide::a : PairSide::b);
    EXPECT_EQ(first.runs[side].pair->id, first.runs[0].pair->id);
    EXPECT_EQ(first.runs[side].index, 0);
  }
  EXPECT_EQ(text_of(store_->progress(id)), "runs 10 ready 5 leased 5 done 0 failed 0 set_aside 0");
  EXPECT_EQ(store_->renew(first, 60), Renewal::held);
  store_->release(first);
  EXPECT_EQ(text_of(store_->progress(id)), "runs 10 ready 10 leased 0 done 0 failed 0 set_aside 0");

  const auto again = take(id);
  auto finished = finished_of(again);
  finished[3].again = true;
  EXPECT_EQ(store_->complete(again, finished), Completion::accepted);
  EXPECT_EQ(text_of(store_->progress(id)), "runs 10 ready 10 leased 0 done 0 failed 0 set_aside 5");
  for (int group = 0; group < 2; ++group) {
    const auto lease = take(id);
    ASSERT_EQ(lease.runs.size(), 5u);
    EXPECT_EQ(store_->complete(lease, finished_of(lease)), Completion::accepted);
  }
  EXPECT_FALSE(store_->lease(request_of(id)));
  EXPECT_EQ(text_of(store_->progress(id)), "runs 10 ready 0 leased 0 done 10 failed 0 set_aside 5");

  // More runs: more groups, of the same sides in the same order.
  store_->plan(campaign_of(5, 3, true), false);
  const auto more = take(id);
  ASSERT_EQ(more.runs.size(), 5u);
  EXPECT_EQ(more.runs[4].index, 2);
  EXPECT_EQ(more.runs[4].trial_id, trial_id(campaign.trials[4]));
}

TEST_P(StoreSuite, APairIsStoredWholeOrNotAtAll) {
  const auto id = store_->plan(campaign_of(2, 1, true), false).campaign;
  auto lease = take(id);
  auto torn = lease;
  torn.runs[1].run += 1000;  // as if the partner were another run
  EXPECT_EQ(store_->complete(torn, finished_of(torn)), Completion::stale);
  EXPECT_EQ(store_->renew(torn, 60), Renewal::lost);
  store_->release(torn);
  EXPECT_TRUE(store_->runs({.counted_only = false}).empty());
  EXPECT_EQ(text_of(store_->progress(id)), "runs 2 ready 0 leased 2 done 0 failed 0 set_aside 0");

  auto finished = finished_of(lease);
  finished[1].again = true;  // one disturbed partner is enough
  EXPECT_EQ(store_->complete(lease, finished), Completion::accepted);
  EXPECT_EQ(text_of(store_->progress(id)), "runs 2 ready 2 leased 0 done 0 failed 0 set_aside 2");

  const auto next = take(id);
  ASSERT_EQ(next.runs.size(), 2u);
  EXPECT_EQ(next.runs[0].attempt, 1);
  EXPECT_EQ(next.runs[1].attempt, 1);
  EXPECT_EQ(store_->complete(next, finished_of(next)), Completion::accepted);
  const auto rows = store_->runs({.campaign = id});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].pair.value().id, lease.runs[0].pair->id);
  EXPECT_EQ(rows[1].pair.value().side, PairSide::b);
}

TEST_P(StoreSuite, TwoAgentsTakeEveryRunExactlyOnce) {
  const auto id = store_->plan(campaign_of(20, 10), false).campaign;
  std::vector<std::vector<std::int64_t>> taken(2);
  std::vector<std::thread> agents;
  for (std::size_t agent = 0; agent < 2; ++agent) {
    agents.emplace_back([&, agent] {
      const auto store = connect();
      while (const auto lease = store->lease(request_of(id, 100 + static_cast<std::int64_t>(agent)))) {
        taken[agent].push_back(lease->runs.at(0).run);
        EXPECT_EQ(store->complete(*lease, finished_of(*lease)), Completion::accepted);
      }
    });
  }
  for (auto& agent : agents) agent.join();
  std::set<std::int64_t> distinct(taken[0].begin(), taken[0].end());
  distinct.insert(taken[1].begin(), taken[1].end());
  EXPECT_EQ(taken[0].size() + taken[1].size(), 200u);
  EXPECT_EQ(distinct.size(), 200u);
  EXPECT_EQ(store_->runs({.campaign = id}).size(), 200u);
  EXPECT_EQ(text_of(store_->progress(id)), "runs 200 ready 0 leased 0 done 200 failed 0 set_aside 0");
}

TEST_P(StoreSuite, TwoProgramsMayMakeTheSameStoreAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const ScratchFolder folder;
    const auto location = GetParam().fresh_location(folder.path());
    std::atomic<std::int64_t> added = 0;
    std::vector<std::thread> programs;
    for (int i = 0; i < 4; ++i) {
      programs.emplace_back(
          [&] { added += open_store(location, Access::create)->plan(campaign_of(2, 2), false).new_runs; });
    }
    for (auto& program : programs) program.join();
    EXPECT_EQ(added, 4);
  }
}

TEST_P(StoreSuite, ARecordOfAnotherRunIsAMistakeOfTheProgram) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto id = store_->plan(campaign_of(1, 2), false).campaign;
  const auto lease = take(id);
  auto finished = finished_of(lease);
  finished[0].record.index += 1;
  EXPECT_DEATH((void)store_->complete(lease, finished), "index");
}

}  // namespace
}  // namespace assay::store
