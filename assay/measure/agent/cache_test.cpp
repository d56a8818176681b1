#include "assay/measure/agent/cache.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

TEST(Cache, WhatWasUsedLongestAgoGoesFirst) {
  const fs::path root = fs::path(testing::TempDir()) / "cache_test";
  fs::remove_all(root);
  plan::WorkerInfo worker;
  worker.name = "w";
  worker.release = "1";
  const fs::path folder = cache_of(root, worker).value();
  const auto now = fs::file_time_type::clock::now();
  for (const int age : {1, 2, 3}) {
    const auto file = folder / std::to_string(age);
    std::ofstream(file) << std::string(100, 'x');
    fs::last_write_time(file, now - std::chrono::hours(age));
  }
  trim_cache(root, 250);
  EXPECT_TRUE(fs::exists(folder / "1"));
  EXPECT_TRUE(fs::exists(folder / "2"));
  EXPECT_FALSE(fs::exists(folder / "3"));
  trim_cache(root, 0);
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(root);
}

TEST(Cache, WithoutAPlaceNothingIsKept) {
  EXPECT_FALSE(cache_of({}, {}));
  EXPECT_FALSE(cache_of("/proc/no_such_place", {}));
}

}  // namespace
}  // namespace assay::measure
