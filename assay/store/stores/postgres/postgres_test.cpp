#include <gmock/gmock.h>

#include <thread>

#include "assay/store/records/record_row.hpp"
#include "assay/store/stores/postgres/postgres.hpp"
#include "assay/store/stores/postgres/server_fixture.hpp"

namespace assay::store {

// Every test of the suite, on PostgreSQL.
const auto kPostgres = testing::Values(StoreFactory{"PostgreSQL", [](const std::filesystem::path&) {
                                                      auto* server = postgres::TestServer::get();
                                                      return server == nullptr ? "" : server->fresh_database();
                                                    }});
const auto kPostgresName = [](const testing::TestParamInfo<StoreFactory>& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Postgres, StoreSuite, kPostgres, kPostgresName);

namespace {

using postgres::Connection;
using postgres::PostgresStore;
using postgres::TestServer;
using testing::HasSubstr;

TEST(PostgresText, NulBytesAndBrokenTextPassThroughTheServer) {
  const std::string nul("a\0b", 3);
  const std::string odd = "\xee\x80\x80";  // U+E000, with which a NUL is written
  for (const auto& text : {std::string("plain"), nul, odd, odd + "0", odd + "e", nul + odd + nul, std::string()}) {
    const auto sent = postgres::to_server(text);
    EXPECT_EQ(sent.find('\0'), std::string::npos);
    EXPECT_EQ(postgres::from_server(sent), text);
  }
  EXPECT_EQ(postgres::to_server("broken \xff"), "broken \xef\xbf\xbd");
  EXPECT_EQ(postgres::from_server("cut " + odd), "cut " + odd);
}

TEST(PostgresText, ListsAreWrittenAsTheServerReadsThem) {
  EXPECT_EQ(postgres::array_of(std::vector<std::int64_t>{}).text, "{}");
  EXPECT_EQ(postgres::array_of(std::vector<std::int64_t>{1, -2, 3}).text, "{1,-2,3}");
  const std::vector<std::optional<std::string>> texts{"a", std::nullopt, "b\"\\,{}", "NULL"};
  EXPECT_EQ(postgres::array_of(texts).text, R"({"a",NULL,"b\"\\,{}","NULL"})");
}

const auto kNewest = static_cast<std::int64_t>(postgres::migrations().size());

class PostgresDatabase : public testing::Test {
 protected:
  void SetUp() override {
    server_ = TestServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "there is no PostgreSQL server here";
    location_ = locate(server_->fresh_database());
  }

  std::int64_t ask(const std::string& sql) const { return Connection(location_, true).integer(sql, "asking"); }
  void plant(const std::string& sql) const { Connection(location_, false).execute(sql, "planting"); }

  /// The store's clock is so many seconds beside that of the server from now on.
  void set_clock(int seconds) const {
    plant(
        fmt::format("CREATE OR REPLACE FUNCTION assay.now_ms() RETURNS bigint LANGUAGE sql AS "
                    "'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ({})::bigint'",
                    std::int64_t{seconds} * 1000));
  }

