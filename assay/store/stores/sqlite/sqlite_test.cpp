#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "assay/store/records/record_columns.hpp"
#include "assay/store/store_fixture.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::store {

// Every test of the suite, on SQLite.
const auto kSqlite = testing::Values(
    StoreFactory{"sqlite", [](const std::filesystem::path& folder) { return (folder / "assay.db").string(); }});
const auto kName = [](const testing::TestParamInfo<StoreFactory>& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Sqlite, StoreSuite, kSqlite, kName);

namespace {

using sqlite::boot_clock;
using sqlite::Database;
using sqlite::LeaseClock;
using sqlite::SqliteStore;
using sqlite::Statement;
using testing::HasSubstr;

class SqliteFile : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name = "assay.db") const { return folder_.path() / name; }

  std::string contents(const std::string& name = "assay.db") const {
    std::ifstream file(path(name), std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }

  /// Runs SQL on the file without Assay's checks.
  void plant(const std::string& sql) const {
    Database database(path(), Access::create);
    database.execute(sql.c_str(), "planting");
  }

  std::int64_t ask(const char* sql) const { return Database(path(), Access::read).integer(sql, "asking"); }

  /// The error of opening, which must be of `kind`.
  std::string refusal(const std::string& location, Access access, ErrorKind kind) const {
    try {
      open_store(location, access);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << location << " was opened";
    return "";
  }

  ScratchFolder folder_;
};

TEST_F(SqliteFile, AStoreIsDurableAndMarkedAsOurs) {
  const SqliteStore store(path(), Access::create);
  Database database(path(), Access::write);
  EXPECT_EQ(database.integer("PRAGMA synchronous", ""), 2);
  EXPECT_EQ(database.integer("PRAGMA foreign_keys", ""), 1);
  EXPECT_EQ(database.integer("PRAGMA application_id", ""), 0x41535359);
  EXPECT_EQ(database.integer("PRAGMA user_version", ""), static_cast<std::int64_t>(sqlite::migrations().size()));
  Statement mode(database, "PRAGMA journal_mode", "");
  ASSERT_TRUE(mode.step());
  EXPECT_EQ(mode.get<std::string>(0), "wal");
}

TEST_F(SqliteFile, TheListOfColumnsIsThatOfTheTable) {
  open_store(path(), Access::create);
  Database database(path(), Access::read);
  Statement row(database,
                "SELECT group_concat(name, ', ') FROM pragma_table_info('record') WHERE name NOT IN ('key', 'run')",
                "asking");
  ASSERT_TRUE(row.bind().step());
  EXPECT_EQ(with_record_columns("{names}"), row.get<std::string>(0));
}

TEST_F(SqliteFile, WhatIsNoFileIsRefusedAsUsage) {
  for (const auto access : {Access::create, Access::write}) {
    EXPECT_THAT(refusal("mysql://me:secret@host/db", access, ErrorKind::usage), testing::Not(HasSubstr("secret")));
  }
  EXPECT_THAT(refusal("mysql://host/db", Access::create, ErrorKind::usage), HasSubstr("mysql"));
  EXPECT_THAT(refusal("file:///tmp/x.db", Access::create, ErrorKind::usage), HasSubstr("file path"));
  EXPECT_THAT(refusal("", Access::create, ErrorKind::usage), HasSubstr("empty"));
  EXPECT_THAT(refusal(std::string("a\0b", 3), Access::create, ErrorKind::usage), HasSubstr("NUL"));
  EXPECT_THAT(refusal(folder_.path().string(), Access::create, ErrorKind::usage), HasSubstr("folder"));
  EXPECT_THAT(refusal(path("no/such/folder.db").string(), Access::create, ErrorKind::usage), HasSubstr("no/such"));
  for (const auto access : {Access::read, Access::write}) {
    EXPECT_THAT(refusal(path().string(), access, ErrorKind::usage), HasSubstr("there is no store"));
  }
  EXPECT_FALSE(std::filesystem::exists(path())) << "looking made a file";
}

TEST_F(SqliteFile, AFifoIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  for (const auto access : {Access::create, Access::write, Access::read}) {
    EXPECT_THAT(refusal(path().string(), access, ErrorKind::usage), HasSubstr("not a regular file"));
  }
}

TEST_F(SqliteFile, OddNamesAreNamesOfFiles) {
  for (const std::string name : {"file:x?mode=memory", ":memory:", "50%23 #1?.db"}) {
    const auto old = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
    open_store(name, Access::create)->put_platform("p", {});
    EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
    EXPECT_TRUE(open_store(name, Access::read)->platform("p")) << name;
    std::filesystem::current_path(old);
  }
}

TEST_F(SqliteFile, AFileOfAnotherProgramIsRefusedAndLeftAlone) {
  plant("CREATE TABLE notes(text); INSERT INTO notes VALUES ('mine')");
  std::ofstream(path("plain.txt")) << std::string(5000, 'a');
  for (const std::string name : {"assay.db", "plain.txt"}) {
    const auto before = contents(name);
    for (const auto access : {Access::create, Access::write, Access::read}) {
      EXPECT_THAT(refusal(path(name).string(), access, ErrorKind::failure), HasSubstr("not an Assay store"));
    }
    EXPECT_EQ(contents(name), before);
  }
}

TEST_F(SqliteFile, AStoreOfANewerAssayIsRefusedAndLeftAlone) {
  { const SqliteStore store(path(), Access::create); }
  plant("PRAGMA user_version = 99");
  const auto before = contents();
  for (const auto access : {Access::create, Access::write, Access::read}) {
    EXPECT_THAT(refusal(path().string(), access, ErrorKind::failure), HasSubstr("was written by a newer Assay"));
  }
  EXPECT_EQ(contents(), before);
}

TEST_F(SqliteFile, AnOlderStoreIsBroughtUpToDateWithAllItHolds) {
  { SqliteStore(path(), Access::create).put_platform("p1", {{"cpus", 2}}); }
  sqlite::Migrations steps = sqlite::migrations();
  steps.push_back("ALTER TABLE platform ADD COLUMN seen_utc TEXT");
  steps.push_back("CREATE TABLE planet(name TEXT); INSERT INTO planet VALUES ('earth')");
  EXPECT_THROW(SqliteStore(path(), Access::read, boot_clock(), steps), Error) << "reading must not change the file";
  {
    SqliteStore store(path(), Access::write, boot_clock(), steps);
    EXPECT_EQ(store.platform("p1"), json({{"cpus", 2}}));
  }
  EXPECT_EQ(ask("PRAGMA user_version"), static_cast<std::int64_t>(steps.size()));
  EXPECT_EQ(ask("SELECT count(*) FROM planet"), 1);
  { const SqliteStore store(path(), Access::write, boot_clock(), steps); }
  EXPECT_EQ(ask("SELECT count(*) FROM planet"), 1) << "a step was taken twice";
  EXPECT_THAT(refusal(path().string(), Access::write, ErrorKind::failure), HasSubstr("newer Assay"));
}

TEST_F(SqliteFile, AStoreFromBeforeGroupsIsReadAsItIs) {
  { SqliteStore(path(), Access::create).put_platform("p1", {{"cpus", 2}}); }
  plant("PRAGMA user_version = 2");  // the same tables
  EXPECT_EQ(SqliteStore(path(), Access::read).platform("p1"), json({{"cpus", 2}}));
  EXPECT_EQ(ask("PRAGMA user_version"), 2) << "reading must not change the file";
  { const SqliteStore store(path(), Access::write); }
  EXPECT_EQ(ask("PRAGMA user_version"), 3);
  plant("PRAGMA user_version = 1");
  EXPECT_THAT(refusal(path().string(), Access::read, ErrorKind::failure), HasSubstr("written by an older Assay"));
}

TEST_F(SqliteFile, AMigrationThatFailsChangesNothing) {
  { const SqliteStore store(path(), Access::create); }
  sqlite::Migrations steps = sqlite::migrations();
  steps.push_back("CREATE TABLE planet(name TEXT)");
  steps.push_back("INSERT INTO nowhere VALUES (1)");
  EXPECT_THROW(SqliteStore(path(), Access::write, boot_clock(), steps), Error);
  EXPECT_EQ(ask("PRAGMA user_version"), static_cast<std::int64_t>(sqlite::migrations().size()));
  EXPECT_EQ(ask("SELECT count(*) FROM sqlite_master WHERE name = 'planet'"), 0);
}

/// Two agents on one host, whose clock the test sets.
class SqliteClock : public SqliteFile {
 protected:
  void SetUp() override {
    store_ = std::make_unique<SqliteStore>(path(), Access::create, clock_of("boot-1"));
    campaign_ = store_->plan(campaign_of(1, 1), false).campaign;
  }
  LeaseClock clock_of(const std::string& boot) {
    return {boot, [this] { return now_ms_; }};
  }

  std::int64_t now_ms_ = 1'000'000;
  std::unique_ptr<SqliteStore> store_;
  std::string campaign_;
};

TEST_F(SqliteClock, ALeaseEndsWhenTheHostHasBeenUpForItsLength) {
  const auto lease = *store_->lease(request_of(campaign_, 100, 60));
  now_ms_ += 59'999;
  EXPECT_FALSE(store_->lease(request_of(campaign_, 200)));
  now_ms_ += 1;
  EXPECT_TRUE(store_->lease(request_of(campaign_, 200)));
  EXPECT_EQ(store_->renew(lease, 60), Renewal::lost);
}

TEST_F(SqliteClock, ALeaseOfAnotherBootEndsAfterItsLengthOnThisOnesClock) {
  const auto lease = *store_->lease(request_of(campaign_, 100, 60));
  store_.reset();
  now_ms_ = 5;  // the machine was started again, and its clock with it
  SqliteStore rebooted(path(), Access::write, clock_of("boot-2"));
  EXPECT_FALSE(rebooted.lease(request_of(campaign_, 200)));
  now_ms_ += 59'999;
  EXPECT_FALSE(rebooted.lease(request_of(campaign_, 200)));
  EXPECT_THROW(rebooted.drop(campaign_), Error) << "it is still held";
  now_ms_ += 1;
  EXPECT_TRUE(rebooted.lease(request_of(campaign_, 200)));
}

TEST_F(SqliteClock, AFileThatVanishedOrWasReplacedIsNoticedBeforeAnAnswer) {
  const auto lease = *store_->lease(request_of(campaign_));
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path().string() + suffix);
  try {
    (void)store_->complete(lease, finished_of(lease));
    ADD_FAILURE() << "the file is gone";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::away);
    EXPECT_THAT(error.what(), HasSubstr("removed or replaced"));
  }
  { const SqliteStore another(path(), Access::create); }
  EXPECT_THROW((void)store_->complete(lease, finished_of(lease)), Error) << "another store is in its place";
  EXPECT_EQ(ask("SELECT count(*) FROM record"), 0);
}

