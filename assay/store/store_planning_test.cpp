#include <gmock/gmock.h>

#include <set>

#include "assay/store/store_fixture.hpp"

namespace assay::store {
namespace {

TEST_P(StoreSuite, PlanningTwiceAddsNothing) {
  const auto campaign = campaign_of(3, 4);
  const auto first = store_->plan(campaign, false);
  EXPECT_EQ(first.new_runs, 12);
  EXPECT_EQ(first.runs, 12);
  EXPECT_EQ(first.round, 0);
  EXPECT_EQ(first.campaign, plan::campaign_id(campaign, 0));
  const auto second = connect()->plan(campaign, false);
  EXPECT_EQ(second.campaign, first.campaign);
  EXPECT_EQ(second.new_runs, 0);
  EXPECT_EQ(second.runs, 12);
  EXPECT_EQ(text_of(store_->progress(first.campaign)), "runs 12 ready 12 leased 0 done 0 failed 0 set_aside 0");
}

TEST_P(StoreSuite, MoreRunsExtendTheCampaignAndFewerTakeNothingAway) {
  auto campaign = campaign_of(2, 2);
  const auto id = store_->plan(campaign, false).campaign;
  campaign.runs = 5;
  const auto more = store_->plan(campaign, false);
  EXPECT_EQ(more.campaign, id);
  EXPECT_EQ(more.new_runs, 6);
  EXPECT_EQ(more.runs, 10);
  campaign.runs = 1;
  const auto fewer = store_->plan(campaign, false);
  EXPECT_EQ(fewer.new_runs, 0);
  EXPECT_EQ(fewer.runs, 10);
}

TEST_P(StoreSuite, AgainStartsTheNextRoundAndThePlainPlanThenFindsIt) {
  const auto campaign = campaign_of(2, 2);
  const auto first = store_->plan(campaign, true);
  EXPECT_EQ(first.round, 0);
  const auto next = store_->plan(campaign, true);
  EXPECT_EQ(next.round, 1);
  EXPECT_EQ(next.new_runs, 4);
  EXPECT_EQ(next.campaign, plan::campaign_id(campaign, 1));
  const auto found = store_->plan(campaign, false);
  EXPECT_EQ(found.campaign, next.campaign);
  EXPECT_EQ(found.round, 1);
  EXPECT_EQ(found.new_runs, 0);
  EXPECT_EQ(store_->trials({}).size(), 2u) << "rounds share their trials";
}

TEST_P(StoreSuite, TrialsJoinAGrowingCampaign) {
  auto campaign = campaign_of(4, 1);
  const auto all = campaign.trials;
  campaign.grows = "a search";
  campaign.trials = {all[0], all[1]};
  const auto first = store_->plan(campaign, false);
  EXPECT_EQ(first.new_runs, 2);
  campaign.trials = {all[3], all[1]};
  campaign.runs_of_trial = {1, 3};
  const auto grown = store_->plan(campaign, false);
  EXPECT_EQ(grown.campaign, first.campaign);
  EXPECT_EQ(grown.new_runs, 3) << "one of the new trial, two more of the old one";
  EXPECT_EQ(store_->plan(campaign, false).new_runs, 0);
  std::vector<std::string> joined;
  for (const auto& row : store_->trials({.campaign = first.campaign})) joined.push_back(row.id);
  EXPECT_EQ(joined, (std::vector{trial_id(all[0]), trial_id(all[1]), trial_id(all[3])}));
  campaign.grows = "another search";
  EXPECT_NE(store_->plan(campaign, false).campaign, first.campaign);
}

TEST_P(StoreSuite, CampaignsAreListedOldestFirstWithWhatWasPlanned) {
  auto campaign = campaign_of(2, 3, true);
  campaign.measure.memory_limit_bytes = 1 << 30;
  const auto id = store_->plan(campaign, false).campaign;
  auto other = campaign_of(1, 1);
  other.name = "other";
  store_->plan(other, false);

  const auto rows = store_->campaigns();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].id, id);
  EXPECT_EQ(rows[0].name, "suite");
  EXPECT_EQ(rows[0].seed, 7);
  EXPECT_TRUE(rows[0].lockstep);
  EXPECT_EQ(to_json(rows[0].measure), to_json(campaign.measure));
  EXPECT_EQ(text_of(rows[0].progress), "runs 6 ready 6 leased 0 done 0 failed 0 set_aside 0");
  EXPECT_THAT(rows[0].created_utc, testing::MatchesRegex("20..-..-..T..:..:......Z"));
  EXPECT_EQ(rows[1].name, "other");
}