  /// The error of opening, which must be of `kind`.
  static std::string refusal(const std::string& location, Access access, ErrorKind kind) {
    try {
      open_store(location, access);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << location << " was opened";
    return "";
  }

  TestServer* server_ = nullptr;
  Location location_;
};

TEST_F(PostgresDatabase, ADatabaseWithoutAStoreIsRefusedAndLeftAlone) {
  for (const auto access : {Access::read, Access::write}) {
    EXPECT_THAT(refusal(location_.place, access, ErrorKind::usage), HasSubstr("there is no store"));
  }
  EXPECT_EQ(ask("SELECT count(*) FROM pg_namespace WHERE nspname = 'assay'"), 0);
}

TEST_F(PostgresDatabase, AStoreOfANewerAssayIsRefusedAndLeftAlone) {
  open_store(location_.place, Access::create);
  plant("UPDATE assay.store SET version = 99");
  for (const auto access : {Access::create, Access::write, Access::read}) {
    EXPECT_THAT(refusal(location_.place, access, ErrorKind::failure), HasSubstr("was written by a newer Assay"));
  }
  EXPECT_EQ(ask("SELECT version FROM assay.store"), 99);
}

TEST_F(PostgresDatabase, AnOlderStoreIsBroughtUpToDateWithAllItHolds) {
  PostgresStore(location_, Access::create).put_platform("p1", {{"cpus", 2}});
  auto steps = postgres::migrations();
  steps.emplace_back("ALTER TABLE platform ADD COLUMN seen_utc text");
  steps.emplace_back("CREATE TABLE planet(name text); INSERT INTO planet VALUES ('earth')");
  EXPECT_THROW(PostgresStore(location_, Access::read, steps), Error) << "reading must not change the store";
  EXPECT_EQ(PostgresStore(location_, Access::write, steps).platform("p1"), json({{"cpus", 2}}));
  EXPECT_EQ(ask("SELECT version FROM assay.store"), kNewest + 2);
  { const PostgresStore again(location_, Access::write, steps); }
  EXPECT_EQ(ask("SELECT count(*) FROM assay.planet"), 1) << "a step was taken twice";
  EXPECT_THAT(refusal(location_.place, Access::write, ErrorKind::failure), HasSubstr("newer Assay"));
}

TEST_F(PostgresDatabase, AStoreFromBeforeGroupsIsReadAsItIs) {
  PostgresStore(location_, Access::create).put_platform("p1", {{"cpus", 2}});
  plant("UPDATE assay.store SET version = 4");  // the same tables
  EXPECT_EQ(PostgresStore(location_, Access::read).platform("p1"), json({{"cpus", 2}}));
  EXPECT_EQ(ask("SELECT version FROM assay.store"), 4) << "reading must not change the store";
  { const PostgresStore store(location_, Access::write); }
  EXPECT_EQ(ask("SELECT version FROM assay.store"), 5);
  plant("UPDATE assay.store SET version = 3");
  EXPECT_THAT(refusal(location_.place, Access::read, ErrorKind::failure), HasSubstr("written by an older Assay"));
}

TEST_F(PostgresDatabase, AMigrationThatFailsChangesNothing) {
  { const PostgresStore store(location_, Access::create); }
  auto steps = postgres::migrations();
  steps.emplace_back("CREATE TABLE planet(name text)");
  steps.emplace_back("INSERT INTO nowhere VALUES (1)");
  EXPECT_THROW(PostgresStore(location_, Access::write, steps), Error);
  EXPECT_EQ(ask("SELECT version FROM assay.store"), kNewest);
  EXPECT_EQ(ask("SELECT count(*) FROM pg_class WHERE relname = 'planet'"), 0);
}

TEST_F(PostgresDatabase, AStoreOfVersion1IsGoneOnWith) {
  const postgres::Migrations first{postgres::migrations()[0]};
  const auto id = PostgresStore(location_, Access::create, first).plan(campaign_of(1, 2), false).campaign;
  EXPECT_EQ(ask("SELECT version FROM assay.store"), 1);
  PostgresStore store(location_, Access::write);
  EXPECT_EQ(ask("SELECT version FROM assay.store"), kNewest);
  const auto lease = store.lease(request_of(id));
  ASSERT_TRUE(lease);
  EXPECT_EQ(store.complete(*lease, finished_of(*lease)), Completion::accepted);
}

TEST_F(PostgresDatabase, AReaderCannotWrite) {
  open_store(location_.place, Access::create)->plan(campaign_of(1, 1), false);
  const auto store = open_store(location_.place, Access::read);
  EXPECT_EQ(store->campaigns().size(), 1u);
  EXPECT_THROW(store->put_platform("p1", {}), Error);
  EXPECT_THROW(store->plan(campaign_of(2, 1), false), Error);
  EXPECT_EQ(ask("SELECT count(*) FROM assay.campaign"), 1);
}

TEST_F(PostgresDatabase, TheViewResultShowsCountedRecordsWithoutDecoding) {
  const auto store = open_store(location_.place, Access::create);
  const auto campaign = campaign_of(1, 1);
  const auto id = store->plan(campaign, false).campaign;
  const auto lease = store->lease(request_of(id));
  ASSERT_EQ(store->complete(*lease, {{rich_record_of(*lease), false}}), Completion::accepted);
  auto row = Connection(location_, true)
                 .query(
                     "SELECT campaign, trial, batch, outcome, median_ns, samples_per_second, peak_memory_bytes "
                     "FROM assay.result",
                     "asking");
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.get<std::string>(0), id);
  EXPECT_EQ(row.get<std::string>(1), trial_id(campaign.trials[0]));
  EXPECT_EQ(row.get<std::int64_t>(2), 1);
  EXPECT_EQ(row.get<std::string>(3), "failed");
  EXPECT_EQ(row.get<std::int64_t>(4), 20);
  EXPECT_EQ(row.get<double>(5), 50.5);
  EXPECT_EQ(row.get<std::int64_t>(6), 3003) << "1000 + 1001 + 1002";
}

TEST_F(PostgresDatabase, ProgressAgreesWithTheRowsAfterAnyMixOfCalls) {
  // Two connections, so that more than one slot is used.
  const std::vector<std::unique_ptr<Store>> stores = [&] {
    std::vector<std::unique_ptr<Store>> out;
    for (int i = 0; i < 2; ++i) out.push_back(open_store(location_.place, Access::create));
    return out;
  }();
  const auto id = stores[0]->plan(campaign_of(4, 10), false).campaign;
  for (std::size_t i = 0; i < 100; ++i) {
    auto& store = *stores[i % 2];
    const auto lease = store.lease(request_of(id, 1, i % 3 == 0 ? 0 : 60));
    if (!lease) break;
    auto finished = finished_of(*lease, i % 5 == 0);
    if (i % 4 == 0) finished[0].record.outcome.kind = OutcomeKind::crashed;
    if (i % 7 == 0) {
      stores[(i + 1) % 2]->release(*lease);
    } else if (i % 6 != 0) {
      ASSERT_EQ(stores[(i / 2) % 2]->complete(*lease, finished), Completion::accepted);
    }
  }
  const auto progress = stores[0]->progress(id);
  EXPECT_EQ(progress.runs, ask("SELECT count(*) FROM assay.run"));
  EXPECT_EQ(progress.ready, ask("SELECT count(*) FROM assay.run WHERE state = 0"));
  EXPECT_EQ(progress.leased, ask("SELECT count(*) FROM assay.run WHERE state = 1"));
  EXPECT_EQ(progress.done, ask("SELECT count(*) FROM assay.record WHERE counted = 1"));
  EXPECT_EQ(progress.failed, ask("SELECT count(*) FROM assay.record WHERE counted = 1 AND outcome <> 'ok'"));
  EXPECT_EQ(progress.set_aside, ask("SELECT count(*) FROM assay.record WHERE counted = 0"));
  EXPECT_GT(progress.failed, 0);
  EXPECT_GT(progress.set_aside, 0);
}

TEST_F(PostgresDatabase, AgentsThatMeetAtPairsTakeEachOnce) {
  const auto id = open_store(location_.place, Access::create)->plan(campaign_of(2, 40, true), false).campaign;
  std::vector<std::thread> agents;
  for (int agent = 0; agent < 4; ++agent) {
    agents.emplace_back([&, agent] {
      const auto store = open_store(location_.place, Access::write);
      // Some leases run out at once: freeing, taking and late results then meet.
      for (int i = 0; i < 200; ++i) {
        const auto lease = store->lease(request_of(id, 100 + agent, i % 3 == 0 ? 0 : 60));
        if (!lease) break;
        EXPECT_EQ(lease->runs.size(), 2u);
        (void)store->renew(*lease, i % 3 == 0 ? 0 : 60);
        (void)store->complete(*lease, finished_of(*lease, i % 5 == 0));
      }
    });
  }
  for (auto& agent : agents) agent.join();
  EXPECT_EQ(ask("SELECT count(*) FROM assay.run WHERE state = 2"),
            ask("SELECT count(*) FROM assay.record WHERE counted = 1"));
  EXPECT_EQ(ask("SELECT count(*) FROM assay.run AS a JOIN assay.run AS b USING (pair) WHERE a.state <> b.state"), 0);
  EXPECT_GT(ask("SELECT count(*) FROM assay.record WHERE counted = 1"), 0);
}

TEST_F(PostgresDatabase, AServerThatIsAwayIsSaidSoAndUsedAgainWhenItIsBack) {
  const auto store = open_store(location_.place, Access::create);
  const auto id = store->plan(campaign_of(1, 3), false).campaign;
  const auto lease = store->lease(request_of(id));
  server_->kill_all();
  const auto kind_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::usage;
  };
  EXPECT_EQ(kind_of([&] { (void)store->complete(*lease, finished_of(*lease)); }), ErrorKind::away);
  EXPECT_EQ(kind_of([&] { (void)store->renew(*lease, 60); }), ErrorKind::away);
  EXPECT_EQ(kind_of([&] { (void)store->progress(id); }), ErrorKind::away);
  EXPECT_EQ(kind_of([&] { open_store(location_.place, Access::write); }), ErrorKind::away);
  server_->start();
  EXPECT_EQ(store->renew(*lease, 60), Renewal::held);
  EXPECT_EQ(store->complete(*lease, finished_of(*lease)), Completion::accepted);
  EXPECT_EQ(text_of(store->progress(id)), "runs 3 ready 2 leased 0 done 1 failed 0 set_aside 0");
}

