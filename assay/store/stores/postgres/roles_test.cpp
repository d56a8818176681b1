#include <gmock/gmock.h>

#include "assay/store/stores/postgres/postgres.hpp"
#include "assay/store/stores/postgres/server_fixture.hpp"

namespace assay::store {
namespace {

using postgres::Connection;
using postgres::TestServer;
using testing::HasSubstr;

/// A store with two campaigns, of which an agent may work on the first.
class PostgresRoles : public testing::Test {
 protected:
  void SetUp() override {
    server_ = TestServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "there is no PostgreSQL server here";
    url_ = server_->fresh_database();
    owner_ = open_store(url_, Access::create);
    mine_ = owner_->plan(campaign_of(1, 2), false).campaign;
    auto other = campaign_of(2, 2);
    other.name = "other";
    other_ = owner_->plan(other, false).campaign;
    agent_ = server_->fresh_role();
    owner_->allow(agent_, Right::agent, mine_);
  }

  std::string as(const std::string& role) const {
    std::string url = url_;
    return url.replace(url.find("assay@"), 6, role + "@");
  }

  /// The kind of error that SQL of a role's own meets.
  ErrorKind refusal(const std::string& role, const std::string& sql) const {
    try {
      Connection(locate(as(role)), false).write(sql, "testing");
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("42501")) << sql;
      return error.kind();
    }
    ADD_FAILURE() << "allowed: " << sql;
    return ErrorKind::usage;
  }

