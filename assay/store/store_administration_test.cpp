#include <gmock/gmock.h>

#include <algorithm>

#include "assay/store/backup.hpp"
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
  EXPECT_EQ(store_->plan(campaign, false).new_runs, 6) << "the same command begins it again";
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

/// "fault record index receipt" of each finding; - where that is not known.
std::vector<std::string> faults(const Verification& verification) {
  const auto text = [](const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : "-"; };
  std::vector<std::string> out;
  for (const auto& one : verification.findings) {
    out.push_back(fmt::format("{} {} {} {}", name_of(one.fault), text(one.record), text(one.index), text(one.receipt)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Makes `count` records of one writer, whose keys, receipts and indexes (from 0) grow alike.
std::string finish(Store& store, std::int64_t count) {
  const auto id = store.plan(campaign_of(1, count), false).campaign;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto lease = store.lease(request_of(id)).value();
    EXPECT_EQ(store.complete(lease, {{rich_record_of(lease), false}}), Completion::accepted);
  }
  return id;
}

TEST_P(StoreSuite, NothingIsWrongWithAStoreThatOnlyAssayHasWritten) {
  auto gone = campaign_of(1, 2);
  gone.name = "gone";
  const auto dropped = store_->plan(gone, false).campaign;
  for (int i = 0; i < 2; ++i) {
    const auto lease = take(dropped, 200);
    ASSERT_EQ(store_->complete(lease, finished_of(lease)), Completion::accepted);
  }
  finish(*store_, 2);
  const auto pairs = store_->plan(campaign_of(2, 1, true), false).campaign;
  for (const bool again : {true, false}) {
    const auto lease = take(pairs, 300);
    ASSERT_EQ(store_->complete(lease, finished_of(lease, again)), Completion::accepted);
  }
  store_->drop(dropped);
  const auto found = store_->verify();
  EXPECT_THAT(faults(found), testing::IsEmpty());
  EXPECT_EQ(found.records, 2 + 4);
  EXPECT_EQ(found.receipts, 2 + 2 + 4) << "receipts outlive the records of a dropped campaign";
  EXPECT_EQ(found.writers, 3);
  EXPECT_EQ(found.older, 0);
}

TEST_P(StoreSuite, ARecordThatWasAlteredInAnyColumnIsFound) {
  const std::string bytes = locate(location_).is_file ? "X'0000000000000000'" : "'\\x0000000000000000'";
  const std::vector<std::string> changes{"attempt = 9",
                                         "counted = 0",
                                         "outcome = 'crashed'",
                                         "message = ''",
                                         "trusted = 1",
                                         "platform = 'p2'",
                                         "duration_ns = 1",
                                         "started_utc = '2027-01-02T03:04:05Z'",
                                         "n = 9",
                                         "steady_from = 2",
                                         "median_ns = 1",
                                         "p90_ns = NULL",
                                         "p99_ns = 32",
                                         "samples_per_second = 50.50000000000001",
                                         "summary_version = 9",
                                         "peak_memory_bytes = 1",
                                         "digest = '{}'",
                                         "json = json || ' '",
                                         "samples = " + bytes};
  const auto count = static_cast<std::int64_t>(changes.size());
  finish(*store_, count + 1);  // the last stays as it is
  std::vector<std::string> expected;
  for (std::int64_t key = 1; key <= count; ++key) {
    plant(fmt::format("UPDATE record SET {} WHERE key = {}", changes[static_cast<std::size_t>(key - 1)], key));
    expected.push_back(fmt::format("altered {} {} {}", key, key - 1, key));
  }
  std::sort(expected.begin(), expected.end());
  const auto found = store_->verify();
  EXPECT_EQ(faults(found), expected);
  ASSERT_FALSE(found.findings.empty());
  const auto& first = found.findings.front();
  EXPECT_EQ(first.trial, trial_id(campaign_of(1, 1).trials[0]));
  ASSERT_TRUE(first.writer);
  EXPECT_EQ(first.writer->host, "here");
  EXPECT_EQ(first.writer->agent, "boot-1:100:5");
  EXPECT_THAT(sentence(first), HasSubstr("record 1 of trial"));
}

TEST_P(StoreSuite, ARecordThatWasRemovedIsFound) {
  finish(*store_, 4);
  plant("DELETE FROM record WHERE key = 2");
  plant("DELETE FROM record WHERE key = 3");
  plant("UPDATE receipt SET record = NULL WHERE seq = 3");  // as if its campaign had been dropped
  EXPECT_THAT(faults(store_->verify()), testing::ElementsAre("lost - 2 3", "lost 2 1 2"));
}

TEST_P(StoreSuite, ARecordThatWasRemovedWithItsReceiptIsFound) {
  finish(*store_, 4);
  plant("DELETE FROM record WHERE key = 2");
  plant("DELETE FROM receipt WHERE seq = 2");
  // Its run is done without a record, and the chain has a gap before receipt 3.
  EXPECT_THAT(faults(store_->verify()), testing::ElementsAre("broken_link 3 2 3", "lost - 1 -"));
}

TEST_P(StoreSuite, ARecordThatAssayDidNotStoreIsFound) {
  finish(*store_, 3);
  plant("DELETE FROM receipt WHERE seq = 2");
  EXPECT_THAT(faults(store_->verify()), testing::ElementsAre("broken_link 3 2 3", "slipped_in 2 1 -"));
}

TEST_P(StoreSuite, AReceiptThatWasAlteredBreaksItsChain) {
  finish(*store_, 4);
  plant("UPDATE receipt SET link = hash WHERE seq = 2");
  EXPECT_THAT(faults(store_->verify()), testing::ElementsAre("broken_link 2 1 2", "broken_link 3 2 3"));
}

TEST_P(StoreSuite, SharedContentThatWasAlteredIsFound) {
  finish(*store_, 1);
  plant("UPDATE content SET json = '\"other\"' WHERE hash = (SELECT min(hash) FROM content)");
  const auto found = store_->verify();
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].fault, Fault::wrong_content);
  EXPECT_EQ(found.findings[0].content->size(), 32u);
}

TEST_P(StoreSuite, RecordsOlderThanReceiptsAreCountedAndNotWrong) {
  finish(*store_, 2);
  plant("DELETE FROM receipt");
  plant("DELETE FROM writer");
  const auto id = store_->plan(campaign_of(1, 3), false).campaign;  // one run more
  const auto lease = take(id);
  ASSERT_EQ(store_->complete(lease, finished_of(lease)), Completion::accepted);
  const auto found = store_->verify();
  EXPECT_THAT(faults(found), testing::IsEmpty());
  EXPECT_EQ(found.records, 3);
  EXPECT_EQ(found.older, 2);
}

TEST_P(StoreSuite, ARowThatCannotBeReadIsSkippedAndNamedOnce) {
  finish(*store_, 5);
  store_->put_platform("p1", json::object());
  store_->put_artifact("model", "h1", 1);
  store_->put_artifact("model", "h2", 2);
  if (!locate(location_).is_file) plant("ALTER TABLE record DROP CONSTRAINT what_is_known");
  plant("UPDATE record SET outcome = 'odd' WHERE key = 1");
  plant("UPDATE record SET digest = '{' WHERE key = 2");
  plant("UPDATE record SET json = '[]' WHERE key = 3");
  plant("UPDATE record SET samples = substr(samples, 2) WHERE key = 4");
  plant("UPDATE platform SET json = 'x'");
  plant("UPDATE artifact SET json = 'x' WHERE inputs_hash = 'h1'");

  std::vector<std::string> skipped;
  const auto store = open_store(location_, Access::read, [&](const std::string& one) { skipped.push_back(one); });
  const auto indexes_of = [](const auto& rows) {
    std::vector<std::int64_t> out;
    for (const auto& row : rows) out.push_back(row.index);
    return out;
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(indexes_of(store->runs({})), testing::ElementsAre(2, 3, 4)) << "columns of records 3 to 5 are well";
    std::vector<Record> whole;
    store->records({}, [&](const Record& record) { whole.push_back(record); });
    EXPECT_THAT(indexes_of(whole), testing::ElementsAre(4));
    EXPECT_FALSE(store->platform("p1"));
    const auto models = store->artifacts("model");
    ASSERT_EQ(models.size(), 1u);
    EXPECT_EQ(models[0].inputs_hash, "h2");
  }
  const auto trial = trial_id(campaign_of(1, 1).trials[0]).substr(0, 8);
  const auto of = [&](int key) {
    return testing::StartsWith(
        fmt::format("skipped record {} of trial {}, index {}, attempt 0: ", key, trial, key - 1));
  };
  EXPECT_THAT(skipped,
              testing::UnorderedElementsAre(of(1), of(2), of(3), of(4), testing::StartsWith("skipped platform p1: "),
                                            testing::StartsWith("skipped model h1: ")));
}

TEST_P(StoreSuite, AStoreSaysWhatItHolds) {
  const auto empty = store_->info();
  EXPECT_EQ(empty.records, 0);
  EXPECT_FALSE(empty.first_utc);
  finish(*store_, 2);
  auto other = campaign_of(2, 3);
  other.name = "other";
  const auto id = store_->plan(other, false).campaign;
  const auto held = take(id, 200);
  const auto done = take(id, 200);
  auto record = record_of(done);
  record.started_utc = "2026-02-02T03:04:05.678Z";
  ASSERT_EQ(store_->complete(done, {{record, false}}), Completion::accepted);
  const auto info = store_->info();
  EXPECT_EQ(info.kind, locate(location_).is_file ? "sqlite" : "postgresql");
  EXPECT_EQ(info.location, locate(location_).shown);
  EXPECT_EQ(info.uuid, store_->uuid());
  EXPECT_EQ(info.campaigns, 2);
  EXPECT_EQ(info.trials, 2) << "both share one";
  EXPECT_EQ(info.runs.ready, 4);
  EXPECT_EQ(info.runs.leased, 1);
  EXPECT_EQ(info.runs.done, 3);
  EXPECT_EQ(info.runs.failed, 2) << "rich records are of failed runs";
  EXPECT_EQ(info.records, 3);
  EXPECT_EQ(info.writers, 2);
  EXPECT_EQ(info.first_utc, "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(info.last_utc, "2026-02-02T03:04:05.678Z");
  EXPECT_GT(info.size_bytes, 3 * 4096);
}

TEST_P(StoreSuite, OnlyAStoreInAFileIsCopiedByAssay) {
  const auto copy = folder_.path() / "copy.db";
  if (locate(location_).is_file) {
    EXPECT_EQ(back_up(location_, copy).uuid, store_->uuid());
    return;
  }
  for (const auto& call :
       std::vector<std::function<void()>>{[&] { back_up(location_, copy); }, [&] { restore(copy, location_, true); }}) {
    try {
      call();
      ADD_FAILURE() << "copied";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), HasSubstr("PostgreSQL's own pg_"));
    }
  }
}

}  // namespace
}  // namespace assay::store
