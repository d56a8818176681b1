#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/store/store.hpp"

namespace assay::store {

/// A kind of store under test. Every kind passes the same suite (TEST_P of StoreSuite in store_*_test.cpp).
struct StoreFactory {
  std::string name;
  /// Location of a store that is not there yet; `folder` is empty and removed after the test. Empty where such stores
  /// cannot be made here: the test is skipped.
  std::function<std::string(const std::filesystem::path& folder)> fresh_location;
};

/// An empty folder that lives as long as the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

plan::Campaign campaign_of(std::int64_t trials, std::int64_t runs, bool lockstep = false);
LeaseRequest request_of(const std::string& campaign, std::int64_t pid = 100, double seconds = 60);

/// A small record that fits run `i` of the lease.
Record record_of(const Lease& lease, std::size_t i = 0);
/// A record with several ranks, phases, layers and every optional field set somewhere.
Record rich_record_of(const Lease& lease, std::size_t i = 0);

/// One Finished for each run of the lease.
std::vector<Finished> finished_of(const Lease& lease, bool again = false);

class StoreSuite : public testing::TestWithParam<StoreFactory> {
 protected:
  void SetUp() override;

  /// Another connection to the same store.
  std::unique_ptr<Store> connect(Access access = Access::write) const;
  /// Takes the next run; there must be one.
  Lease take(const std::string& campaign, std::int64_t pid = 100, double seconds = 60);
  std::vector<Record> records(const Filter& filter);
  /// Runs SQL of another program on the store.
  void plant(const std::string& sql) const;

  ScratchFolder folder_;
  std::string location_;
  std::unique_ptr<Store> store_;
};

/// The whole of two records, for EXPECT_EQ.
std::string text_of(const Record& record);
std::string text_of(const Progress& progress);

}  // namespace assay::store