  TestServer* server_ = nullptr;
  std::string url_;
  std::unique_ptr<Store> owner_;
  std::string mine_;
  std::string other_;
  std::string agent_;
};

TEST_F(PostgresRoles, AnAgentTakesAndReportsRunsOfItsCampaign) {
  const auto store = open_store(as(agent_), Access::write);
  store->put_platform("p1", {{"cpus", 2}});
  ASSERT_EQ(store->campaigns().size(), 1u);
  EXPECT_EQ(store->campaigns()[0].id, mine_);
  const auto lease = store->lease(request_of(mine_));
  ASSERT_TRUE(lease);
  EXPECT_EQ(store->renew(*lease, 60), Renewal::held);
  EXPECT_EQ(store->complete(*lease, {{rich_record_of(*lease), false}}), Completion::accepted);
  const auto next = store->lease(request_of(mine_));
  ASSERT_TRUE(next);
  store->release(*next);
  EXPECT_EQ(text_of(store->progress(mine_)), "runs 2 ready 1 leased 0 done 1 failed 1 set_aside 0");
  EXPECT_EQ(owner_->runs({.campaign = mine_}).size(), 1u);
}

TEST_F(PostgresRoles, AnAgentSeesAndChangesNoOtherCampaign) {
  const auto held = owner_->lease(request_of(other_, 300));
  const auto store = open_store(as(agent_), Access::write);
  EXPECT_THROW((void)store->lease(request_of(other_)), Error);
  EXPECT_THROW((void)store->progress(other_), Error);
  EXPECT_THROW((void)store->renew(*held, 60), Error);
  EXPECT_THROW((void)store->complete(*held, finished_of(*held)), Error);
  EXPECT_THROW(store->release(*held), Error);
  auto renamed = *held;
  renamed.campaign = mine_;  // a run of another campaign under the name of its own
  EXPECT_EQ(store->renew(renamed, 60), Renewal::lost);
  EXPECT_EQ(owner_->renew(*held, 60), Renewal::held);
  EXPECT_EQ(text_of(owner_->progress(other_)), "runs 4 ready 3 leased 1 done 0 failed 0 set_aside 0");
}

TEST_F(PostgresRoles, AnAgentHasNoWayAroundTheFunctions) {
  for (const char* sql :
       {"SELECT json FROM trial", "SELECT * FROM run", "SELECT * FROM record", "SELECT * FROM content",
        "SELECT * FROM artifact", "SELECT * FROM result", "SELECT * FROM access", "UPDATE run SET state = 2",
        "INSERT INTO access VALUES (session_user, 'agent', NULL)", "DELETE FROM campaign",
        "UPDATE campaign SET name = 'x'", "SELECT allow(session_user::text, 'agent', '')",
        "SELECT holds('x', '{}', '{}')", "SELECT free_leases(1, '', '{}', '{}')", "UPDATE store SET version = 7",
        "CREATE TABLE assay.mine(x text)", "SELECT forbid('assay')"}) {
    EXPECT_EQ(refusal(agent_, sql), ErrorKind::failure) << sql;
  }
  Connection connection(locate(as(agent_)), false);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM assay.campaign", "asking"), 1);
  EXPECT_EQ(connection.integer("SELECT count(DISTINCT campaign) FROM assay.progress", "asking"), 1);
}

TEST_F(PostgresRoles, AnAgentHoldsARunForADayAtMost) {
  Connection connection(locate(as(agent_)), false);
  const auto lease_for = [&](const std::string& seconds) {
    connection.query("SELECT * FROM assay.lease('" + mine_ + "', '" + new_claim() + "', " + seconds +
                         ", 'h', 'b', 1, 1, 'n', '{}', '{}', '', NULL, NULL, NULL)",
                     "testing");
  };
  for (const char* seconds : {"86400.1", "-1", "NULL", "'NaN'", "'Infinity'"}) {
    EXPECT_THROW(lease_for(seconds), Error) << seconds;
  }
  EXPECT_EQ(text_of(owner_->progress(mine_)), "runs 2 ready 2 leased 0 done 0 failed 0 set_aside 0");
  lease_for("86400");
  const auto held = open_store(as(agent_), Access::write)->lease(request_of(mine_));
  ASSERT_TRUE(held);
  EXPECT_THROW((void)owner_->renew(*held, 86401), Error);
  EXPECT_EQ(owner_->renew(*held, 86400), Renewal::held);
}

TEST_F(PostgresRoles, AnAgentCannotPlanDropOrGiveRights) {
  const auto store = open_store(as(agent_), Access::write);
  EXPECT_THROW(store->plan(campaign_of(3, 1), false), Error);
  EXPECT_THROW(store->drop(mine_), Error);
  EXPECT_THROW(store->allow(agent_, Right::agent, other_), Error);
  EXPECT_THROW(store->put_artifact("model", "h", {}), Error);
  EXPECT_THROW((void)store->trials({}), Error);
  EXPECT_EQ(owner_->campaigns().size(), 2u);
}

TEST_F(PostgresRoles, AnAgentOfAllCampaignsWorksOnThoseThatCome) {
  const auto role = server_->fresh_role();
  owner_->allow(role, Right::agent, "");
  auto later = campaign_of(1, 1);
  later.name = "later";
  const auto id = owner_->plan(later, false).campaign;
  const auto store = open_store(as(role), Access::write);
  EXPECT_EQ(store->campaigns().size(), 3u);
  EXPECT_TRUE(store->lease(request_of(id)));
}

TEST_F(PostgresRoles, AReaderReadsEverythingAndChangesNothing) {
  const auto lease = owner_->lease(request_of(mine_));
  ASSERT_EQ(owner_->complete(*lease, finished_of(*lease)), Completion::accepted);
  const auto role = server_->fresh_role();
  owner_->allow(role, Right::reader, "");
  const auto store = open_store(as(role), Access::read);
  EXPECT_EQ(store->campaigns().size(), 2u);
  EXPECT_EQ(store->trials({}).size(), 2u);
  int records = 0;
  store->records({}, [&](const Record&) { ++records; });
  EXPECT_EQ(records, 1);
  const auto writing = open_store(as(role), Access::write);
  EXPECT_THROW((void)writing->lease(request_of(mine_)), Error);
  EXPECT_THROW(writing->put_platform("p", {}), Error);
  for (const char* sql : {"UPDATE run SET state = 0", "DELETE FROM record", "INSERT INTO store VALUES (1)"}) {
    EXPECT_EQ(refusal(role, sql), ErrorKind::failure) << sql;
  }
}

TEST_F(PostgresRoles, AStrangerHasNoRightAndForbiddenOnesLoseTheirs) {
  const auto stranger = server_->fresh_role();
  EXPECT_THROW(open_store(as(stranger), Access::read), Error);
  owner_->forbid(agent_);
  EXPECT_THROW(open_store(as(agent_), Access::write), Error);
  EXPECT_EQ(refusal(agent_, "SELECT * FROM assay.campaign"), ErrorKind::failure);
}

TEST_F(PostgresRoles, RightsOutliveANewVersionOfTheStore) {
  auto steps = postgres::migrations();
  steps.emplace_back("CREATE TABLE planet(name text)");
  const auto reader = server_->fresh_role();
  owner_->allow(reader, Right::reader, "");
  { const postgres::PostgresStore newer(locate(url_), Access::write, steps); }
  EXPECT_EQ(Connection(locate(as(reader)), true).integer("SELECT count(*) FROM assay.planet", "asking"), 0);
  EXPECT_EQ(refusal(agent_, "SELECT * FROM planet"), ErrorKind::failure);
}

TEST_F(PostgresRoles, ARoleThatIsNotThereIsNamedAndItsNameIsNoSql) {
  for (const std::string role : {"nobody_here", "x\"; DROP TABLE run; --", "public; DROP TABLE run"}) {
    try {
      owner_->allow(role, Right::agent, mine_);
      ADD_FAILURE() << "allowed: " << role;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    }
    EXPECT_THROW(owner_->forbid(role), Error);
  }
  EXPECT_THROW(owner_->allow(agent_, Right::agent, "' OR true --"), Error);
  EXPECT_EQ(owner_->progress(mine_).runs, 2);
}

TEST_F(PostgresRoles, AContentThatDoesNotFitItsHashIsRefused) {
  const auto lease = open_store(as(agent_), Access::write)->lease(request_of(mine_));
  Connection connection(locate(as(agent_)), false);
  EXPECT_THROW(connection.query("SELECT assay.complete($1, $2, $3, 0, '[]', '[{\"hash\": \"00\", \"json\": \"{}\"}]')",
                                "testing", mine_, lease->claim,
                                postgres::array_of(std::vector<std::int64_t>{lease->runs[0].run})),
               Error);
  EXPECT_EQ(Connection(locate(url_), true).integer("SELECT count(*) FROM assay.content", "asking"), 0);
}

TEST_F(PostgresRoles, OnlyTheOwnerChangesWhatIsSaidOfAPlatform) {
  const auto store = open_store(as(agent_), Access::write);
  store->put_platform("p1", {{"cpus", 2}});
  store->put_platform("p1", {{"cpus", 64}});
  EXPECT_EQ(owner_->platform("p1"), json({{"cpus", 2}}));
  owner_->put_platform("p1", {{"cpus", 4}});
  EXPECT_EQ(owner_->platform("p1"), json({{"cpus", 4}}));
}

TEST_F(PostgresRoles, AnAgentCannotAskWhetherAnotherCampaignHasAResult) {
  const auto lease = owner_->lease(request_of(other_, 300));
  ASSERT_EQ(owner_->complete(*lease, finished_of(*lease)), Completion::accepted);
  Connection connection(locate(as(agent_)), false);
  for (const std::string& campaign : {mine_, std::string("nowhere")}) {
    auto row = connection.query("SELECT assay.complete($1, $2, $3, 0, '[]', '[]')", "testing", campaign, lease->claim,
                                postgres::array_of(std::vector<std::int64_t>{lease->runs[0].run}));
    ASSERT_TRUE(row.step());
    EXPECT_EQ(row.get<std::string>(0), "stale") << campaign;
  }
}

TEST_F(PostgresRoles, NoListIsNotAnEmptyOne) {
  Connection connection(locate(as(agent_)), false);
  EXPECT_EQ(connection.integer("SELECT assay.renew($1, NULL, NULL, 60)", "testing", mine_), 0);
  EXPECT_EQ(connection.integer("SELECT assay.give_back($1, NULL, NULL)", "testing", mine_), 0);
  auto row = connection.query("SELECT assay.complete($1, NULL, NULL, 0, '[]', '[]')", "testing", mine_);
  ASSERT_TRUE(row.step());
  EXPECT_EQ(row.get<std::string>(0), "stale");
}

TEST_F(PostgresRoles, TablesOfAnAgentsOwnStandInForNoneOfTheStore) {
  Connection connection(locate(as(agent_)), false);
  connection.execute(
      "CREATE TEMP TABLE access(role text, kind text, campaign bigint); "
      "INSERT INTO pg_temp.access VALUES (session_user, 'agent', NULL), (session_user, 'reader', NULL); "
      "CREATE TEMP TABLE run AS SELECT 1 AS key; "
      "CREATE FUNCTION pg_temp.works_on(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'; "
      "CREATE FUNCTION pg_temp.now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'; "
      "SET search_path TO pg_temp, assay",
      "testing");
  EXPECT_EQ(connection.integer("SELECT count(*) FROM assay.campaign", "testing"), 1);
  EXPECT_THROW(
      connection.query("SELECT assay.lease($1, $2, 60, 'h', 'b', 1, 1, 'n', '{}', '{}', NULL, NULL, NULL, NULL)",
                       "testing", other_, new_claim()),
      Error);
  connection.query("SELECT assay.lease($1, $2, 60, 'h', 'b', 1, 1, 'n', '{}', '{}', NULL, NULL, NULL, NULL)", "testing",
                   mine_, new_claim());
  EXPECT_EQ(text_of(owner_->progress(mine_)), "runs 2 ready 1 leased 1 done 0 failed 0 set_aside 0");
}

TEST_F(PostgresRoles, AReaderCannotUseTheClaimsOfOthers) {
  const auto held = owner_->lease(request_of(mine_, 300));
  const auto reader = server_->fresh_role();
  owner_->allow(reader, Right::reader, "");
  auto row = Connection(locate(as(reader)), true)
                 .read("SELECT claim FROM assay.run WHERE key = $1", "testing", held->runs[0].run);
  ASSERT_TRUE(row.step());
  auto stolen = *held;
  stolen.claim = row.get<std::string>(0);
  const auto accomplice = open_store(as(agent_), Access::write);
  EXPECT_EQ(accomplice->complete(stolen, finished_of(stolen)), Completion::stale);
  EXPECT_EQ(accomplice->renew(stolen, 60), Renewal::lost);
  EXPECT_EQ(owner_->complete(*held, finished_of(*held)), Completion::accepted);
}

TEST_F(PostgresRoles, HalfAPairIsNeitherStoredNorGivenBack) {
  auto campaign = campaign_of(2, 2);
  campaign.name = "pairs";
  campaign.lockstep = true;
  const auto pairs = owner_->plan(campaign, false).campaign;
  owner_->allow(agent_, Right::agent, pairs);
  const auto store = open_store(as(agent_), Access::write);
  const auto whole = store->lease(request_of(pairs));
  ASSERT_EQ(whole->runs.size(), 2u);
  for (const auto& run : whole->runs) {
    auto half = *whole;
    half.runs = {run};
    for (const bool again : {false, true}) {
      auto finished = finished_of(half);
      finished[0].again = again;
      EXPECT_EQ(store->complete(half, finished), Completion::stale);
    }
    store->release(half);
    EXPECT_EQ(store->renew(half, 60), Renewal::lost);
  }
  EXPECT_EQ(text_of(owner_->progress(pairs)), "runs 4 ready 2 leased 2 done 0 failed 0 set_aside 0");
  EXPECT_EQ(store->complete(*whole, finished_of(*whole)), Completion::accepted);
  EXPECT_TRUE(owner_->lease(request_of(pairs))) << "the next pair can be taken";
}

TEST_F(PostgresRoles, OnlyAnAgentOfTheSameRoleSaysThatAnOwnerIsDead) {
  const auto store = open_store(as(agent_), Access::write);
  ASSERT_TRUE(store->lease(request_of(mine_, 300)));
  const auto held = store->lease(request_of(mine_, 300));
  auto lying = request_of(mine_, 400);
  lying.is_dead = [](const Owner&) { return true; };
  const auto other = server_->fresh_role();
  owner_->allow(other, Right::agent, mine_);
  EXPECT_FALSE(open_store(as(other), Access::write)->lease(lying));
  EXPECT_EQ(store->renew(*held, 60), Renewal::held);
  EXPECT_TRUE(open_store(as(agent_), Access::write)->lease(lying));
}

TEST_F(PostgresRoles, NoLockOfAnAgentHoldsUpPlanning) {
  Connection connection(locate(as(agent_)), false);
  connection.execute(
      "SELECT pg_advisory_lock(x) FROM generate_series(1, 100) AS x; SELECT pg_advisory_lock(1347174734)",
      "testing");  // "PLAN", which planning took before
  EXPECT_EQ(refusal(agent_, "SELECT version FROM assay.store FOR UPDATE"), ErrorKind::failure);
  EXPECT_EQ(owner_->plan(campaign_of(1, 3), false).new_runs, 1);
}

/// A role that is a member of `group`.
std::string member_of(const TestServer& server, const std::string& role, const std::string& group) {
  Connection(locate(server.url("postgres")), false).execute("GRANT " + group + " TO " + role, "testing");
  return role;
}

TEST_F(PostgresRoles, AMemberOfAGroupHasItsRights) {
  const auto group = server_->fresh_role();
  const auto agent = member_of(*server_, server_->fresh_role(), group);
  owner_->allow(group, Right::agent, mine_);
  const auto store = open_store(as(agent), Access::write);
  ASSERT_EQ(store->campaigns().size(), 1u);
  EXPECT_EQ(store->campaigns()[0].id, mine_);
  const auto lease = store->lease(request_of(mine_));
  ASSERT_TRUE(lease);
  EXPECT_EQ(store->complete(*lease, finished_of(*lease)), Completion::accepted);
  EXPECT_THROW((void)store->lease(request_of(other_)), Error);

  const auto readers = server_->fresh_role();
  const auto reader = member_of(*server_, server_->fresh_role(), readers);
  owner_->allow(readers, Right::reader, "");
  EXPECT_EQ(open_store(as(reader), Access::read)->campaigns().size(), 2u);
  owner_->forbid(group);
  EXPECT_THROW((void)store->lease(request_of(mine_)), Error);
}

TEST_F(PostgresRoles, ARoleWithoutRightsIsNamedWithWhatItsOwnerIsToRun) {
  const auto group = server_->fresh_role();
  owner_->allow(group, Right::agent, "");
  // Without INHERIT a member has no right of its group by itself.
  const auto stranger = member_of(*server_, server_->fresh_role(), group);
  Connection(locate(server_->url("postgres")), false).execute("ALTER ROLE " + stranger + " NOINHERIT", "testing");
  try {
    open_store(as(stranger), Access::write);
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failure);
    EXPECT_THAT(error.what(), HasSubstr("role " + stranger + " may not do that"));
    EXPECT_THAT(error.what(), HasSubstr("`assay store allow agent " + stranger + "`"));
  }
}

