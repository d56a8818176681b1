#include <gmock/gmock.h>

#include "assay/store/store_fixture.hpp"

namespace assay::store {
namespace {

TEST_P(StoreSuite, ARecordNamesItsWriter) {
  const auto id = store_->plan(campaign_of(1, 2), false).campaign;
  for (const std::int64_t pid : {100, 200}) {
    const auto lease = take(id, pid);
    ASSERT_EQ(store_->complete(lease, finished_of(lease)), Completion::accepted);
  }
  const auto stored = records({});
  ASSERT_EQ(stored.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(stored[i].writer);
    EXPECT_EQ(stored[i].writer->host, "here");
    EXPECT_EQ(stored[i].writer->agent, fmt::format("boot-1:{}:5", 100 * (i + 1)));
    EXPECT_FALSE(stored[i].writer->role.empty());
  }
}

TEST_P(StoreSuite, EveryOutcomeCanBeStored) {
  const auto& names = EnumNames<OutcomeKind>::names;
  const auto id = store_->plan(campaign_of(1, static_cast<std::int64_t>(names.size())), false).campaign;
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    const auto lease = take(id);
    auto finished = finished_of(lease);
    finished[0].record.outcome.kind = static_cast<OutcomeKind>(kind);
    EXPECT_EQ(store_->complete(lease, finished), Completion::accepted) << names[kind];
  }
}

TEST_P(StoreSuite, AStoreHasAnIdOfItsOwnThatStays) {
  EXPECT_THAT(store_->uuid(), testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(connect()->uuid(), store_->uuid());
}

TEST_P(StoreSuite, ARecordReadsBackAsItWasStored) {
  const auto id = store_->plan(campaign_of(1, 3), false).campaign;
  std::vector<Record> stored;
  for (int i = 0; i < 3; ++i) {
    const auto lease = take(id);
    stored.push_back(i == 2 ? record_of(lease) : rich_record_of(lease));
    if (i == 2) {
      stored[2].ranks.clear();  // the worker could not be started
      stored[2].summary = {};
      stored[2].outcome = {OutcomeKind::not_started, "no such program", "start", {}, {}, {}};
    }
    ASSERT_EQ(store_->complete(lease, {{stored.back(), false}}), Completion::accepted);
  }
  const auto read = records({.campaign = id});
  ASSERT_EQ(read.size(), 3u);
  for (std::size_t i = 0; i < read.size(); ++i) {
    stored[i].writer = read[i].writer;  // which the store has added
    EXPECT_EQ(text_of(read[i]), text_of(stored[i]));
  }
}

TEST_P(StoreSuite, BothRecordsOfAPairCarryIt) {
  const auto id = store_->plan(campaign_of(2, 1, true), false).campaign;
  const auto lease = take(id);
  std::vector<Finished> finished{{rich_record_of(lease, 0), false}, {record_of(lease, 1), false}};
  finished[1].record.pair.reset();  // the store knows better
  ASSERT_EQ(store_->complete(lease, finished), Completion::accepted);
  const auto read = records({});
  ASSERT_EQ(read.size(), 2u);
  finished[0].record.writer = read[0].writer;
  EXPECT_EQ(text_of(read[0]), text_of(finished[0].record));
  EXPECT_EQ(read[1].pair.value().id, lease.runs[1].pair->id);
  EXPECT_EQ(read[1].pair.value().side, PairSide::b);
}

TEST_P(StoreSuite, RunsShowTheFiguresOfARecord) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  const auto lease = take(id);
  auto record = rich_record_of(lease);
  record.summary.p99_ns.reset();
  ASSERT_EQ(store_->complete(lease, {{record, false}}), Completion::accepted);
  const auto rows = store_->runs({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].campaign, id);
  EXPECT_EQ(rows[0].trial, lease.runs[0].trial_id);
  EXPECT_EQ(rows[0].outcome, OutcomeKind::failed);
  EXPECT_EQ(rows[0].message, "no \xc3\xa9lan");
  EXPECT_FALSE(rows[0].trusted);
  EXPECT_EQ(rows[0].platform, "p1");
  EXPECT_EQ(rows[0].started_utc, "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(rows[0].duration_ns, 1'000'000'000);
  EXPECT_EQ(to_json(rows[0].summary), to_json(record.summary));
  EXPECT_FALSE(rows[0].pair);
}

TEST_P(StoreSuite, RunsAreOrderedByTrialAsPlannedThenIndexThenAttempt) {
  auto campaign = campaign_of(5, 3);
  std::reverse(campaign.trials.begin(), campaign.trials.end());
  const auto id = store_->plan(campaign, false).campaign;
  bool again = true;
  while (const auto lease = store_->lease(request_of(id))) {
    ASSERT_EQ(store_->complete(*lease, finished_of(*lease, std::exchange(again, false))), Completion::accepted);
  }
  std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t>> order;
  const auto place = [&](const std::string& trial) {
    for (std::size_t i = 0; i < campaign.trials.size(); ++i) {
      if (trial_id(campaign.trials[i]) == trial) return i;
    }
    return campaign.trials.size();
  };
  for (const auto& filter : {Filter{.campaign = id, .trial = "", .counted_only = false}, Filter{"", "", false}}) {
    order.clear();
    for (const auto& row : store_->runs(filter)) order.emplace_back(place(row.trial), row.index, row.attempt);
    EXPECT_EQ(order.size(), 16u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t>> of_records;
    for (const auto& record : records(filter))
      of_records.emplace_back(place(record.trial), record.index, record.attempt);
    EXPECT_EQ(of_records, order);
  }
}

TEST_P(StoreSuite, FiltersChooseByNetwork) {
  auto campaign = campaign_of(3, 1);
  campaign.trials[1].workload.network = "gemm";
  const auto id = store_->plan(campaign, false).campaign;
  while (const auto lease = store_->lease(request_of(id))) {
    ASSERT_EQ(store_->complete(*lease, finished_of(*lease)), Completion::accepted);
  }
  const auto gemm = trial_id(campaign.trials[1]);
  ASSERT_EQ(store_->trials({.network = "gemm"}).size(), 1u);
  EXPECT_EQ(store_->trials({.network = "gemm"})[0].id, gemm);
  ASSERT_EQ(store_->runs({.network = "gemm"}).size(), 1u);
  EXPECT_EQ(store_->runs({.network = "gemm"})[0].trial, gemm);
  EXPECT_EQ(store_->runs({.campaign = id, .trial = gemm.substr(0, 6), .network = "gemm"}).size(), 1u);
  EXPECT_TRUE(store_->runs({.network = "gem"}).empty());
}

TEST_P(StoreSuite, FiltersChooseByCampaignAndTrial) {
  auto campaign = campaign_of(4, 2);
  auto other = campaign;
  other.name = "other";
  const auto id = store_->plan(campaign, false).campaign;
  const auto other_id = store_->plan(other, false).campaign;
  for (const auto& each : {id, other_id}) {
    while (const auto lease = store_->lease(request_of(each))) {
      ASSERT_EQ(store_->complete(*lease, finished_of(*lease)), Completion::accepted);
    }
  }
  const auto trial = trial_id(campaign.trials[2]);
  EXPECT_EQ(store_->runs({}).size(), 16u);
  EXPECT_EQ(store_->runs({.campaign = id}).size(), 8u);
  EXPECT_EQ(store_->runs({.trial = trial}).size(), 4u);
  const auto both = store_->runs({.campaign = other_id, .trial = trial.substr(0, 12)});
  ASSERT_EQ(both.size(), 2u);
  for (const auto& row : both) {
    EXPECT_EQ(row.campaign, other_id);
    EXPECT_EQ(row.trial, trial);
  }
}

TEST_P(StoreSuite, AVisitorMayUseTheStore) {
  const auto id = store_->plan(campaign_of(1, 3), false).campaign;
  for (int i = 0; i < 2; ++i) {
    const auto lease = take(id);
    ASSERT_EQ(store_->complete(lease, finished_of(lease)), Completion::accepted);
  }
  int visited = 0;
  const auto other = connect();
  store_->records({}, [&](const Record& record) {
    ++visited;
    other->put_artifact("model", record.trial + std::to_string(record.index), {});
    store_->put_artifact("model", record.trial, {{"index", record.index}});
  });
  EXPECT_EQ(visited, 2);
  EXPECT_EQ(store_->artifacts("model").size(), 3u);
}

TEST_P(StoreSuite, WordsThatAreNoUtf8DoNotLoseAFinishedRun) {
  const auto id = store_->plan(campaign_of(1, 1), false).campaign;
  const auto lease = take(id);
  auto record = record_of(lease);
  record.outcome = {OutcomeKind::crashed, "broken \xff word", "exit", {}, 11, "tail \xc3"};
  ASSERT_EQ(store_->complete(lease, {{record, false}}), Completion::accepted);
  const auto read = records({}).at(0);
  EXPECT_EQ(read.outcome.message, "broken \xef\xbf\xbd word");
  EXPECT_EQ(read.outcome.stderr_tail, "tail \xef\xbf\xbd");
  EXPECT_EQ(read.outcome.signal, 11);
}

TEST_P(StoreSuite, APlatformIsKeptByItsId) {
  EXPECT_FALSE(store_->platform("p1"));
  store_->put_platform("p1", {{"cpus", 2}, {"gpu", nullptr}});
  store_->put_platform("p2", {{"cpus", 4}});
  EXPECT_EQ(store_->platform("p1"), json({{"cpus", 2}, {"gpu", nullptr}}));
  store_->put_platform("p1", {{"cpus", 8}});
  EXPECT_EQ(connect(Access::read)->platform("p1"), json({{"cpus", 8}}));
  EXPECT_EQ(store_->platform("p2"), json({{"cpus", 4}}));
}

TEST_P(StoreSuite, TheNewestArtifactOfTheSameInputsIsKept) {
  EXPECT_TRUE(store_->artifacts("model").empty());
  store_->put_artifact("model", "h1", {{"error", 0.5}});
  store_->put_artifact("model", "h2", {{"error", 0.25}});
  store_->put_artifact("prediction", "h1", "other kind");
  store_->put_artifact("model", "h1", {{"error", 0.125}});
  const auto models = store_->artifacts("model");
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].inputs_hash, "h2");
  EXPECT_EQ(models[1].inputs_hash, "h1");
  EXPECT_EQ(models[1].content, json({{"error", 0.125}}));
  EXPECT_EQ(models[1].kind, "model");
  EXPECT_THAT(models[1].created_utc, testing::EndsWith("Z"));
  EXPECT_EQ(store_->artifacts("prediction").size(), 1u);
}

}  // namespace
}  // namespace assay::store
