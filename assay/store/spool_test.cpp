#include "assay/store/spool.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "assay/store/records/receipt.hpp"
#include "assay/store/store_fixture.hpp"

namespace assay::store {
namespace {

/// A queue whose server can be away: before a result reaches it, or before its answer comes back.
class MovableQueue : public RunQueue {
 public:
  explicit MovableQueue(const std::string& location) : store_(open_store(location, Access::write)) {}

  std::string uuid() override { return store_->uuid(); }
  std::optional<Lease> lease(const LeaseRequest& request) override { return store_->lease(request); }
  Renewal renew(const Lease& lease, double seconds) override { return store_->renew(lease, seconds); }
  Completion complete(const Lease& lease, const std::vector<Finished>& finished) override {
    if (fails_with) fail(*fails_with, "gone");
    ++completed;
    const auto answer = store_->complete(lease, finished);
    if (loses_answers) fail(ErrorKind::away, "gone after it");
    return answer;
  }
  void release(const Lease& lease) override {
    if (fails_with) fail(*fails_with, "gone");
    store_->release(lease);
  }
  void put_platform(const std::string& id, const json& platform) override { store_->put_platform(id, platform); }
  std::vector<CampaignRow> campaigns() override { return store_->campaigns(); }
  Progress progress(const std::string& campaign) override { return store_->progress(campaign); }

  std::optional<ErrorKind> fails_with;
  bool loses_answers = false;
  int completed = 0;

 private:
  std::unique_ptr<Store> store_;
};

class SpoolSuite : public testing::Test {
 protected:
  void SetUp() override {
    truth_ = open_store(location_, Access::create);
    campaign_ = truth_->plan(campaign_of(2, 3), false).campaign;
  }

  /// An agent's queue, with the spool that agents of this host share.
  std::unique_ptr<SpooledQueue> agent() {
    servers_.push_back(std::make_unique<MovableQueue>(location_));
    server_ = servers_.back().get();
    return std::make_unique<SpooledQueue>(*server_, spool_);
  }

  std::string progress() { return text_of(truth_->progress(campaign_)); }