TEST_F(SqliteFile, ReadingLeavesTheFileUnchanged) {
  {
    SqliteStore store(path(), Access::create);
    store.plan(campaign_of(2, 2), false);
  }
  const auto before = contents();
  {
    const auto store = open_store(path().string(), Access::read);
    EXPECT_EQ(store->campaigns().size(), 1u);
    EXPECT_THROW(store->put_platform("p1", {}), Error);
    EXPECT_THROW(store->plan(campaign_of(1, 1), false), Error);
  }
  EXPECT_EQ(contents(), before);
}

TEST_F(SqliteFile, AReaderSeesWhatARunningWriterStored) {
  SqliteStore writer(path(), Access::create);
  writer.put_platform("p1", {});
  const auto reader = open_store(path().string(), Access::read);
  EXPECT_TRUE(reader->platform("p1"));
  writer.put_platform("p2", {});
  EXPECT_TRUE(reader->platform("p2"));
}

/// Makes the scratch folder unwritable even for root, which gives up its rights meanwhile.
class Unwritable {
 public:
  explicit Unwritable(const std::filesystem::path& folder) : folder_(folder) {
    chmod(folder.c_str(), 0555);
    root_ = geteuid() == 0;
    if (root_ && seteuid(65534) != 0) root_ = false;
  }
  ~Unwritable() {
    if (root_ && seteuid(0) != 0) ADD_FAILURE() << "still not root again";
    chmod(folder_.c_str(), 0755);
  }