TEST_F(PostgresDatabase, WhatIsReadIsAskedOnceMoreWhereTheServerWasRestarted) {
  const auto store = open_store(location_.place, Access::create);
  const auto id = store->plan(campaign_of(1, 1), false).campaign;
  server_->kill_all();
  server_->start();
  EXPECT_EQ(store->progress(id).ready, 1);
  EXPECT_EQ(store->plan(campaign_of(1, 2), false).new_runs, 1) << "a transaction begins on a connection that works";
}

TEST_F(PostgresDatabase, NoLeaseRunsOutWhileTheServerIsAway) {
  const auto store = open_store(location_.place, Access::create);
  const auto id = store->plan(campaign_of(1, 1), false).campaign;
  const auto lease = store->lease(request_of(id, 100, 3600));
  // As if it had ended during the outage: nobody could renew it.
  plant("UPDATE assay.run SET lease_end_ms = lease_end_ms - 3600000");
  server_->kill_all();
  server_->start();
  const auto other = open_store(location_.place, Access::write);
  EXPECT_FALSE(other->lease(request_of(id, 200)));
  EXPECT_EQ(store->renew(*lease, 60), Renewal::held);
}

TEST_F(PostgresDatabase, AClockThatJumpsStealsNoRun) {
  const auto store = open_store(location_.place, Access::create);
  const auto other = open_store(location_.place, Access::write);
  const auto id = store->plan(campaign_of(1, 1), false).campaign;
  const auto lease = store->lease(request_of(id, 100, 60));
  set_clock(7200);
  EXPECT_FALSE(other->lease(request_of(id, 200)));
  set_clock(7200 + 15);
  EXPECT_FALSE(other->lease(request_of(id, 200))) << "half of the lease is left to its owner";
  EXPECT_EQ(store->renew(*lease, 60), Renewal::held);
  // Its owner dies: 60 s, and half of that from when somebody has seen it.
  set_clock(7200 + 15 + 61);
  EXPECT_FALSE(other->lease(request_of(id, 200)));
  set_clock(7200 + 15 + 61 + 31);
  EXPECT_TRUE(other->lease(request_of(id, 200)));
}

