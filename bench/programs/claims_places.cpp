#include "bench/programs/claims_places.hpp"

#include <sqlite3.h>

#include <array>
#include <cstring>

#include "assay/store/stores/postgres/postgres.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::bench {
namespace {

namespace fs = std::filesystem;
using store::Access;
using store::sqlite::Database;
using store::sqlite::SqliteStore;
using store::sqlite::Statement;

constexpr const char* kDoing = "looking at the store";

class SqlitePlace : public Place {
 public:
  explicit SqlitePlace(const fs::path& folder)
      : file_(folder / "assay.db"), made_(folder / "made.db"), saved_(folder / "saved.db") {
    open();
    close();
    fs::copy_file(file_, made_);
    open();
  }

  store::Store& store(std::size_t) override { return *store_; }
  bool lasting() const override { return false; }

  void empty() override { put_back(made_); }
  void restore() override { put_back(saved_); }

  void save() override {
    reader_->execute("PRAGMA wal_checkpoint(TRUNCATE)", kDoing);
    fs::copy_file(file_, saved_, fs::copy_options::overwrite_existing);
  }

  const Clock& clock() const override { return clock_; }
  void set(const Clock& clock) override {
    const bool rebooted = clock.boot != clock_.boot;
    clock_ = clock;
    if (!rebooted) return;
    close();
    open();
  }

  std::vector<StoredRow> runs(const std::string& campaign) override {
    Statement row(*reader_,
                  "SELECT run.key, trial.id, run.idx, run.attempt FROM run JOIN trial ON trial.key = run.trial JOIN "
                  "campaign ON campaign.key = run.campaign WHERE campaign.id = ?1",
                  kDoing);
    std::vector<StoredRow> out;
    for (row.bind(campaign); row.step();) out.push_back(named(row));
    return out;
  }

  std::vector<StoredRow> records(const std::string& campaign) override {
    Statement row(
        *reader_,
        "SELECT run.key, trial.id, run.idx, record.attempt, record.counted, record.duration_ns, "
        "record.samples FROM record JOIN run ON run.key = record.run JOIN trial ON trial.key = run.trial JOIN "
        "campaign ON campaign.key = run.campaign WHERE campaign.id = ?1",
        kDoing);
    std::vector<StoredRow> out;
    for (row.bind(campaign); row.step();) {
      auto one = named(row);
      one.counted = row.get<bool>(4);
      one.value = row.get<std::int64_t>(5);
      const auto bytes = row.get<std::string>(6);
      one.samples.resize(bytes.size() / 8);
      std::memcpy(one.samples.data(), bytes.data(), one.samples.size() * 8);
      out.push_back(std::move(one));
    }
    return out;
  }

 private:
  static StoredRow named(const Statement& row) {
    StoredRow one;
    one.run = row.get<std::int64_t>(0);
    one.trial = row.get<std::string>(1);
    one.index = row.get<std::int64_t>(2);
    one.attempt = row.get<std::int64_t>(3);
    return one;
  }

  void open() {
    store_ = std::make_unique<SqliteStore>(file_, Access::create,
                                           store::sqlite::LeaseClock{clock_.boot, [this] { return clock_.now_ms; }});
    reader_ = std::make_unique<Database>(file_, Access::write);
  }

  void close() {
    reader_.reset();
    store_.reset();
  }

  void put_back(const fs::path& copy) {
    close();
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(file_.string() + suffix);
    fs::copy_file(copy, file_, fs::copy_options::overwrite_existing);
    open();
  }

  fs::path file_;
  fs::path made_;
  fs::path saved_;
  Clock clock_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Database> reader_;
};

// What the place adds to a database. `saved` gives all tables and the next keys as JSON, `restore` takes them back.
constexpr const char* kOurs = R"(
CREATE SCHEMA bench;
CREATE TABLE bench.clock (now_ms bigint NOT NULL, up_ms bigint NOT NULL);
INSERT INTO bench.clock VALUES (0, 0);
CREATE OR REPLACE FUNCTION assay.now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT now_ms FROM bench.clock';
CREATE FUNCTION bench.started() RETURNS timestamptz LANGUAGE sql AS 'SELECT to_timestamp(up_ms / 1000.0) FROM bench.clock';
DO $$
DECLARE v_function regprocedure;
BEGIN
  FOR v_function IN SELECT oid FROM pg_proc WHERE pronamespace = 'assay'::regnamespace
      AND prosrc LIKE '%pg_postmaster_start_time()%' LOOP
    EXECUTE replace(pg_get_functiondef(v_function), 'pg_postmaster_start_time()', 'bench.started()');
  END LOOP;
  IF NOT FOUND THEN RAISE EXCEPTION 'no function asks when the server was started'; END IF;
END $$;
-- Where the store notes since when the server is up, a failover empties that note.
CREATE FUNCTION bench.fail_over() RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  IF to_regclass('assay.up') IS NOT NULL THEN DELETE FROM assay.up; END IF;
  RETURN 1;
END $$;
CREATE FUNCTION bench.saved() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_table text;
  v_rows json;
  v_all jsonb := '{}';
BEGIN
  FOR v_table IN SELECT tablename FROM pg_tables WHERE schemaname = 'assay' LOOP
    EXECUTE format('SELECT coalesce(json_agg(t), ''[]'') FROM assay.%I AS t', v_table) INTO v_rows;
    v_all := v_all || jsonb_build_object(v_table, v_rows);
  END LOOP;
  RETURN v_all || jsonb_build_object(' keys', (SELECT jsonb_object_agg(sequencename, coalesce(last_value, 0))
    FROM pg_sequences WHERE schemaname = 'assay'));
END $$;
CREATE FUNCTION bench.restore(a_all jsonb) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE v_table text;
BEGIN
  SET LOCAL session_replication_role = replica;
  FOR v_table IN SELECT tablename FROM pg_tables WHERE schemaname = 'assay' LOOP
    EXECUTE format('DELETE FROM assay.%I', v_table);
    EXECUTE format('INSERT INTO assay.%I OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::assay.%I, $1)',
      v_table, v_table) USING a_all -> v_table;
  END LOOP;
  PERFORM setval(format('assay.%I', key), greatest(value::bigint, 1), value::bigint > 0)
    FROM jsonb_each_text(a_all -> ' keys');
  RETURN 1;
END $$;
)";

