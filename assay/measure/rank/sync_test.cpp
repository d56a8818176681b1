#include "assay/measure/rank/sync.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "assay/core/clock.hpp"
#include "assay/measure/rank/turns.hpp"

namespace assay::measure {
namespace {

class SyncTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-sync-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
};

using SidesOfRound = std::vector<std::int64_t>;

SidesOfRound round_of(std::int64_t round, std::int64_t sides) {
  SidesOfRound out;
  for (std::int64_t place = 0; place < sides; ++place) out.push_back(side_of_turn(round * sides + place, sides));
  return out;
}

TEST(Turns, order_of_two_is_swapped_each_round) {
  SidesOfRound sides;
  for (std::int64_t turn = 0; turn < 8; ++turn) sides.push_back(side_of_turn(turn, 2));
  EXPECT_EQ(sides, (SidesOfRound{0, 1, 1, 0, 0, 1, 1, 0}));
}

TEST(Turns, a_round_has_each_side_once_and_begins_with_the_next_one) {
  for (std::int64_t sides = 2; sides <= 9; ++sides) {
    for (std::int64_t round = 0; round < 40; ++round) {
      auto order = round_of(round, sides);
      EXPECT_EQ(order.front(), round % sides);
      std::sort(order.begin(), order.end());
      for (std::int64_t side = 0; side < sides; ++side) EXPECT_EQ(order[static_cast<std::size_t>(side)], side);
    }
  }
}

TEST(Turns, places_neighbours_and_mirror_images_are_balanced) {
  for (std::int64_t sides = 2; sides <= 9; ++sides) {
    const std::int64_t rounds = sides % 2 == 0 ? sides : 2 * sides;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> places;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> neighbours;
    std::multiset<SidesOfRound> orders;
    std::multiset<SidesOfRound> mirrored;
    for (std::int64_t round = 0; round < rounds; ++round) {
      const auto order = round_of(round, sides);
      orders.insert(order);
      mirrored.emplace(order.rbegin(), order.rend());
      for (std::size_t place = 0; place < order.size(); ++place) {
        ++places[{order[place], static_cast<std::int64_t>(place)}];
        if (place > 0) ++neighbours[{order[place - 1], order[place]}];
      }
    }
    EXPECT_EQ(orders, mirrored) << sides << ": a steady drift would favour somebody in the median over rounds";
    for (const auto& [key, count] : places) EXPECT_EQ(count, rounds / sides) << sides;
    EXPECT_EQ(neighbours.size(), static_cast<std::size_t>(sides * (sides - 1)));
    for (const auto& [key, count] : neighbours) EXPECT_EQ(count, rounds / sides) << sides;
  }
}

TEST_F(SyncTest, all_start_after_the_last_is_prepared) {
  std::vector<std::int64_t> started(3);
  std::atomic<std::int64_t> last_prepared{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      Sync sync(directory_);
      sleep_until_ns(monotonic_ns() + static_cast<std::int64_t>(i) * 5'000'000);
      std::int64_t now = monotonic_ns();
      std::int64_t seen = last_prepared;
      while (seen < now && !last_prepared.compare_exchange_weak(seen, now)) {
      }
      sync.start_together(3, [] {});
      started[i] = monotonic_ns();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto at : started) EXPECT_GE(at, last_prepared.load());
}

TEST_F(SyncTest, two_sides_of_two_members_take_turns_until_told_to_stop) {
  std::mutex mutex;
  std::vector<std::int64_t> turns;
  std::vector<std::thread> threads;
  for (std::int64_t member = 0; member < 4; ++member) {
    threads.emplace_back([&, side = member / 2] {
      Sync sync(directory_);
      for (std::int64_t turn = 0;; ++turn) {
        if (side_of_turn(turn, 2) != side) continue;
        if (!sync.wait_turn(turn, [] {})) break;
        {
          const std::lock_guard<std::mutex> hold(mutex);
          turns.push_back(turn);
        }
        sync.end_turn(turn, 2, [&] { return turn == 9; });
      }
      EXPECT_EQ(sync.stopped_at(), 10);
    });
  }
  for (auto& thread : threads) thread.join();
  // Both members of a side once in every turn, and no turn before the one ahead of it was over.
  ASSERT_EQ(turns.size(), 20u);
  for (std::size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(turns[i], static_cast<std::int64_t>(i / 2));
}

TEST_F(SyncTest, whoever_waits_can_be_stopped_by_its_tick) {
  Sync sync(directory_);
  EXPECT_THROW(static_cast<void>(sync.wait_turn(5, [] { throw std::runtime_error("stop"); })), std::runtime_error);
}

TEST_F(SyncTest, the_first_failure_is_the_one_that_counts) {
  Sync sync(directory_);
  EXPECT_FALSE(sync.aborted_by().has_value());
  sync.abort(2);
  sync.abort(0);
  EXPECT_EQ(Sync(directory_).aborted_by(), 2);
}

TEST_F(SyncTest, a_median_so_far_is_seen_by_others_and_null_before) {
  Sync teller(directory_);
  const Sync watcher(directory_);
  EXPECT_FALSE(watcher.median_so_far());
  teller.tell_median(31'200'000);
  EXPECT_EQ(watcher.median_so_far(), 31'200'000);
  teller.tell_median(30'900'000);
  EXPECT_EQ(watcher.median_so_far(), 30'900'000);
}

}  // namespace
}  // namespace assay::measure
