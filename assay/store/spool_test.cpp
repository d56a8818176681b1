#include "assay/store/spool.hpp"

#include <gmock/gmock.h>

#include "assay/store/store_fixture.hpp"

namespace assay::store {
namespace {

/// A store whose server can be away: before a result reaches it, or before its answer comes back.
class MovableStore : public SpooledStore {
 public:
  MovableStore(const std::string& location, const std::filesystem::path& folder)
      : SpooledStore(open_store(location, Access::write), folder / "unused.db") {}

  Completion complete(const Lease& lease, const std::vector<Finished>& finished) override {
    if (away) fail(ErrorKind::away, "gone");
    if (refuses) fail(ErrorKind::failure, "this role may not do that");
    ++completed;
    const auto answer = SpooledStore::complete(lease, finished);
    if (loses_answers) fail(ErrorKind::away, "gone behind it");
    return answer;
  }
  void release(const Lease& lease) override {
    if (away) fail(ErrorKind::away, "gone");
    SpooledStore::release(lease);
  }

  bool away = false;
  bool loses_answers = false;
  bool refuses = false;
  int completed = 0;
};

class Spool : public testing::Test {
 protected:
  void SetUp() override {
    truth_ = open_store(location_, Access::create);
    campaign_ = truth_->plan(campaign_of(2, 3), false).campaign;
  }

  /// An agent's store, with the spool that agents of this host share.
  std::unique_ptr<SpooledStore> agent() {
    auto server = std::make_unique<MovableStore>(location_, folder_.path());
    server_ = server.get();
    return std::make_unique<SpooledStore>(std::move(server), folder_.path() / "spool.db");
  }

  std::string progress() { return text_of(truth_->progress(campaign_)); }

  ScratchFolder folder_;
  std::string location_ = (folder_.path() / "assay.db").string();
  std::unique_ptr<Store> truth_;
  std::string campaign_;
  MovableStore* server_ = nullptr;  ///< of the newest agent
};

TEST_F(Spool, IsNotUsedWhileTheServerIsThere) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_));
  EXPECT_EQ(store->complete(lease, finished_of(lease)), Completion::accepted);
  EXPECT_EQ(store->waiting(), 0);
  EXPECT_EQ(progress(), "runs 6 ready 5 leased 0 done 1 failed 0 set_aside 0");
}

TEST_F(Spool, KeepsWhatIsFinishedAndDeliversItBeforeTheNextLease) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_));
  server_->away = true;
  const auto record = rich_record_of(lease);
  EXPECT_EQ(store->complete(lease, {{record, false}}), Completion::kept);
  EXPECT_EQ(store->waiting(), 1);
  EXPECT_THROW((void)store->lease(request_of(campaign_)), Error) << "the server is still away";
  EXPECT_EQ(store->waiting(), 1);
  server_->away = false;
  const auto next = store->lease(request_of(campaign_));
  ASSERT_TRUE(next);
  EXPECT_NE(next->runs[0].run, lease.runs[0].run);
  EXPECT_EQ(store->waiting(), 0);
  std::vector<std::string> stored;
  truth_->records({}, [&](const Record& one) { stored.push_back(text_of(one)); });
  EXPECT_EQ(stored, std::vector{text_of(record)}) << "every sample came through";
}

TEST_F(Spool, OfAnAgentThatEndedIsDeliveredByAnother) {
  {
    const auto store = agent();
    const auto lease = *store->lease(request_of(campaign_, 100, 0));
    server_->away = true;
    EXPECT_EQ(store->complete(lease, finished_of(lease, true)), Completion::kept);
  }
  const auto other = agent();
  ASSERT_TRUE(other->lease(request_of(campaign_, 200)));
  EXPECT_EQ(progress(), "runs 6 ready 5 leased 1 done 0 failed 0 set_aside 1") << "to be measured again, as it asked";
}

TEST_F(Spool, ACopyOfWhatTheServerTookAlreadyIsNotCounted) {
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

TEST_F(Spool, AResultOfARunThatAnotherTookIsDropped) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_, 100, 0));
  server_->away = true;
  EXPECT_EQ(store->complete(lease, finished_of(lease)), Completion::kept);
  const auto taken = *truth_->lease(request_of(campaign_, 200));
  ASSERT_EQ(taken.runs[0].run, lease.runs[0].run);
  server_->away = false;
  EXPECT_EQ(store->deliver(), 0);
  EXPECT_EQ(store->waiting(), 0);
  EXPECT_EQ(truth_->complete(taken, finished_of(taken)), Completion::accepted);
  EXPECT_EQ(truth_->runs({.counted_only = false}).size(), 1u);
}

TEST_F(Spool, AResultThatTheStoreRefusesStaysAndStopsNobody) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_));
  server_->away = true;
  EXPECT_EQ(store->complete(lease, finished_of(lease)), Completion::kept);
  server_->away = false;
  server_->refuses = true;
  EXPECT_TRUE(store->lease(request_of(campaign_)));
  EXPECT_EQ(store->waiting(), 1);
  EXPECT_EQ(store->deliver(), 0) << "not tried again by this agent";
  EXPECT_EQ(agent()->deliver(), 1) << "another may";
}

TEST_F(Spool, PairsAreKeptWhole) {
  const auto id = truth_->plan(campaign_of(2, 1, true), false).campaign;
  const auto store = agent();
  const auto lease = *store->lease(request_of(id));
  server_->away = true;
  EXPECT_EQ(store->complete(lease, finished_of(lease)), Completion::kept);
  server_->away = false;
  EXPECT_EQ(store->deliver(), 1);
  const auto rows = truth_->runs({.campaign = id});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].pair.value().id, lease.runs[0].pair->id);
  EXPECT_EQ(rows[1].pair.value().side, PairSide::b);
}

TEST_F(Spool, GivingBackARunDoesNotNeedTheServer) {
  const auto store = agent();
  const auto lease = *store->lease(request_of(campaign_));
  server_->away = true;
  store->release(lease);
  server_->away = false;
  EXPECT_EQ(store->renew(lease, 60), Renewal::held) << "it is left to run out";
}

}  // namespace
}  // namespace assay::store