class PostgresPlace : public Place {
 public:
  explicit PostgresPlace(const std::string& url) : connection_(made(url), false) {
    connection_.execute(kOurs, kDoing);
    set(clock_);
    for (auto& one : stores_) one = store::open_store(url, Access::write);
    save();
    made_ = saved_;
  }

  store::Store& store(std::size_t agent) override { return *stores_.at(agent); }
  bool lasting() const override { return true; }

  void empty() override { put_back(made_); }
  void restore() override { put_back(saved_); }

  void save() override {
    auto row = connection_.query("SELECT bench.saved()", kDoing);
    ASSAY_CHECK(row.step());
    saved_ = row.get<std::string>(0);
  }

  const Clock& clock() const override { return clock_; }
  void set(const Clock& clock) override {
    if (clock.boot != clock_.boot) connection_.query("SELECT bench.fail_over()", kDoing);
    clock_ = clock;
    connection_.query("UPDATE bench.clock SET now_ms = $1, up_ms = $2", kDoing, clock.now_ms, clock.up_ms);
  }

  std::vector<StoredRow> runs(const std::string& campaign) override {
    auto row = connection_.query(
        "SELECT run.key, trial.id, run.idx, run.attempt FROM assay.run JOIN assay.trial ON trial.key = run.trial JOIN "
        "assay.campaign ON campaign.key = run.campaign WHERE campaign.id = $1",
        kDoing, campaign);
    std::vector<StoredRow> out;
    while (row.step()) out.push_back(named(row));
    return out;
  }

  std::vector<StoredRow> records(const std::string& campaign) override {
    auto row = connection_.query(
        "SELECT run.key, trial.id, run.idx, record.attempt, record.counted, record.duration_ns, record.samples FROM "
        "assay.record JOIN assay.run ON run.key = record.run JOIN assay.trial ON trial.key = run.trial JOIN "
        "assay.campaign ON campaign.key = run.campaign WHERE campaign.id = $1",
        kDoing, campaign);
    std::vector<StoredRow> out;
    while (row.step()) {
      auto one = named(row);
      one.counted = row.get<bool>(4);
      one.value = row.get<std::int64_t>(5);
      const auto bytes = row.bytes(6);
      one.samples.resize(bytes.size() / 8);
      std::memcpy(one.samples.data(), bytes.data(), one.samples.size() * 8);
      out.push_back(std::move(one));
    }
    return out;
  }

 private:
  /// Makes the store before our own connection looks at it.
  static store::Location made(const std::string& url) {
    store::open_store(url, Access::create);
    return store::locate(url);
  }

  static StoredRow named(const store::postgres::Result& row) {
    StoredRow one;
    one.run = row.get<std::int64_t>(0);
    one.trial = row.get<std::string>(1);
    one.index = row.get<std::int64_t>(2);
    one.attempt = row.get<std::int64_t>(3);
    return one;
  }

  void put_back(const std::string& copy) {
    connection_.query("SELECT bench.restore($1)", kDoing, store::postgres::Encoded{copy});
  }

  store::postgres::Connection connection_;
  Clock clock_;
  std::array<std::unique_ptr<store::Store>, kAgents> stores_;
  std::string made_;
  std::string saved_;
};

}  // namespace

std::unique_ptr<Place> sqlite_place(const fs::path& folder) {
  return std::make_unique<SqlitePlace>(folder);
}

std::unique_ptr<Place> postgres_place(const std::string& url) {
  return std::make_unique<PostgresPlace>(url);
}

}  // namespace assay::bench