TEST_F(PostgresDatabase, AClockThatGoesBackStealsNoRunAndKeepsNoneForLonger) {
  const auto store = open_store(location_.place, Access::create);
  const auto other = open_store(location_.place, Access::write);
  const auto id = store->plan(campaign_of(1, 1), false).campaign;
  const auto lease = store->lease(request_of(id, 100, 60));
  set_clock(-86400);
  EXPECT_FALSE(other->lease(request_of(id, 200)));
  EXPECT_EQ(store->renew(*lease, 60), Renewal::held);
  set_clock(-86400 + 61);
  EXPECT_FALSE(other->lease(request_of(id, 200)));
  set_clock(-86400 + 61 + 31);
  EXPECT_TRUE(other->lease(request_of(id, 200)));
}

TEST_F(PostgresDatabase, ALeaseWhoseAnswerWasLostIsGivenAgain) {
  PostgresStore store(location_, Access::create);
  const auto id = store.plan(campaign_of(1, 1), false).campaign;
  // The server ends the connection before it answers.
  plant(
      "CREATE FUNCTION assay.cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "
      "pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$");
  plant("CREATE TRIGGER cut AFTER UPDATE ON assay.run FOR EACH STATEMENT EXECUTE FUNCTION assay.cut()");
  EXPECT_THROW((void)store.lease(request_of(id)), Error);
  plant("DROP TRIGGER cut ON assay.run");
  const auto lease = store.lease(request_of(id));
  ASSERT_TRUE(lease);
  // What the lost call would have done, had the server died a moment later: the same claim is asked for again.
  const auto ask_again = [&] {
    return Connection(location_, false)
        .integer(
            "SELECT l_run FROM assay.lease($1, $2, 60, 'here', 'boot-1', 100, 5, 'n', '{}', '{}', NULL, NULL, NULL, "
            "NULL)",
            "testing", id, lease->claim);
  };
  EXPECT_EQ(ask_again(), lease->runs[0].run);
  EXPECT_EQ(ask("SELECT epoch FROM assay.run"), lease->runs[0].epoch) << "it was taken once";
  const auto other = open_store(location_.place, Access::write);
  EXPECT_FALSE(other->lease(request_of(id))) << "who has no claim leaves it alone";
  EXPECT_EQ(store.complete(*lease, finished_of(*lease)), Completion::accepted);
}

