#include <gmock/gmock.h>

#include "assay/store/store_fixture.hpp"

namespace assay::store {
namespace {

using testing::HasSubstr;

/// What an agent with the worker of campaign_of() has.
Offer offer_of() {
  return {"0123456789abcdef0123456789abcdef", {"fake==1.0.0"}, {"cpu"}, 1};
}

LeaseRequest request_with(const std::string& campaign, const Offer& offer) {
  auto request = request_of(campaign);
  request.offer = offer;
  return request;
}

TEST_P(StoreSuite, ARunIsGivenOnlyToAnAgentThatHasItsWorkerAndDevice) {
  auto campaign = campaign_of(3, 1);
  campaign.trials[1].worker.release = "2.0.0";
  campaign.trials[2].placement.device = "cuda";
  const auto id = store_->plan(campaign, false).campaign;
  const auto first = store_->lease(request_with(id, offer_of()));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->runs[0].trial_id, trial_id(campaign.trials[0]));
  EXPECT_FALSE(store_->lease(request_with(id, offer_of()))) << "what is left asks for what it has not";

  auto newer = offer_of();
  newer.workers = {"other==2.0.0", "fake==2.0.0"};
  const auto second = store_->lease(request_with(id, newer));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->runs[0].trial_id, trial_id(campaign.trials[1]));
  auto gpu = offer_of();
  gpu.devices = {"cpu", "cuda"};
  EXPECT_TRUE(store_->lease(request_with(id, gpu)));
}

TEST_P(StoreSuite, AnAgentThatHasNothingIsGivenNothing) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  EXPECT_FALSE(store_->lease(request_with(id, {"0123", {}, {}, 1})));
  EXPECT_TRUE(store_->lease(request_of(id))) << "without an offer every run is taken";
}

TEST_P(StoreSuite, RanksAreGivenToWhoeverHasTheHostsForThem) {
  auto campaign = campaign_of(2, 1);
  campaign.trials[0].placement.ranks = 4;
  campaign.trials[0].placement.ranks_per_node = 2;
  campaign.trials[1].placement.ranks = 4;  // on however many hosts
  const auto id = store_->plan(campaign, false).campaign;
  const auto here = store_->lease(request_with(id, offer_of()));
  ASSERT_TRUE(here);
  EXPECT_EQ(here->runs[0].trial_id, trial_id(campaign.trials[1]));
  EXPECT_FALSE(store_->lease(request_with(id, offer_of())));
  auto spread = offer_of();
  spread.hosts = 2;
  EXPECT_TRUE(store_->lease(request_with(id, spread)));
}

TEST_P(StoreSuite, ACampaignMayAskForAPlatform) {
  auto campaign = campaign_of(1, 1);
  campaign.measure.platform = "abcd";
  const auto id = store_->plan(campaign, false).campaign;
  EXPECT_FALSE(store_->lease(request_with(id, offer_of())));
  auto there = offer_of();
  there.platform = "abcdef";
  EXPECT_TRUE(store_->lease(request_with(id, there)));
}

TEST_P(StoreSuite, APairIsGivenOnlyWhereBothNeedsAreMet) {
  for (const std::size_t odd : {0u, 1u}) {
    auto campaign = campaign_of(2, 1, true);
    campaign.name = "odd " + std::to_string(odd);
    campaign.trials[odd].worker.release = "2.0.0";
    const auto id = store_->plan(campaign, false).campaign;
    EXPECT_FALSE(store_->lease(request_with(id, offer_of())));
    auto both = offer_of();
    both.workers.emplace_back("fake==2.0.0");
    const auto lease = store_->lease(request_with(id, both));
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->runs.size(), 2u);
  }
}