TEST_F(PostgresRoles, ARoleThatIsGoneIsInNobodysWay) {
  const auto gone = server_->fresh_role();
  owner_->allow(gone, Right::agent, mine_);
  Connection owner(locate(url_), false);
  owner.execute("DROP OWNED BY " + gone + "; DROP ROLE " + gone, "testing");
  EXPECT_EQ(owner.integer("SELECT count(*) FROM assay.access WHERE role = $1", "asking", gone), 1);
  const auto store = open_store(as(agent_), Access::write);
  EXPECT_EQ(store->campaigns().size(), 1u);
  EXPECT_TRUE(store->lease(request_of(mine_)));
}

/// Functions that run as the owner, and of those the ones that look for names where others can put some.
std::pair<std::int64_t, std::int64_t> definers(Connection& connection) {
  const std::string owners_own =
      "SELECT count(*) FROM pg_proc WHERE pronamespace = 'assay'::regnamespace AND prosecdef";
  return {connection.integer(owners_own, "asking"),
          connection.integer(owners_own + " AND NOT coalesce('search_path=assay, pg_temp' = ANY (proconfig), false)",
                             "asking")};
}

TEST_F(PostgresRoles, EveryFunctionThatRunsAsTheOwnerLooksForNamesInTheStoreAlone) {
  Connection connection(locate(url_), false);
  EXPECT_GE(definers(connection).first, 9);
  EXPECT_EQ(definers(connection).second, 0);
  connection.execute("CREATE FUNCTION assay.careless() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
                     "testing");
  EXPECT_EQ(definers(connection).second, 1);  // one without is seen
}

TEST_F(PostgresRoles, NoFunctionIsForEverybody) {
  const auto stranger = server_->fresh_role();
  Connection connection(locate(url_), false);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM pg_proc WHERE pronamespace = 'assay'::regnamespace AND "
                               "has_function_privilege($1, oid, 'EXECUTE')",
                               "asking", stranger),
            0);
}

}  // namespace
}  // namespace assay::store