 private:
  std::filesystem::path folder_;
  bool root_ = false;
};

TEST_F(SqliteFile, AStoreInAFolderThatCannotBeWrittenIsReadable) {
  SqliteStore(path(), Access::create).put_platform("p1", {});
  ASSERT_FALSE(std::filesystem::exists(path("assay.db-wal")));
  const Unwritable guard(folder_.path());
  EXPECT_TRUE(open_store(path().string(), Access::read)->platform("p1"));
}

TEST_F(SqliteFile, ChangesInALogThatCannotBeReadAreNotIgnored) {
  SqliteStore writer(path(), Access::create);
  writer.put_platform("p1", {});
  // What a killed writer leaves: the file and its log, without the shared index.
  const ScratchFolder copy;
  const auto target = copy.path() / "assay.db";
  std::filesystem::copy_file(path(), target);
  std::filesystem::copy_file(path("assay.db-wal"), copy.path() / "assay.db-wal");
  const Unwritable guard(copy.path());
  try {
    EXPECT_TRUE(open_store(target.string(), Access::read)->platform("p1")) << "the change in the log was ignored";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("assay.db-wal holds changes"));
  }
}

TEST_F(SqliteFile, TheViewResultShowsCountedRecordsWithoutDecoding) {
  SqliteStore store(path(), Access::create);
  const auto campaign = campaign_of(1, 2);
  const auto id = store.plan(campaign, false).campaign;
  auto first = store.lease(request_of(id));
  ASSERT_EQ(store.complete(*first, finished_of(*first, true)), Completion::accepted);
  first = store.lease(request_of(id));
  ASSERT_EQ(store.complete(*first, {{rich_record_of(*first), false}}), Completion::accepted);

  Database database(path(), Access::read);
  Statement row(database,
                "SELECT campaign, campaign_name, trial, network, mode, batch, precision, worker, release, settings, "
                "\"index\", attempt, outcome, trusted, platform, started_utc, n, steady_from, median_ns, p90_ns, "
                "p99_ns, samples_per_second, peak_memory_bytes FROM result",
                "");
  ASSERT_TRUE(row.step());
  const std::vector<std::string> expected{id,
                                          "suite",
                                          trial_id(campaign.trials[0]),
                                          "toy",
                                          "infer",
                                          "1",
                                          "fp32",
                                          "fake",
                                          "1.0.0",
                                          R"({"intra_op":2})",
                                          "0",
                                          "1",
                                          "failed",
                                          "0",
                                          "p1",
                                          "2026-01-02T03:04:05.678Z",
                                          "3",
                                          "1",
                                          "20",
                                          "30",
                                          "31",
                                          "50.5",
                                          "3003"};  // 1000 + 1001 + 1002
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(row.get<std::string>(static_cast<int>(i)), expected[i]);
  EXPECT_FALSE(row.step()) << "the attempt set aside is not a result";
}

