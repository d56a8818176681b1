#include <gmock/gmock.h>

#include "assay/store/stores/postgres/postgres.hpp"
#include "assay/store/stores/postgres/server_fixture.hpp"

namespace assay::store {
namespace {

using postgres::Connection;
using postgres::PostgresStore;
using postgres::TestServer;
using testing::HasSubstr;

/// A database in which two roles may make schemas: `team_`, which is to own the store, and `mallory_`.
class PostgresOwnership : public testing::Test {
 protected:
  void SetUp() override {
    server_ = TestServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "there is no PostgreSQL server here";
    url_ = server_->fresh_database();
    const auto name = url_.substr(url_.find("@/") + 2, url_.find('?') - url_.find("@/") - 2);
    team_ = server_->fresh_role();
    mallory_ = server_->fresh_role();
    say("assay", "GRANT CREATE ON DATABASE " + name + " TO " + team_ + ", " + mallory_);
    say("assay", "GRANT CREATE ON SCHEMA public TO " + mallory_);
  }

  std::string as(const std::string& role) const {
    std::string url = url_;
    return url.replace(url.find("assay@"), 6, role + "@");
  }
  void say(const std::string& role, const std::string& sql) const {
    Connection(locate(as(role)), false).execute(sql, "testing");
  }
  std::int64_t ask(const std::string& sql) const { return Connection(locate(url_), true).integer(sql, "asking"); }

  std::string refusal(const std::string& role, Access access) const {
    try {
      open_store(as(role), access);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failure) << error.what();
      return error.what();
    }
    ADD_FAILURE() << role << " opened it";
    return "";
  }

  TestServer* server_ = nullptr;
  std::string url_;
  std::string team_;
  std::string mallory_;
};

TEST_F(PostgresOwnership, ASchemaThatSomebodyElseMadeFirstIsNotUsed) {
  say(mallory_, "CREATE SCHEMA assay; GRANT ALL ON SCHEMA assay TO PUBLIC");
  EXPECT_THAT(refusal(team_, Access::create), HasSubstr("not safe to use"));
  say(mallory_, "REVOKE ALL ON SCHEMA assay FROM PUBLIC");
  for (const auto& role : {team_, std::string("assay")}) {
    EXPECT_THAT(refusal(role, Access::create), HasSubstr("belongs to role " + mallory_));
  }
  EXPECT_EQ(ask("SELECT count(*) FROM pg_class WHERE relnamespace = 'assay'::regnamespace"), 0) << "nothing was made";
}

TEST_F(PostgresOwnership, AnEmptySchemaOfOnesOwnWillDo) {
  say("assay", "CREATE SCHEMA assay AUTHORIZATION " + team_);
  EXPECT_EQ(open_store(as(team_), Access::create)->plan(campaign_of(1, 1), false).new_runs, 1);
}

TEST_F(PostgresOwnership, ASuperuserRunsNoCodeOfAnotherRole) {
  { const auto store = open_store(as(mallory_), Access::create); }
  // It would run with the rights of whoever plans.
  say(mallory_,
      "CREATE FUNCTION assay.trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN EXECUTE format('ALTER ROLE %I "
      "SUPERUSER', "
      "'" +
          mallory_ +
          "'); RETURN NEW; END $$; "
          "CREATE TRIGGER trap BEFORE INSERT ON assay.campaign FOR EACH ROW EXECUTE FUNCTION assay.trap()");
  for (const auto access : {Access::read, Access::write, Access::create}) {
    EXPECT_THAT(refusal("assay", access), HasSubstr("rights of the superuser assay"));
  }
}

TEST_F(PostgresOwnership, AStoreOfAnotherRoleIsNotWrittenToButByFunctions) {
  const auto owner = open_store(as(mallory_), Access::create);
  const auto id = owner->plan(campaign_of(1, 1), false).campaign;
  // A trigger would run with the rights of whoever plans.
  say(mallory_, "GRANT ALL ON ALL TABLES IN SCHEMA assay TO PUBLIC; GRANT USAGE ON SCHEMA assay TO PUBLIC");
  EXPECT_THAT(refusal(team_, Access::create), HasSubstr("role " + team_ + " may not plan here"));
  const auto store = open_store(as(team_), Access::write);
  for (const std::function<void()>& call : {std::function<void()>([&] { store->plan(campaign_of(2, 1), false); }),
                                            {[&] { store->drop(id); }},
                                            {[&] { store->put_artifact("model", "h", {}); }},
                                            {[&] { store->remove_artifact("model", "h"); }},
                                            {[&] { store->allow(team_, Right::agent, ""); }},
                                            {[&] { store->forbid(team_); }}}) {
    try {
      call();
      ADD_FAILURE() << "done";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("only the owner of the store may"));
    }
  }
}

