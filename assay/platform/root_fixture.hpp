#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay::platform {

/// A folder that stands for / in a test: files as a machine would have them. Gone at the end of the test.
class FakeRoot {
 public:
  FakeRoot() : path_(testing::TempDir() + "root-" + std::to_string(getpid()) + "-" + std::to_string(++made_)) {
    std::filesystem::create_directories(path_);
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  FakeRoot& file(const std::string& name, const std::string& text) {
    const auto whole = path_ / name;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << text;
    return *this;
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  static inline int made_ = 0;
  std::filesystem::path path_;
};

}  // namespace assay::platform