TEST_P(StoreSuite, TrialsComeBackAsPlannedAndInTheOrderPlanned) {
  auto campaign = campaign_of(20, 1);
  std::reverse(campaign.trials.begin(), campaign.trials.end());
  const auto id = store_->plan(campaign, false).campaign;
  auto other = campaign_of(20, 1);
  other.name = "other order";
  const auto other_id = store_->plan(other, false).campaign;

  const auto rows = store_->trials({.campaign = id});
  ASSERT_EQ(rows.size(), 20u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].id, trial_id(campaign.trials[i]));
    EXPECT_EQ(to_json(rows[i].trial), to_json(campaign.trials[i]));
  }
  EXPECT_EQ(store_->trials({.campaign = other_id}).front().id, trial_id(other.trials.front()));
  EXPECT_EQ(store_->trials({}).size(), 20u);
}

TEST_P(StoreSuite, ATrialIsFoundByTheFirstDigitsOfItsId) {
  const auto campaign = campaign_of(30, 1);
  store_->plan(campaign, false);
  const auto id = trial_id(campaign.trials[4]);
  const auto found = store_->trials({.trial = id.substr(0, 10)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, id);
  const auto many = store_->trials({.trial = id.substr(0, 1)});
  for (const auto& row : many) EXPECT_EQ(row.id[0], id[0]);
  std::size_t expected = 0;
  for (const auto& trial : campaign.trials) expected += trial_id(trial)[0] == id[0] ? 1 : 0;
  EXPECT_EQ(many.size(), expected);
  EXPECT_TRUE(store_->trials({.trial = id + "0"}).empty());
}

TEST_P(StoreSuite, AnUnknownCampaignIsNamed) {
  try {
    store_->progress("nowhere");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("nowhere"));
  }
  EXPECT_THROW((void)store_->lease(request_of("nowhere")), Error);
}

TEST_P(StoreSuite, SqlInTextStaysText) {
  const std::string evil = std::string("x'; DROP TABLE run; --\" %s ") + std::string("\0 after", 7);
  auto campaign = campaign_of(1, 1);
  campaign.name = evil;
  campaign.trials[0].workload.network = "'); DELETE FROM trial; --";
  campaign.trials[0].settings.env["A"] = "' OR 1=1 --";
  const auto id = store_->plan(campaign, false).campaign;
  store_->put_platform(evil, {{"cpu", evil}});
  store_->put_artifact(evil, evil, evil);
  auto lease = take(id);
  auto finished = finished_of(lease);
  finished[0].record.outcome = {OutcomeKind::crashed, evil, {}, {}, {}, {}};
  finished[0].record.platform = evil;
  EXPECT_EQ(store_->complete(lease, finished), Completion::accepted);

  EXPECT_EQ(store_->campaigns().at(0).name, evil);
  EXPECT_EQ(store_->trials({}).at(0).trial.workload.network, "'); DELETE FROM trial; --");
  EXPECT_EQ(store_->platform(evil).value().at("cpu"), evil);
  EXPECT_EQ(store_->artifacts(evil).at(0).content, evil);
  EXPECT_EQ(store_->runs({}).at(0).message, evil);
  EXPECT_EQ(records({}).at(0).platform, evil);
  EXPECT_TRUE(store_->runs({.trial = "' OR '1'='1"}).empty());
  EXPECT_TRUE(store_->runs({.campaign = "' OR '1'='1"}).empty());
  EXPECT_TRUE(store_->trials({.trial = "%"}).empty());
  EXPECT_FALSE(store_->platform("' OR '1'='1"));
}

}  // namespace
}  // namespace assay::store
