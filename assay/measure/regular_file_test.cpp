#include "assay/process/regular_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "assay/core/error.hpp"
#include "assay/measure/rank/sync.hpp"
#include "assay/measure/run_directory.hpp"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

/// A folder for the files of one test.
class RegularFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-regular-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  template <typename Call>
  static std::string refusal(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

// What waits for a FIFO never ends here: nobody opens the other end.
TEST_F(RegularFile, AFifoIsRefusedWhetherItIsReadOrWritten) {
  const auto path = folder_ / "fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_CREAT | O_TRUNC}) {
    const auto opened = process::open_regular(path, flags);
    EXPECT_FALSE(opened.file) << flags;
    EXPECT_EQ(opened.reason, "it is a FIFO, not a regular file") << flags;
  }
  EXPECT_EQ(process::read_regular(path, 100), std::nullopt);
  EXPECT_EQ(refusal([&] { write_file(path, "text"); }),
            "cannot write " + path.string() + ": it is a FIFO, not a regular file. Remove it.");
}

TEST_F(RegularFile, ALinkIsNotFollowed) {
  const auto target = folder_ / "target";
  std::ofstream(target) << "mine";
  const auto path = folder_ / "link";
  fs::create_symlink(target, path);
  EXPECT_EQ(process::read_regular(path, 100), std::nullopt);
  EXPECT_NE(refusal([&] { write_file(path, "text"); }).find("it is a symbolic link"), std::string::npos);
  EXPECT_EQ(process::read_regular(target, 100), "mine");
}

TEST_F(RegularFile, AFileIsOpenedAndItsReadsWait) {
  const auto path = folder_ / "file";
  EXPECT_EQ(process::open_regular(path, O_RDONLY).error, ENOENT);
  const process::Fd made = process::open_or_fail(path, O_WRONLY | O_CREAT, "write");
  EXPECT_EQ(fcntl(made.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(made.get(), F_GETFD) & FD_CLOEXEC, 0);
  write_file(path, "four");
  EXPECT_EQ(process::read_regular(path, 4), "four");
  EXPECT_EQ(process::read_regular(path, 3), std::nullopt);
}

TEST_F(RegularFile, FilesOfARunAreNotWaitedForEither) {
  ASSERT_EQ(mkfifo((folder_ / "run.json").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((folder_ / "sync").c_str(), 0600), 0);
  EXPECT_NE(refusal([&] { read_order(folder_); }), "");
  EXPECT_NE(refusal([&] { const Sync sync(folder_); }).find("FIFO"), std::string::npos);
}

class OwnFolder : public RegularFile {
 protected:
  fs::path there() const { return folder_ / ("assay-" + std::to_string(getuid())); }
  std::string refused() const {
    return refusal([&] { own_folder(folder_); });
  }
};

TEST_F(OwnFolder, IsMadePrivateAndTakenAgain) {
  EXPECT_EQ(own_folder(folder_), there());
  struct stat status {};
  ASSERT_EQ(stat(there().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_EQ(own_folder(folder_), there());
}

TEST_F(OwnFolder, OfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder to another user";
  fs::create_directory(there());
  ASSERT_EQ(chown(there().c_str(), 65534, 65534), 0);
  EXPECT_NE(refused().find("belongs to another user. Name a folder of your own"), std::string::npos) << refused();
}

TEST_F(OwnFolder, ThatOthersCanWriteIsRefused) {
  fs::create_directory(there());
  for (const auto others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(there(), fs::perms::owner_all | others);
    EXPECT_NE(refused().find("can be written by other users"), std::string::npos) << refused();
  }
}

TEST_F(OwnFolder, AsALinkIsRefused) {
  fs::create_directory(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", there());
  EXPECT_NE(refused().find("is not a folder"), std::string::npos) << refused();
}

}  // namespace
}  // namespace assay::measure
