// What happens when the disk fails. The faults are real ones of the operating system, or those of a disk that is
// planted below SQLite: this file replaces fdatasync and fsync for the whole test program.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "assay/store/store_fixture.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace {
std::atomic<bool> sync_fails = false;
std::atomic<int> write_errno = 0;

int sync_or_fail(long call, int file) {
  if (sync_fails) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(call, file));
}

ssize_t write_or_fail(int file, const void* bytes, size_t size, off64_t offset) {
  if (write_errno != 0) {
    errno = write_errno;
    return -1;
  }
  return pwrite64(file, bytes, size, offset);
}
}  // namespace

extern "C" int fdatasync(int file) {
  return sync_or_fail(SYS_fdatasync, file);
}
extern "C" int fsync(int file) {
  return sync_or_fail(SYS_fsync, file);
}

namespace assay::store {
namespace {

using testing::HasSubstr;

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    store_ = open_store((folder_.path() / "assay.db").string(), Access::create);
    campaign_ = store_->plan(campaign_of(1, 3), false).campaign;
    lease_ = *store_->lease(request_of(campaign_));
  }

  void TearDown() override {
    sync_fails = false;
    set_write_errno(0);
  }

  /// Makes every write of SQLite fail with `error`; 0 ends it.
  static void set_write_errno(int error) {
    sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
    const auto replacement = error == 0 ? nullptr : reinterpret_cast<sqlite3_syscall_ptr>(write_or_fail);
    for (const char* name : {"pwrite64", "pwrite", "write"}) vfs->xSetSystemCall(vfs, name, replacement);
    write_errno = error;
  }

  /// Completing fails with `kind`, and nothing of it has happened.
  std::string expect_refused(ErrorKind kind) {
    try {
      (void)store_->complete(lease_, finished_of(lease_));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "the record was taken for stored";
    return "";
  }

  /// The fault is over: the same connection takes the same result, once.
  void expect_goes_on() {
    EXPECT_TRUE(store_->runs({}).empty()) << "half of a failed call was stored";
    EXPECT_EQ(store_->complete(lease_, finished_of(lease_)), Completion::accepted);
    EXPECT_EQ(store_->runs({}).size(), 1u);
    const auto again = open_store((folder_.path() / "assay.db").string(), Access::write);
    EXPECT_EQ(text_of(again->progress(campaign_)), "runs 3 ready 2 leased 0 done 1 failed 0 set_aside 0");
    EXPECT_TRUE(again->lease(request_of(campaign_)));
  }

  ScratchFolder folder_;
  std::unique_ptr<Store> store_;
  std::string campaign_;
  Lease lease_;
};

TEST_F(Faults, AFullDiskIsSaidAndTheStoreGoesOnWhenThereIsSpace) {
  set_write_errno(ENOSPC);
  const auto message = expect_refused(ErrorKind::no_space);
  EXPECT_THAT(message, HasSubstr("the disk that holds the store is full"));
  EXPECT_THAT(message, HasSubstr("free space, then run the same command again: nothing finished is lost"));
  EXPECT_THAT(message, HasSubstr("assay.db"));
  EXPECT_THROW((void)store_->lease(request_of(campaign_)), Error);
  EXPECT_THROW(store_->put_platform("p", {}), Error);
  set_write_errno(0);
  expect_goes_on();
}

TEST_F(Faults, AQuotaIsAFullDisk) {
  set_write_errno(EDQUOT);
  expect_refused(ErrorKind::no_space);
  set_write_errno(0);
  expect_goes_on();
}

TEST_F(Faults, ALimitOfTheFileSizeIsAFullDisk) {
  // A real limit of the kernel, at the present size of the log.
  const auto size = std::filesystem::file_size(folder_.path() / "assay.db-wal");
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit tight{size, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string message;
  try {
    (void)store_->complete(lease_, finished_of(lease_));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::no_space) message = error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, HasSubstr("full"));
  expect_goes_on();
}

TEST_F(Faults, ADiskThatDoesNotSyncIsNotTakenForDurable) {
  sync_fails = true;
  const auto message = expect_refused(ErrorKind::not_durable);
  EXPECT_THAT(message, HasSubstr("the disk refused to keep what was written"));
  EXPECT_THAT(message, testing::Not(HasSubstr("full")));
  sync_fails = false;
  expect_goes_on();
}

TEST_F(Faults, ADiskThatDoesNotWriteIsNotTakenForDurable) {
  set_write_errno(EIO);
  EXPECT_THAT(expect_refused(ErrorKind::not_durable), HasSubstr("Input/output error"));
  set_write_errno(0);
  expect_goes_on();
}

TEST_F(Faults, ADamagedFileIsSaidToBeDamaged) {
  const auto path = folder_.path() / "assay.db";
  store_.reset();
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096);  // all but the first page
    file << std::string(size - 4096, '\x5a');
  }
  try {
    const auto store = open_store(path.string(), Access::write);
    (void)store->campaigns();
    (void)store->lease(request_of(campaign_));
    FAIL() << "nothing was noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failure);
    EXPECT_THAT(error.what(), HasSubstr("damaged"));
  }
}

TEST(StoreErrors, EveryCodeHasItsKind) {
  const auto kind = [](int code, int error) { return sqlite::error_for(code, error, "f", "testing", "x").kind(); };
  EXPECT_EQ(kind(SQLITE_FULL, 0), ErrorKind::no_space);
  EXPECT_EQ(kind(SQLITE_IOERR_WRITE, ENOSPC), ErrorKind::no_space);
  EXPECT_EQ(kind(SQLITE_IOERR_SHMSIZE, ENOSPC), ErrorKind::no_space);
  EXPECT_EQ(kind(SQLITE_IOERR_WRITE, EIO), ErrorKind::not_durable);
  EXPECT_EQ(kind(SQLITE_IOERR_FSYNC, EIO), ErrorKind::not_durable);
  EXPECT_EQ(kind(SQLITE_IOERR_DIR_FSYNC, EIO), ErrorKind::not_durable);
  EXPECT_EQ(kind(SQLITE_IOERR_READ, EIO), ErrorKind::away);
  EXPECT_EQ(kind(SQLITE_CORRUPT, ENOSPC), ErrorKind::failure) << "an old errno of another call";
  EXPECT_EQ(kind(SQLITE_BUSY, 0), ErrorKind::away);
}

}  // namespace
}  // namespace assay::store