TEST_F(PostgresDatabase, AResultWhoseAnswerWasLostIsKnownAgain) {
  PostgresStore store(location_, Access::create);
  const auto id = store.plan(campaign_of(1, 1), false).campaign;
  const auto lease = store.lease(request_of(id));
  // The server takes the result and ends the connection before it answers.
  plant(
      "CREATE FUNCTION assay.cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM "
      "pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$");
  const auto other = open_store(location_.place, Access::write);
  plant("CREATE TRIGGER cut AFTER INSERT ON assay.record FOR EACH STATEMENT EXECUTE FUNCTION assay.cut()");
  EXPECT_THROW((void)store.complete(*lease, finished_of(*lease)), Error);
  plant("DROP TRIGGER cut ON assay.record");
  ASSERT_EQ(other->complete(*lease, finished_of(*lease)), Completion::accepted) << "what the lost call would have done";
  EXPECT_EQ(store.complete(*lease, finished_of(*lease)), Completion::repeated) << "it is its own result";
  EXPECT_EQ(ask("SELECT count(*) FROM assay.record"), 1);
}

TEST_F(PostgresDatabase, MessagesHoldNoPassword) {
  const std::string folder = location_.place.substr(location_.place.find("host="));
  for (const std::string& url :
       {"postgresql://nobody_here:secret@/postgres?" + folder, "postgresql://assay:secret@/no_such_database?" + folder,
        std::string("postgresql://assay:secret@/d?host=/nowhere"), std::string("postgresql://assay:secret@h:no/d"),
        std::string("postgresql://assay:secret@/d?secret=1")}) {
    try {
      open_store(url, Access::create);
      ADD_FAILURE() << "opened";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("secret")));
    }
  }
}

}  // namespace
}  // namespace assay::store
