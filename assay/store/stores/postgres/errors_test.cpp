#include "assay/store/stores/postgres/errors.hpp"

#include <gmock/gmock.h>

#include "assay/store/stores/postgres/postgres.hpp"
#include "assay/store/stores/postgres/server_fixture.hpp"

namespace assay::store {
namespace {

using postgres::error_for;
using postgres::TestServer;
using testing::HasSubstr;

ErrorKind kind_of(const char* state, bool has_worked = true) {
  return error_for(state, "x", {"s", "testing", "me", has_worked}).kind();
}

TEST(PostgresErrors, WhatTimeMayMendIsAway) {
  // From the table of error codes in PostgreSQL's manual: connections, shutting down and starting, cancelled
  // statements, resources, databases that take no connections, disks, internal errors, standbys, collisions, and what a
  // pooler that lost a session or a server that is being restored would say.
  for (const char* away : {"",      "08000", "08001", "08006", "08P01", "57014", "57P01", "57P02", "57P03", "57P04",
                           "57P05", "53000", "53100", "53200", "53300", "53400", "55000", "55006", "55P03", "58000",
                           "58030", "58P01", "XX000", "XX001", "XX002", "25006", "25P02", "25P03", "40001", "40P01",
                           "26000", "34000", "0A000", "42P01", "42883", "3F000", "72000", "F0000", "HV000"}) {
    EXPECT_EQ(kind_of(away), ErrorKind::away) << away;
    EXPECT_EQ(kind_of(away, false), ErrorKind::away) << away;
  }
}

TEST(PostgresErrors, AMissingRightAndDataThatIsNotTakenStayAsTheyAre) {
  for (const char* failure : {"42501", "22021", "22P05", "23505", "23514", "42601", "54000", "P0001"}) {
    EXPECT_EQ(kind_of(failure), ErrorKind::failure) << failure;
  }
  EXPECT_EQ(kind_of("42704"), ErrorKind::usage);
  EXPECT_EQ(kind_of("P0002"), ErrorKind::usage);
}

TEST(PostgresErrors, AWrongPasswordIsAMistakeAtFirstAndAMatterOfTimeLater) {
  for (const char* state : {"28000", "28P01", "3D000"}) {
    EXPECT_EQ(kind_of(state, false), ErrorKind::failure) << state;
    EXPECT_EQ(kind_of(state, true), ErrorKind::away) << state;
  }
}

TEST(PostgresErrors, AMessageNamesTheStateAndIsOneLine) {
  const std::string message = error_for("53100", "no space\n\tleft.\n", {"s", "storing a record", ""}).what();
  EXPECT_THAT(message, HasSubstr("the disk that holds the store is full"));
  EXPECT_THAT(message, HasSubstr("(while storing a record; PostgreSQL: no space  left, state 53100)."));
}

TEST(PostgresErrors, AMissingRightNamesTheRoleAndWhatItsOwnerIsToRun) {
  const std::string message = error_for("42501", "permission denied", {"s", "taking a run", "ci_7"}).what();
  EXPECT_THAT(message, HasSubstr("role ci_7 may not do that"));
  EXPECT_THAT(message, HasSubstr("`assay store allow agent ci_7`"));
}

TEST(PostgresErrors, TheStateOfTheHostThatWasTriedLastIsFound) {
  using postgres::state_in;
  const std::string refused =
      "connection to server at \"a\" (10.0.0.1), port 5432 failed: Connection refused\n"
      "\tIs the server running on that host?\n";
  const std::string wrong =
      "connection to server at \"b\" (10.0.0.2), port 5432 failed: FATAL:  28P01: password "
      "authentication failed for user \"me\"\nLOCATION:  auth_failed, auth.c:338\n";
  EXPECT_EQ(state_in(wrong), "28P01");
  EXPECT_EQ(state_in(refused + wrong), "28P01");
  EXPECT_EQ(state_in(wrong + refused), "");
  EXPECT_EQ(state_in("connection to server on socket \"/x\" failed: FATAL:  57P03: the database system is starting up"),
            "57P03");
  EXPECT_EQ(state_in("failed: FATAL:  28P01"), "");
  EXPECT_EQ(state_in(""), "");
}

/// What a server says to a command that starts, and to an agent that has worked.
class PostgresRefusals : public testing::Test {
 protected:
  void SetUp() override {
    server_ = TestServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "there is no PostgreSQL server here";
    url_ = server_->fresh_database();
    name_ = url_.substr(url_.find("@/") + 2, url_.find('?') - url_.find("@/") - 2);
    store_ = open_store(url_, Access::create);
    id_ = store_->plan(campaign_of(1, 2), false).campaign;
    lease_ = store_->lease(request_of(id_));
  }

