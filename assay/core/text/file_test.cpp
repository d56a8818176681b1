#include "assay/core/text/file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "assay/core/error.hpp"

namespace assay {
namespace {

class ReadFile : public testing::Test {
 protected:
  ReadFile() { std::filesystem::create_directory(folder_); }
  ~ReadFile() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path with(const std::string& text) const {
    std::ofstream(folder_ / "file", std::ios::binary) << text;
    return folder_ / "file";
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("assay-file-test-" + std::to_string(getpid()));
};

std::string bytes(std::size_t count) {
  std::string text(count, '\0');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>(i * 131 % 251);
  return text;
}

TEST_F(ReadFile, GivesAllOfItWhateverItsSize) {
  // Around the first 64 KiB, and where room has doubled twice.
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 196608, 196609, 500000}) {
    const auto text = bytes(size);
    const auto path = with(text);
    for (const std::size_t limit : {size, size + 1, std::size_t{1} << 30}) {
      EXPECT_TRUE(read_file(path, limit) == text) << size << " bytes, limit " << limit;
    }
  }
}

TEST_F(ReadFile, GivesOneByteMoreThanTheLimit) {
  const auto text = bytes(200000);
  const auto path = with(text);
  for (const std::size_t limit : {0, 1, 65535, 65536, 65537, 199999}) {
    EXPECT_TRUE(read_file(path, limit) == text.substr(0, limit + 1)) << limit;
  }
}

TEST_F(ReadFile, GivesAPartAndNoMoreThanThereIs) {
  const auto text = bytes(200000);
  const auto path = with(text);
  for (const std::size_t begin : {0, 8, 65535, 65536, 199990, 200000, 200001}) {
    for (const std::size_t length : {0, 8, 65536, 65537, 300000}) {
      const auto wanted = begin < text.size() ? text.substr(begin, length) : "";
      EXPECT_TRUE(read_file_part(path, begin, length) == wanted) << begin << ", " << length;
    }
  }
}

TEST_F(ReadFile, RefusesFoldersAndWhatIsNotThere) {
  EXPECT_THROW(read_file(folder_, 10), FileError);
  EXPECT_THROW(read_file(folder_ / "nothing", 10), FileError);
  EXPECT_THROW(read_file_part(folder_, 0, 10), FileError);
  EXPECT_THROW(read_file_part(folder_ / "nothing", 0, 10), FileError);
}

}  // namespace
}  // namespace assay
