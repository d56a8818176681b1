#include <gmock/gmock.h>

#include "assay/store/stores/postgres/postgres.hpp"
#include "assay/store/stores/postgres/server_fixture.hpp"

namespace assay::store {
namespace {

using postgres::Connection;
using postgres::TestServer;

/// A store in a database for which its administrator has set what he likes.
class PostgresSessions : public testing::Test {
 protected:
  void SetUp() override {
    server_ = TestServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "there is no PostgreSQL server here";
    url_ = server_->fresh_database();
    name_ = url_.substr(url_.find("@/") + 2, url_.find('?') - url_.find("@/") - 2);
  }

  void administer(const std::string& sql) const {
    Connection(locate(server_->url("postgres")), false).execute(sql, "testing");
  }
  /// For every session from now on.
  void set(const std::string& setting) const { administer("ALTER DATABASE " + name_ + " SET " + setting); }
  std::int64_t ask(const std::string& sql) const { return Connection(locate(url_), true).integer(sql, "asking"); }

  TestServer* server_ = nullptr;
  std::string url_;
  std::string name_;
};

/// One run that is planned, taken, kept, done and read.
void use(Store& store, const std::string& name) {
  auto campaign = campaign_of(1, 1);
  campaign.name = name;
  const auto id = store.plan(campaign, false).campaign;
  store.put_platform(name, {{"cpus", 2}});
  const auto lease = store.lease(request_of(id));
  ASSERT_TRUE(lease);
  EXPECT_EQ(store.renew(*lease, 60), Renewal::held);
  auto record = rich_record_of(*lease);
  record.summary.samples_per_second = 1.0 / 3;  // all digits of it
  EXPECT_EQ(store.complete(*lease, {{record, false}}), Completion::accepted);
  int records = 0;
  store.records({.campaign = id}, [&](const Record& read) {
    ++records;
    record.writer = read.writer;  // which the store has added
    EXPECT_EQ(text_of(read), text_of(record));
  });
  EXPECT_EQ(records, 1);
  EXPECT_EQ(text_of(store.progress(id)), "runs 1 ready 0 leased 0 done 1 failed 1 set_aside 0");
  store.put_artifact("model", name, {{"a", 1}});
  EXPECT_EQ(store.artifacts("model").size(), 1u);
  store.remove_artifact("model", name);
}

TEST_F(PostgresSessions, WhatIsSetForADatabaseDoesNoHarm) {
  for (const char* setting :
       {"search_path TO nowhere, pg_catalog", "bytea_output TO escape", "extra_float_digits TO -15",
        "default_transaction_read_only TO on", "synchronous_commit TO off", "TimeZone TO 'Asia/Kathmandu'",
        "default_transaction_isolation TO serializable", "IntervalStyle TO iso_8601"}) {
    set(setting);
  }
  use(*open_store(url_, Access::create), "hostile");
  EXPECT_EQ(open_store(url_, Access::read)->campaigns().size(), 1u);
}

TEST_F(PostgresSessions, NothingIsSetForASession) {
  const auto settings = [&](bool read_only, bool worked) {
    Connection connection(locate(url_), read_only);
    if (worked) connection.read("SELECT 1", "testing");
    auto row = connection.query(
        "SELECT string_agg(name || '=' || setting, ',' ORDER BY name) FROM pg_settings WHERE source = 'session'",
        "asking");
    row.step();
    return row.get<std::optional<std::string>>(0).value_or("");
  };
  EXPECT_EQ(settings(false, true), settings(false, false));
  use(*open_store(url_, Access::create), "plain");
  Connection connection(locate(url_), false);
  { postgres::Transaction(connection, "testing").commit(); }
  EXPECT_EQ(connection.integer("SELECT count(*) FROM pg_settings WHERE source = 'session'", "asking"), 0);
}

TEST_F(PostgresSessions, WhatIsCommittedIsOnTheDiskWhateverIsSet) {
  open_store(url_, Access::create);
  // Notes, when a transaction is about to commit, whether it will wait for the disk.
  Connection(locate(url_), false)
      .execute(
          "CREATE TABLE assay.noted(what text, setting text); "
          "CREATE FUNCTION assay.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO assay.noted VALUES "
          "(tg_table_name, current_setting('synchronous_commit')); RETURN NULL; END $$; "
          "CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON assay.run DEFERRABLE INITIALLY DEFERRED FOR EACH "
          "ROW EXECUTE FUNCTION assay.note(); "
          "CREATE CONSTRAINT TRIGGER note AFTER INSERT ON assay.record DEFERRABLE INITIALLY DEFERRED FOR EACH "
          "ROW EXECUTE FUNCTION assay.note(); "
          "CREATE CONSTRAINT TRIGGER note AFTER INSERT ON assay.platform DEFERRABLE INITIALLY DEFERRED FOR EACH "
          "ROW EXECUTE FUNCTION assay.note(); "
          "CREATE CONSTRAINT TRIGGER note AFTER INSERT OR DELETE ON assay.artifact DEFERRABLE INITIALLY DEFERRED FOR "
          "EACH ROW EXECUTE FUNCTION assay.note()",
          "planting");
  for (const std::string setting : {"off", "on", "local", "remote_apply"}) {
    set("synchronous_commit TO " + setting);
    use(*open_store(url_, Access::write), setting);
    const std::string expected = setting == "off" ? "on" : setting;
    // Planned, taken, renewed, done; its record; its platform; an artifact and its end.
    EXPECT_EQ(ask("SELECT count(*) FROM assay.noted WHERE setting = '" + expected + "'"), 8) << setting;
    EXPECT_EQ(ask("SELECT count(*) FROM assay.noted"), 8) << setting;
    Connection(locate(url_), false).execute("BEGIN READ WRITE; TRUNCATE assay.noted; COMMIT", "testing");
  }
}

TEST_F(PostgresSessions, TheTimeThatAServerIsUpBeginsAgainWhenNobodyRemembersIt) {
  open_store(url_, Access::create);
  Connection connection(locate(url_), false);
  const std::string kUp = "SELECT assay.up_since_ms()";
  const auto first = connection.integer(kUp, "asking");
  EXPECT_GE(first,
            connection.integer("SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint", "asking"));
  EXPECT_LE(first, connection.integer("SELECT assay.now_ms()", "asking"));
  EXPECT_EQ(connection.integer(kUp, "asking"), first);
  // A server that comes out of a recovery has emptied the table.
  const auto before = connection.integer("SELECT assay.now_ms()", "asking");
  connection.execute("TRUNCATE assay.up", "testing");
  EXPECT_GE(connection.integer(kUp, "asking"), before);
  server_->kill_all();
  server_->start();
  EXPECT_EQ(ask("SELECT count(*) FROM assay.up"), 0) << "a crash empties it";
}

}  // namespace
}  // namespace assay::store