  ScratchFolder folder_;
  std::string location_ = (folder_.path() / "assay.db").string();
  std::unique_ptr<Store> truth_;
  std::string campaign_;
  std::filesystem::path spool_ = folder_.path() / "spool";
  std::vector<std::unique_ptr<MovableQueue>> servers_;
  MovableQueue* server_ = nullptr;  ///< of the newest agent
};

TEST_F(SpoolSuite, HoldsAResultBeforeTheStoreIsAskedAndNotAfterItsAnswer) {
  const auto queue = agent();
  const auto lease = *queue->lease(request_of(campaign_));
  server_->loses_answers = true;  // the store has it, and nobody knows
  EXPECT_EQ(queue->complete(lease, finished_of(lease)), Completion::kept);
  EXPECT_EQ(queue->waiting(), 1);
  EXPECT_THAT(queue->note(), testing::HasSubstr(spool_.string()));
  server_->loses_answers = false;
  const auto next = *queue->lease(request_of(campaign_));
  EXPECT_EQ(queue->complete(next, finished_of(next)), Completion::accepted);
  EXPECT_EQ(queue->waiting(), 0);
  EXPECT_EQ(queue->note(), "");
  EXPECT_EQ(progress(), "runs 6 ready 4 leased 0 done 2 failed 0 set_aside 0");
}

TEST_F(SpoolSuite, KeepsWhatIsFinishedWhateverTheStoreSays) {
  for (const auto kind : {ErrorKind::away, ErrorKind::no_space, ErrorKind::not_durable}) {
    const auto queue = agent();
    const auto lease = *queue->lease(request_of(campaign_));
    server_->fails_with = kind;
    EXPECT_EQ(queue->complete(lease, finished_of(lease)), Completion::kept);
    EXPECT_EQ(queue->waiting(), 1);
    server_->fails_with.reset();
    EXPECT_EQ(queue->deliver(), 1);
  }
  for (const auto kind : {ErrorKind::forbidden, ErrorKind::failure, ErrorKind::bad_input}) {
    const auto queue = agent();
    const auto lease = *queue->lease(request_of(campaign_));
    server_->fails_with = kind;
    EXPECT_THROW((void)queue->complete(lease, finished_of(lease)), Error);
    EXPECT_EQ(queue->waiting(), 1) << "it stays for whoever may deliver it";
    EXPECT_EQ(agent()->deliver(), 1);
  }
  EXPECT_EQ(truth_->runs({}).size(), 6u);
}

TEST_F(SpoolSuite, AResultForAnotherStoreAtTheSamePlaceIsNotDelivered) {
  const auto queue = agent();
  const auto lease = *queue->lease(request_of(campaign_));
  server_->fails_with = ErrorKind::away;
  EXPECT_EQ(queue->complete(lease, finished_of(lease)), Completion::kept);
  // The same file name, the same plan, so the same campaign, run and epoch: another store.
  truth_.reset();
  servers_.clear();
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(location_ + suffix);
  truth_ = open_store(location_, Access::create);
  ASSERT_EQ(truth_->plan(campaign_of(2, 3), false).campaign, campaign_);
  const auto other = agent();
  const auto taken = *other->lease(request_of(campaign_, 200));
  EXPECT_EQ(taken.runs[0].run, lease.runs[0].run);
  EXPECT_EQ(taken.runs[0].epoch, lease.runs[0].epoch);
  EXPECT_EQ(other->waiting(), 0);
  EXPECT_EQ(Spool(spool_).waiting_for_others(truth_->uuid()), 1) << "it stays in the spool";
  EXPECT_EQ(truth_->runs({.counted_only = false}).size(), 0u);
}

TEST_F(SpoolSuite, ThatCannotBeWrittenLeavesTheResultInMemoryForTheStore) {
  spool_ = "/proc/no-such-place";
  const auto queue = agent();
  const auto lease = *queue->lease(request_of(campaign_));
  server_->fails_with = ErrorKind::away;
  EXPECT_EQ(queue->complete(lease, finished_of(lease)), Completion::kept);
  EXPECT_EQ(queue->waiting(), 1);
  EXPECT_THAT(queue->note(), testing::HasSubstr("in memory only"));
  server_->fails_with.reset();
  EXPECT_EQ(queue->deliver(), 1);
  EXPECT_EQ(progress(), "runs 6 ready 5 leased 0 done 1 failed 0 set_aside 0");
}

TEST_F(SpoolSuite, AResultThatNeitherTakesIsWrittenElsewhereAndDeliveredFromThere) {
  spool_ = "/proc/no-such-place";
  const auto queue = agent();
  const auto lease = *queue->lease(request_of(campaign_));
  server_->fails_with = ErrorKind::forbidden;
  try {
    (void)queue->complete(lease, finished_of(lease));
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::forbidden);
    EXPECT_THAT(error.what(), testing::HasSubstr("in memory only"));
  }
  EXPECT_EQ(queue->waiting(), 1);
  EXPECT_EQ(queue->deliver(), 0) << "one that is refused stops no other";
  const auto elsewhere = folder_.path() / "elsewhere";
  queue->rescue({"/proc/neither", elsewhere, folder_.path() / "not needed"});
  EXPECT_THAT(queue->note(), testing::HasSubstr("--spool " + elsewhere.string()));
  EXPECT_THAT(queue->note(), testing::Not(testing::HasSubstr("in memory")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "not needed"));
  spool_ = elsewhere;
  EXPECT_EQ(agent()->deliver(), 1);
  EXPECT_EQ(progress(), "runs 6 ready 5 leased 0 done 1 failed 0 set_aside 0");
}

TEST_F(SpoolSuite, AFileThatIsNotAResultStopsNobody) {
  std::filesystem::create_directory(spool_);
  std::ofstream(spool_ / (truth_->uuid() + "-00.json")) << "{\"spool_version\": 1}";
  std::ofstream(spool_ / (truth_->uuid() + "-01.json")) << "half of a fi";
  const auto queue = agent();
  EXPECT_TRUE(queue->lease(request_of(campaign_)));
  EXPECT_EQ(queue->waiting(), 2) << "they stay for a person to look at";
}

TEST_F(SpoolSuite, KeepsWhatIsFinishedAndDeliversItBeforeTheNextLease) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_));
  server_->fails_with = ErrorKind::away;
  auto record = rich_record_of(lease);
  EXPECT_EQ(store->complete(lease, {{record, false}}), Completion::kept);
  EXPECT_EQ(store->waiting(), 1);
  EXPECT_THROW((void)store->lease(request_of(campaign_)), Error) << "the server is still away";
  EXPECT_EQ(store->waiting(), 1);
  server_->fails_with.reset();
  const auto next = store->lease(request_of(campaign_));
  ASSERT_TRUE(next);
  EXPECT_NE(next->runs[0].run, lease.runs[0].run);
  EXPECT_EQ(store->waiting(), 0);
  std::vector<std::string> stored;
  truth_->records({}, [&](const Record& one) { stored.push_back(text_of(one)); });
  record.writer = Writer{this_user(), "here", "boot-1:100:5"};
  EXPECT_EQ(stored, std::vector{text_of(record)}) << "every sample came through";
}