TEST_P(StoreSuite, ADroppedCampaignIsGoneAndOthersStay) {
  auto campaign = campaign_of(3, 2);
  const auto id = store_->plan(campaign, false).campaign;
  auto other = campaign_of(2, 1);  // shares two trials
  other.name = "other";
  const auto kept = store_->plan(other, false).campaign;
  for (const auto& each : {id, kept}) {
    const auto lease = take(each);
    ASSERT_EQ(store_->complete(lease, {{rich_record_of(lease), false}}), Completion::accepted);
  }
  store_->drop(id);
  ASSERT_EQ(store_->campaigns().size(), 1u);
  EXPECT_EQ(store_->campaigns()[0].id, kept);
  EXPECT_EQ(store_->trials({}).size(), 2u) << "the trial that no other campaign has went with it";
  EXPECT_EQ(records({}).size(), 1u);
  EXPECT_EQ(text_of(store_->progress(kept)), "runs 2 ready 1 leased 0 done 1 failed 1 set_aside 0");
  EXPECT_THROW((void)store_->progress(id), Error);
  EXPECT_THROW(store_->drop(id), Error);
  EXPECT_EQ(store_->plan(campaign, false).new_runs, 6) << "the same command begins it anew";
}

TEST_P(StoreSuite, ACampaignThatAgentsWorkOnIsNotDropped) {
  const auto id = store_->plan(campaign_of(1, 2), false).campaign;
  const auto lease = take(id);
  try {
    store_->drop(id);
    ADD_FAILURE() << "dropped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("agents are at 1 of its runs"));
  }
  EXPECT_EQ(store_->renew(lease, 0), Renewal::held);
  store_->drop(id);  // nobody is at it any more
  EXPECT_EQ(store_->complete(lease, finished_of(lease)), Completion::stale);
  EXPECT_EQ(store_->renew(lease, 60), Renewal::lost);
  store_->release(lease);
}

TEST_P(StoreSuite, ALeaseOfADroppedCampaignIsNoneOfWhatIsPlannedLater) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  const auto lease = take(id, 100, 0);
  store_->drop(id);
  auto other = campaign_of(1, 1);
  other.name = "later";  // a file gives its run the key of the one that is gone
  const auto later = store_->plan(other, false).campaign;
  const auto held = take(later);
  EXPECT_EQ(store_->complete(lease, finished_of(lease)), Completion::stale);
  EXPECT_EQ(store_->complete(held, finished_of(held)), Completion::accepted);
}

TEST_P(StoreSuite, RunsThatAgentsAreAtAreListed) {
  const auto id = store_->plan(campaign_of(1, 4), false).campaign;
  EXPECT_TRUE(store_->held(id).empty());
  const auto second = take(id, 200, 100);
  const auto first = take(id, 100, 50);
  const auto done = take(id, 300);
  ASSERT_EQ(store_->complete(done, finished_of(done)), Completion::accepted);
  const auto held = store_->held(id);
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0].pid, 100);
  EXPECT_EQ(held[0].host, "here");
  EXPECT_EQ(held[0].trial, first.runs[0].trial_id);
  EXPECT_EQ(held[0].index, first.runs[0].index);
  EXPECT_EQ(held[0].attempt, 0);
  EXPECT_GT(held[0].lease_seconds, 0);
  EXPECT_LE(held[0].lease_seconds, 50);
  EXPECT_EQ(held[1].pid, 200);
  EXPECT_GT(held[1].lease_seconds, 50);
}

TEST_P(StoreSuite, AnArtifactCanBeRemoved) {
  store_->put_artifact("model", "h1", 1);
  store_->put_artifact("model", "h2", 2);
  store_->put_artifact("tuning", "h1", 3);
  store_->remove_artifact("model", "h1");
  store_->remove_artifact("model", "nowhere");
  ASSERT_EQ(store_->artifacts("model").size(), 1u);
  EXPECT_EQ(store_->artifacts("model")[0].inputs_hash, "h2");
  EXPECT_EQ(store_->artifacts("tuning").size(), 1u);
}

}  // namespace
}  // namespace assay::store
