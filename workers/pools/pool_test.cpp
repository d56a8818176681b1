#include "workers/pools/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workers/common/worker.hpp"

namespace assay::pools {
namespace {

using testing::HasSubstr;

class Pools : public testing::TestWithParam<std::string> {};

TEST_P(Pools, RunEveryTaskOnce) {
  for (const int threads : {1, 2, 3}) {
    const auto pool = make_pool(GetParam(), threads);
    for (const std::int64_t work : {0, 50}) {
      Tasks tasks(GetParam() == "spawn" ? 100 : 3000, work);
      for (std::int64_t times = 1; times <= 3; ++times) {
        pool->run(tasks);
        EXPECT_NO_THROW(tasks.check(times)) << threads << " threads";
      }
    }
    EXPECT_EQ(pool->threads(), threads);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pools, testing::ValuesIn(pool_names()), [](const auto& tested) { return tested.param; });

std::string complaint(const Tasks& tasks, std::int64_t times) {
  try {
    tasks.check(times);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

// The planted mistakes: a pool that loses its last task, and one that runs its first twice.
TEST(Pool, ATaskThatIsLostOrRunTwiceIsSeen) {
  for (const std::int64_t work : {0, 50}) {
    Tasks lost(5, work), twice(5, work);
    for (std::int64_t i = 0; i < 4; ++i) lost.run(i);
    for (const std::int64_t i : {0, 0, 1, 2, 3, 4}) twice.run(i);
    EXPECT_EQ(complaint(lost, 1), "task 4 of 5 did not run exactly 1 times");
    EXPECT_EQ(complaint(twice, 1), "task 0 of 5 did not run exactly 1 times");
    lost.run(4);
    EXPECT_EQ(complaint(lost, 1), "");
  }
}

// Tasks that have run once have not run twice, and tasks that have not run have not run once, with or without work.
TEST(Pool, RunsAreCounted) {
  Tasks tasks(2, 1), idle(2, 0);
  tasks.run(0);
  tasks.run(1);
  EXPECT_EQ(complaint(tasks, 1), "");
  EXPECT_NE(complaint(tasks, 2), "");
  EXPECT_NE(complaint(idle, 1), "");
}

TEST(Pool, AnUnknownOneIsRefusedByName) {
  try {
    make_pool("banana", 1);
    FAIL();
  } catch (const worker::Refused& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("TASK_POOL 'banana': there is eigen, openmp, queue, spawn, tbb."));
  }
}

}  // namespace
}  // namespace assay::pools