TEST_F(PostgresOwnership, WhatOthersPutIntoAStoreIsSeen) {
  open_store(as(team_), Access::create)->plan(campaign_of(1, 1), false);
  say(team_, "GRANT USAGE, CREATE ON SCHEMA assay TO " + mallory_);
  EXPECT_THAT(refusal(team_, Access::write), HasSubstr("the role " + mallory_ + " may make objects in it"));
  say(mallory_, "CREATE FUNCTION assay.lease(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'");
  say(team_, "REVOKE CREATE ON SCHEMA assay FROM " + mallory_);
  for (const auto access : {Access::read, Access::write, Access::create}) {
    EXPECT_THAT(refusal(team_, access), HasSubstr("the function lease(text) belongs to " + mallory_));
  }
  say(mallory_, "DROP FUNCTION assay.lease(text)");
  say(team_, "GRANT TRIGGER ON assay.run TO " + mallory_);
  say(mallory_,
      "CREATE FUNCTION public.trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; "
      "CREATE TRIGGER trap AFTER UPDATE ON assay.run FOR EACH ROW EXECUTE FUNCTION public.trap()");
  EXPECT_THAT(refusal(team_, Access::write), HasSubstr("calls a function of another schema"));
  say(team_, "DROP TRIGGER trap ON assay.run");
  EXPECT_EQ(open_store(as(team_), Access::write)->campaigns().size(), 1u);
}

TEST_F(PostgresOwnership, AFunctionThatRunsWithAnAgentsOwnRightsIsRefused) {
  open_store(as(team_), Access::create)->allow(mallory_, Right::agent, "");
  EXPECT_EQ(open_store(as(mallory_), Access::write)->campaigns().size(), 0u);
  say(team_, "ALTER FUNCTION assay.renew SECURITY INVOKER");
  EXPECT_THAT(refusal(mallory_, Access::write), HasSubstr("runs with the rights of whoever calls it"));
}

TEST_F(PostgresOwnership, AMemberOfTheOwnerBringsAStoreUpToDateForTheOwner) {
  const postgres::Migrations first{postgres::migrations()[0]};
  { const PostgresStore made(locate(as(team_)), Access::create, first); }
  const auto agent = server_->fresh_role();
  PostgresStore(locate(as(team_)), Access::write, first).allow(agent, Right::agent, "");
  EXPECT_THAT(refusal(agent, Access::write), HasSubstr("Let its owner, role " + team_));
  const auto person = server_->fresh_role();
  say("assay", "GRANT " + team_ + " TO " + person);
  EXPECT_EQ(open_store(as(person), Access::write)->plan(campaign_of(1, 1), false).new_runs, 1);
  EXPECT_EQ(ask("SELECT count(*) FROM pg_class WHERE relnamespace = 'assay'::regnamespace AND relowner <> '" + team_ +
                "'::regrole"),
            0);
  EXPECT_TRUE(
      open_store(as(agent), Access::write)->lease(request_of(open_store(as(team_), Access::read)->campaigns()[0].id)));
}

}  // namespace
}  // namespace assay::store