TEST_F(SpoolSuite, OfAnAgentThatEndedIsDeliveredByAnother) {
  {
    const auto store = agent();
    const auto lease = *store->lease(request_of(campaign_, 100, 0));
    server_->fails_with = ErrorKind::away;
    EXPECT_EQ(store->complete(lease, finished_of(lease, true)), Completion::kept);
  }
  const auto other = agent();
  ASSERT_TRUE(other->lease(request_of(campaign_, 200)));
  EXPECT_EQ(progress(), "runs 6 ready 5 leased 1 done 0 failed 0 set_aside 1") << "to be measured again, as it asked";
}

TEST_F(SpoolSuite, ACopyOfWhatTheServerTookAlreadyIsNotCounted) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_));
  server_->loses_answers = true;
  EXPECT_EQ(store->complete(lease, finished_of(lease)), Completion::kept) << "nobody knows whether it was taken";
  server_->loses_answers = false;
  EXPECT_EQ(store->deliver(), 0);
  EXPECT_EQ(store->waiting(), 0);
  EXPECT_EQ(server_->completed, 2);
  EXPECT_EQ(progress(), "runs 6 ready 5 leased 0 done 1 failed 0 set_aside 0");
}

TEST_F(SpoolSuite, AResultOfARunThatAnotherTookIsDropped) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_, 100, 0));
  server_->fails_with = ErrorKind::away;
  EXPECT_EQ(store->complete(lease, finished_of(lease)), Completion::kept);
  const auto taken = *truth_->lease(request_of(campaign_, 200));
  ASSERT_EQ(taken.runs[0].run, lease.runs[0].run);
  server_->fails_with.reset();
  EXPECT_EQ(store->deliver(), 0);
  EXPECT_EQ(store->waiting(), 0);
  EXPECT_EQ(truth_->complete(taken, finished_of(taken)), Completion::accepted);
  EXPECT_EQ(truth_->runs({.counted_only = false}).size(), 1u);
}

TEST_F(SpoolSuite, AResultThatTheStoreRefusesStaysAndStopsNobody) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_));
  server_->fails_with = ErrorKind::away;
  EXPECT_EQ(store->complete(lease, finished_of(lease)), Completion::kept);
  server_->fails_with.reset();
  server_->fails_with = ErrorKind::forbidden;
  EXPECT_TRUE(store->lease(request_of(campaign_)));
  EXPECT_EQ(store->waiting(), 1);
  EXPECT_EQ(store->deliver(), 0) << "not tried again by this agent";
  EXPECT_EQ(agent()->deliver(), 1) << "another may";
}

TEST_F(SpoolSuite, PairsAreKeptWhole) {
  const auto id = truth_->plan(campaign_of(2, 1, true), false).campaign;
  const auto store = agent();
  const auto lease = *store->lease(request_of(id));
  server_->fails_with = ErrorKind::away;
  EXPECT_EQ(store->complete(lease, finished_of(lease)), Completion::kept);
  server_->fails_with.reset();
  EXPECT_EQ(store->deliver(), 1);
  const auto rows = truth_->runs({.campaign = id});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].pair.value().id, lease.runs[0].pair->id);
  EXPECT_EQ(rows[1].pair.value().side, PairSide::b);
}

TEST_F(SpoolSuite, GivingBackARunDoesNotNeedTheServer) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_));
  server_->fails_with = ErrorKind::away;
  store->release(lease);
  server_->fails_with.reset();
  EXPECT_EQ(store->renew(lease, 60), Renewal::held) << "it is left to run out";
}

}  // namespace
}  // namespace assay::store
