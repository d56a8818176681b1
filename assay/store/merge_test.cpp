#include "assay/store/merge.hpp"

#include <gmock/gmock.h>

#include "assay/store/store_fixture.hpp"

namespace assay::store {
namespace {

/// Two files with the same plan, in which each run is measured at most once.
class MergeSuite : public testing::Test {
 protected:
  std::unique_ptr<Store> planned(const std::string& place, const plan::Campaign& campaign) {
    auto store = open_store(place, Access::create);
    campaign_ = store->plan(campaign, false).campaign;
    return store;
  }

  void finish(Store& store, int leases, bool again = false) const {
    for (int i = 0; i < leases; ++i) {
      const auto lease = *store.lease(request_of(campaign_));
      auto finished = finished_of(lease);
      for (auto& one : finished) one.again = again;
      ASSERT_EQ(store.complete(lease, finished), Completion::accepted);
    }
  }

  ScratchFolder folder_;
  std::string here_ = (folder_.path() / "here.db").string();
  std::string there_ = (folder_.path() / "there.db").string();
  std::string campaign_;
};

TEST_F(MergeSuite, PairsComeWhole) {
  auto campaign = campaign_of(2, 3);
  campaign.lockstep = true;
  const auto here = planned(here_, campaign);
  finish(*planned(there_, campaign), 2);
  const auto merged = merge(there_, here_);
  EXPECT_EQ(merged.records, 4);
  EXPECT_EQ(merged.runs, 0) << "the same runs were planned here";
  EXPECT_EQ(text_of(here->progress(campaign_)), "runs 6 ready 2 leased 0 done 4 failed 0 set_aside 0");
  finish(*here, 1);  // the third pair is taken whole
  EXPECT_EQ(text_of(here->progress(campaign_)), "runs 6 ready 0 leased 0 done 6 failed 0 set_aside 0");
  EXPECT_TRUE(here->verify().findings.empty());
}

TEST_F(MergeSuite, AttemptsOfBothStoresAreKept) {
  const auto here = planned(here_, campaign_of(1, 1));
  finish(*here, 1, true);  // attempt 0 is set aside here, and the run is ready again
  const auto there = planned(there_, campaign_of(1, 1));
  finish(*there, 1, true);
  EXPECT_EQ(merge(there_, here_).records, 1);
  finish(*there, 1);  // attempt 1 counts there
  const auto merged = merge(there_, here_);
  EXPECT_EQ(merged.records, 1);
  EXPECT_EQ(merged.repeated, 1);
  EXPECT_EQ(merged.set_aside, 0) << "the run was not done here";
  const auto runs = here->runs({.counted_only = false});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(std::count_if(runs.begin(), runs.end(), [](const RunRow& run) { return run.counted; }), 1);
  EXPECT_EQ(text_of(here->progress(campaign_)), "runs 1 ready 0 leased 0 done 1 failed 0 set_aside 2");
  EXPECT_TRUE(here->verify().findings.empty());
  // And back: what came from there is known there.
  const auto back = merge(here_, there_);
  EXPECT_EQ(back.repeated, 2);
  EXPECT_EQ(back.records, 1);
  EXPECT_TRUE(there->verify().findings.empty());
}

TEST_F(MergeSuite, ARunOfAnAgentThatWorksIsLeftToIt) {
  const auto here = planned(here_, campaign_of(1, 1));
  const auto lease = *here->lease(request_of(campaign_));
  finish(*planned(there_, campaign_of(1, 1)), 1);
  EXPECT_THROW(merge(there_, here_), Error);
  EXPECT_EQ(here->complete(lease, finished_of(lease)), Completion::accepted);
  EXPECT_EQ(merge(there_, here_).set_aside, 1);
  EXPECT_TRUE(here->verify().findings.empty());
}

}  // namespace
}  // namespace assay::store
