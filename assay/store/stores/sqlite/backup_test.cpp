#include "assay/store/backup.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "assay/store/store_fixture.hpp"
#include "assay/store/stores/sqlite/database.hpp"

namespace assay::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Backup : public testing::Test {
 protected:
  fs::path path(const std::string& name = "assay.db") const { return folder_.path() / name; }

  /// Makes a store with `records` finished runs of ten.
  std::string make_store(const fs::path& place, int records) const {
    const auto store = open_store(place.string(), Access::create);
    const auto id = store->plan(campaign_of(1, 10), false).campaign;
    for (int i = 0; i < records; ++i) finish_one(*store, id);
    return id;
  }

  static void finish_one(Store& store, const std::string& campaign) {
    const auto lease = store.lease(request_of(campaign));
    ASSERT_TRUE(lease);
    ASSERT_EQ(store.complete(*lease, finished_of(*lease)), Completion::accepted);
  }

  static std::int64_t records_in(const fs::path& place) {
    return static_cast<std::int64_t>(open_store(place.string(), Access::read)->runs({}).size());
  }

  static std::string uuid_of(const fs::path& place) { return open_store(place.string(), Access::read)->uuid(); }

  static std::string refusal(const std::function<void()>& call, ErrorKind kind) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
  }

  /// Files that are there, but for what those leave who only read: an index of the log, and an empty log.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const auto name = entry.path().filename().string();
      if (!name.ends_with("-shm") && !(name.ends_with("-wal") && entry.file_size() == 0)) out.push_back(name);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  ScratchFolder folder_;
};

// A plain copy of the file fails here: while the store is open, what was written last is in its log alone.
TEST_F(Backup, ACopyHoldsAllThatIsStoredThoughTheStoreIsOpen) {
  const auto store = open_store(path().string(), Access::create);
  const auto id = store->plan(campaign_of(1, 10), false).campaign;
  for (int i = 0; i < 3; ++i) finish_one(*store, id);
  const auto copied = back_up(path().string(), path("copy.db"));
  EXPECT_EQ(copied.records, 3);
  EXPECT_EQ(copied.uuid, store->uuid());
  EXPECT_EQ(copied.bytes, static_cast<std::int64_t>(fs::file_size(path("copy.db"))));
  finish_one(*store, id);
  EXPECT_EQ(records_in(path("copy.db")), 3);
  EXPECT_EQ(uuid_of(path("copy.db")), store->uuid());
  EXPECT_EQ(text_of(open_store(path("copy.db").string(), Access::read)->progress(id)),
            "runs 10 ready 7 leased 0 done 3 failed 0 set_aside 0");
}

TEST_F(Backup, ACopyMadeWhileAnAgentWritesIsOneMomentOfTheStore) {
  const auto store = open_store(path().string(), Access::create);
  const auto id = store->plan(campaign_of(1, 5000), false).campaign;
  std::atomic<std::int64_t> stored = 0;
  std::atomic<bool> enough = false;
  std::thread agent([&] {
    const auto own = open_store(path().string(), Access::write);
    while (!enough) {
      finish_one(*own, id);
      ++stored;
    }
  });
  for (int i = 1; i <= 3; ++i) {
    const auto before = stored.load();
    while (stored == before) std::this_thread::yield();
    const auto copy = path("copy" + std::to_string(i));
    const auto copied = back_up(path().string(), copy);
    EXPECT_GT(copied.records, before);
    // The count that triggers keep and the rows are of the same moment.
    EXPECT_EQ(open_store(copy.string(), Access::read)->progress(id).done, copied.records);
    EXPECT_EQ(records_in(copy), copied.records);
  }
  enough = true;
  agent.join();
}

TEST_F(Backup, ABackupReplacesNothingAndLeavesNothingBehind) {
  make_store(path(), 1);
  std::ofstream(path("copy.db")) << "mine";
  EXPECT_THAT(refusal([&] { back_up(path().string(), path("copy.db")); }, ErrorKind::usage),
              HasSubstr("there is a file already"));
  EXPECT_EQ(fs::file_size(path("copy.db")), 4u);
  std::ofstream(path("text")) << std::string(5000, 'a');
  refusal([&] { back_up(path("text").string(), path("new.db")); }, ErrorKind::failure);
  refusal([&] { back_up(path("nowhere.db").string(), path("new.db")); }, ErrorKind::usage);
  EXPECT_THAT(names(), testing::ElementsAre("assay.db", "copy.db", "text"));
}

TEST_F(Backup, ACopyIsReadableByThoseWhoReadTheStore) {
  make_store(path(), 1);
  fs::permissions(path(), static_cast<fs::perms>(0640));
  back_up(path().string(), path("copy.db"));
  EXPECT_EQ(fs::status(path("copy.db")).permissions(), static_cast<fs::perms>(0640));
}