  void administer(const std::string& sql) const {
    postgres::Connection(locate(server_->url("postgres")), false).execute(sql, "testing");
  }
  /// Ends the connections of the store.
  void cut() const {
    administer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name_ + "'");
  }

  template <typename Call>
  static Error error_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {ErrorKind::usage, ""};
  }
  Error at_first() const {
    return error_of([&] { open_store(url_, Access::write); });
  }
  Error later() {
    return error_of([&] { (void)store_->complete(*lease_, finished_of(*lease_)); });
  }

  TestServer* server_ = nullptr;
  std::string url_;
  std::string name_;
  std::unique_ptr<Store> store_;
  std::string id_;
  std::optional<Lease> lease_;
};

TEST_F(PostgresRefusals, ADatabaseThatTakesNoConnectionsIsWaitedFor) {
  administer("ALTER DATABASE " + name_ + " ALLOW_CONNECTIONS false");
  cut();
  EXPECT_EQ(later().kind(), ErrorKind::away);
  EXPECT_EQ(later().kind(), ErrorKind::away);
  const auto first = at_first();
  EXPECT_EQ(first.kind(), ErrorKind::away);
  EXPECT_THAT(first.what(), testing::AllOf(HasSubstr("55000"), HasSubstr("does not serve this database")));
  administer("ALTER DATABASE " + name_ + " ALLOW_CONNECTIONS true");
  EXPECT_EQ(store_->renew(*lease_, 60), Renewal::held);
  EXPECT_EQ(store_->complete(*lease_, finished_of(*lease_)), Completion::accepted);
}

TEST_F(PostgresRefusals, ADatabaseThatIsGoneIsAMistakeAtFirstAndWaitedForLater) {
  cut();
  administer("ALTER DATABASE " + name_ + " RENAME TO " + name_ + "_away");
  EXPECT_EQ(later().kind(), ErrorKind::away);
  const auto first = at_first();
  EXPECT_EQ(first.kind(), ErrorKind::failure);
  EXPECT_THAT(first.what(), testing::AllOf(HasSubstr("refuses the connection"), HasSubstr("3D000")));
  administer("ALTER DATABASE " + name_ + "_away RENAME TO " + name_);
  EXPECT_EQ(store_->complete(*lease_, finished_of(*lease_)), Completion::accepted);
}

TEST_F(PostgresRefusals, AServerThatSaysNothingIsAway) {
  postgres::Connection connection(locate(url_), false);
  connection.set_patience(1);
  try {
    connection.query("SELECT pg_sleep(600)", "waiting");
    ADD_FAILURE() << "it slept";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::away);
    EXPECT_THAT(error.what(), HasSubstr("no answer within 1 s"));
  }
  EXPECT_EQ(connection.integer("SELECT 7", "asking"), 7) << "on a new connection";
}

TEST_F(PostgresRefusals, AServerThatCannotWriteIsWaitedFor) {
  postgres::Connection owner(locate(url_), false);
  for (const char* state : {"53100", "58030", "25006", "57014", "XX000"}) {
    // A stand-in for a full or broken disk, a standby, a statement that took too long and a fault of the server.
    owner.execute(fmt::format("CREATE FUNCTION assay.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE "
                              "EXCEPTION 'planted' USING ERRCODE = '{}'; END $$; CREATE TRIGGER refuse AFTER INSERT ON "
                              "assay.record FOR EACH STATEMENT EXECUTE FUNCTION assay.refuse()",
                              state),
                  "planting");
    const auto error = later();
    EXPECT_EQ(error.kind(), ErrorKind::away) << state;
    EXPECT_THAT(error.what(), HasSubstr(state));
    owner.execute("DROP FUNCTION assay.refuse() CASCADE", "planting");
  }
  EXPECT_EQ(store_->complete(*lease_, finished_of(*lease_)), Completion::accepted);
}

}  // namespace
}  // namespace assay::store