TEST_F(SqliteFile, SamplesAreLittleEndianIntegersOfAllRanks) {
  SqliteStore store(path(), Access::create);
  const auto id = store.plan(campaign_of(1, 1), false).campaign;
  const auto lease = store.lease(request_of(id));
  const auto record = rich_record_of(*lease);
  ASSERT_EQ(store.complete(*lease, {{record, false}}), Completion::accepted);
  Database database(path(), Access::read);
  Statement row(database, "SELECT samples, json FROM record", "");
  ASSERT_TRUE(row.step());
  std::string expected;
  for (const auto& rank : record.ranks) {
    for (const auto sample : rank.samples_ns) {
      for (int byte = 0; byte < 8; ++byte) expected += static_cast<char>(sample >> (8 * byte) & 0xff);
    }
  }
  EXPECT_EQ(row.get<std::string>(0), expected);
  const auto body = json::parse(row.get<std::string>(1));
  EXPECT_EQ(body.at("ranks").at(2).at("samples"), 5);
  EXPECT_FALSE(body.at("ranks").at(2).contains("samples_ns"));
}

TEST_F(SqliteFile, WhatRecordsShareIsStoredOnce) {
  SqliteStore store(path(), Access::create);
  const auto id = store.plan(campaign_of(1, 20), false).campaign;
  while (const auto lease = store.lease(request_of(id))) {
    auto record = rich_record_of(*lease);
    record.state["load"] = static_cast<double>(record.index);  // differs from run to run
    ASSERT_EQ(store.complete(*lease, {{record, false}}), Completion::accepted);
  }
  EXPECT_EQ(ask("SELECT count(*) FROM content"), 3) << "packages, versions, effective settings";
  EXPECT_EQ(ask("SELECT count(*) FROM record WHERE json LIKE '%xxxxxxxx%'"), 0);
}

TEST_F(SqliteFile, ProgressAgreesWithTheRowsAfterAnyMixOfCalls) {
  SqliteStore store(path(), Access::create);
  auto campaign = campaign_of(4, 10);
  const auto id = store.plan(campaign, false).campaign;
  for (int i = 0; i < 100; ++i) {
    const auto lease = store.lease(request_of(id, 1, i % 3 == 0 ? 0 : 60));
    if (!lease) break;
    auto finished = finished_of(*lease, i % 5 == 0);
    if (i % 4 == 0) finished[0].record.outcome.kind = OutcomeKind::crashed;
    if (i % 7 == 0) {
      store.release(*lease);
    } else if (i % 6 != 0) {
      ASSERT_EQ(store.complete(*lease, finished), Completion::accepted);
    }
    if (i == 50) store.plan((campaign.runs = 12, campaign), false);
  }
  const auto progress = store.progress(id);
  EXPECT_EQ(progress.runs, ask("SELECT count(*) FROM run"));
  EXPECT_EQ(progress.ready, ask("SELECT count(*) FROM run WHERE state = 0"));
  EXPECT_EQ(progress.leased, ask("SELECT count(*) FROM run WHERE state = 1"));
  EXPECT_EQ(progress.done, ask("SELECT count(*) FROM record WHERE counted = 1"));
  EXPECT_EQ(progress.failed, ask("SELECT count(*) FROM record WHERE counted = 1 AND outcome <> 'ok'"));
  EXPECT_EQ(progress.set_aside, ask("SELECT count(*) FROM record WHERE counted = 0"));
  EXPECT_GT(progress.failed, 0);
  EXPECT_GT(progress.set_aside, 0);
}

}  // namespace
}  // namespace assay::store
