#include "workers/mpi/replayed.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "assay/core/text/hash.hpp"

namespace assay::mpi {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMillisecond = 1'000'000;

/// Forward 4 ms, backward 8 ms; buckets ready at 6 and 12 ms; update 2 ms.
Replay two_buckets() {
  Replay replay;
  replay.network = "two";
  replay.batch = 8;
  replay.forward_seconds = 0.004;
  replay.backward_seconds = 0.008;
  replay.update_seconds = 0.002;
  replay.buckets = {{0.006, 400}, {0.012, 40}};
  return replay;
}

/// Time passes only in what is waited for.
struct PlannedClock {
  std::int64_t ns = 1'000'000'007;
  std::int64_t now_ns() const { return ns; }
  void sleep_until(std::int64_t deadline_ns) { ns = std::max(ns, deadline_ns); }
};

struct Played {
  std::vector<double> begin_ms;  ///< of each exchange, counted from the step's beginning
  Replayed took;
};

/// Where each bucket takes so many milliseconds.
Played play_with(const std::vector<std::int64_t>& travel_ms) {
  PlannedClock clock;
  const std::int64_t begin_ns = clock.ns;
  Played played;
  played.took = play(two_buckets(), clock, [&](std::size_t i) {
    played.begin_ms.push_back(static_cast<double>(clock.ns - begin_ns) / kMillisecond);
    clock.ns += travel_ms.at(i) * kMillisecond;
  });
  return played;
}

TEST(Replayed, WhatIsHiddenBehindTheBackwardPassCostsNothing) {
  // The first travels from 6 to 11. The second is ready when computing is over, at 12, and is there at 15.
  const auto played = play_with({5, 3});
  EXPECT_EQ(played.begin_ms, (std::vector<double>{6, 12}));
  EXPECT_EQ(played.took.forward_ns, 4 * kMillisecond);
  EXPECT_EQ(played.took.backward_ns, 8 * kMillisecond);
  EXPECT_EQ(played.took.communicate_ns, 3 * kMillisecond);
  EXPECT_EQ(played.took.update_ns, 2 * kMillisecond);
}

TEST(Replayed, ABucketWaitsForTheOneBeforeIt) {
  // From 6 to 26, and from there to 29: 17 ms behind the end of computing at 12.
  const auto played = play_with({20, 3});
  EXPECT_EQ(played.begin_ms, (std::vector<double>{6, 26}));
  EXPECT_EQ(played.took.backward_ns, 8 * kMillisecond);
  EXPECT_EQ(played.took.communicate_ns, 17 * kMillisecond);
}

TEST(Replayed, AStepWithoutGradientsIsComputingAlone) {
  auto replay = two_buckets();
  replay.buckets.clear();
  PlannedClock clock;
  const auto took = play(replay, clock, [](std::size_t) { FAIL(); });
  EXPECT_EQ(clock.ns - PlannedClock{}.ns, 14 * kMillisecond);
  EXPECT_EQ(took.communicate_ns, 0);
}

class ReplayFile : public testing::Test {
 protected:
  ReplayFile() : path_(std::filesystem::path(testing::TempDir()) / fmt::format("assay_{}.replay", getpid())) {
    const std::string text = to_json(two_buckets()).dump();
    std::ofstream(path_) << text;
    asked_.workload.network = path_;
    asked_.workload.mode = Mode::train;
    asked_.workload.batch = 8;
    asked_.file = worker::NetworkFile{path_, std::nullopt, hash_hex(text)};
  }
  ~ReplayFile() override { std::filesystem::remove(path_); }

  std::string refusal() const {
    try {
      static_cast<void>(read_replay(asked_));
      return "";
    } catch (const worker::Refused& error) {
      return error.what();
    }
  }

  std::filesystem::path path_;
  worker::Prepare asked_;
};

TEST_F(ReplayFile, IsReadAsItWasPlanned) {
  EXPECT_EQ(to_json(read_replay(asked_)), to_json(two_buckets()));
}

TEST_F(ReplayFile, OneThatHasChangedIsRefused) {
  std::ofstream(path_, std::ios::app) << "\n";
  EXPECT_THAT(refusal(), HasSubstr("has changed"));
}

TEST_F(ReplayFile, AnotherWorkloadIsRefusedByName) {
  asked_.workload.batch = 4;
  EXPECT_THAT(refusal(), HasSubstr("batch 4"));
  asked_.workload.mode = Mode::infer;
  EXPECT_THAT(refusal(), HasSubstr("mode infer"));
}

}  // namespace
}  // namespace assay::mpi