TEST_F(Backup, ABackupTakesAnEmptyPlaceOnly) {
  const auto id = make_store(path(), 2);
  back_up(path().string(), path("copy.db"));
  EXPECT_THAT(refusal([&] { restore(path("copy.db"), path().string(), false); }, ErrorKind::usage),
              HasSubstr("--replace"));
  const auto restored = restore(path("copy.db"), path("new.db").string(), false);
  EXPECT_EQ(restored.copied.records, 2);
  EXPECT_TRUE(restored.aside.empty());
  EXPECT_EQ(uuid_of(path("new.db")), uuid_of(path()));
  finish_one(*open_store(path("new.db").string(), Access::write), id);  // it can be worked with
  EXPECT_EQ(records_in(path("new.db")), 3);
  EXPECT_EQ(records_in(path("copy.db")), 2);
}

TEST_F(Backup, WhatReadersHaveLeftIsNoStore) {
  make_store(path(), 2);
  back_up(path().string(), path("copy.db"));
  ASSERT_EQ(records_in(path()), 2);
  ASSERT_TRUE(fs::exists(path("assay.db-shm")));
  fs::remove(path());
  restore(path("copy.db"), path().string(), false);
  EXPECT_FALSE(fs::exists(path("assay.db-shm")));
  EXPECT_FALSE(fs::exists(path("copy.db-shm"))) << "a backup is left as it was";
  EXPECT_EQ(records_in(path()), 2);
}

TEST_F(Backup, AStoreThatIsReplacedIsKeptUnderAnotherName) {
  const auto id = make_store(path(), 2);
  back_up(path().string(), path("copy.db"));
  finish_one(*open_store(path().string(), Access::write), id);
  const auto restored = restore(path("copy.db"), path().string(), true);
  EXPECT_THAT(names(), testing::ElementsAre("assay.db", restored.aside.filename().string(), "copy.db"))
      << "nothing is left beside them";
  EXPECT_THAT(restored.aside.filename().string(), testing::StartsWith("assay.db.replaced-"));
  EXPECT_EQ(records_in(path()), 2);
  EXPECT_EQ(records_in(restored.aside), 3);
}

TEST_F(Backup, AStoreThatSomebodyUsesIsNotReplaced) {
  const auto id = make_store(path(), 2);
  back_up(path().string(), path("copy.db"));
  const auto agent = open_store(path().string(), Access::write);
  finish_one(*agent, id);
  refusal([&] { restore(path("copy.db"), path().string(), true); }, ErrorKind::away);
  finish_one(*agent, id);
  EXPECT_EQ(records_in(path()), 4);
}

// SQLite would play a log that is left into whatever file has the name: the restored store would be damaged.
TEST_F(Backup, ALogThatIsLeftIsNotPlayedIntoTheRestoredStore) {
  const auto id = make_store(path(), 2);
  back_up(path().string(), path("copy.db"));
  {
    const auto open = open_store(path().string(), Access::write);
    for (int i = 0; i < 5; ++i) finish_one(*open, id);
    ASSERT_GT(fs::file_size(path("assay.db-wal")), 0u);
    fs::copy_file(path("assay.db-wal"), path("kept"));
  }
  fs::remove(path());
  fs::rename(path("kept"), path("assay.db-wal"));
  refusal([&] { restore(path("copy.db"), path().string(), false); }, ErrorKind::usage);
  const auto restored = restore(path("copy.db"), path().string(), true);
  EXPECT_TRUE(fs::exists(restored.aside.string() + "-wal"));
  EXPECT_EQ(records_in(path()), 2);
}

TEST_F(Backup, ADamagedStoreIsReplaced) {
  make_store(path(), 2);
  back_up(path().string(), path("copy.db"));
  std::ofstream(path()) << std::string(5000, 'a');
  const auto restored = restore(path("copy.db"), path().string(), true);
  EXPECT_EQ(records_in(path()), 2);
  EXPECT_EQ(fs::file_size(restored.aside), 5000u);
}

TEST_F(Backup, ADamagedBackupIsRefusedAndNothingIsChanged) {
  make_store(path(), 2);
  back_up(path().string(), path("copy.db"));
  {
    // All pages but the first: what holds the tables.
    std::fstream file(path("copy.db"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    const auto rest = fs::file_size(path("copy.db")) - 4096;
    const std::string noise(rest, '\x7f');
    file.write(noise.data(), static_cast<std::streamsize>(rest));
  }
  refusal([&] { restore(path("copy.db"), path().string(), true); }, ErrorKind::failure);
  EXPECT_EQ(records_in(path()), 2);
  EXPECT_THAT(names(), testing::ElementsAre("assay.db", "copy.db"));
}

}  // namespace
}  // namespace assay::store
