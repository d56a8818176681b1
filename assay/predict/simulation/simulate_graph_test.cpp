#include "assay/predict/simulation/simulate_graph.hpp"

#include <gtest/gtest.h>

#include "assay/predict/simulation/simulate_fixture.hpp"

namespace assay::predict {
namespace {

double played(const GraphRequest& request) {
  return in_a_child([&] { return to_json(simulate_graph(request)); }).at("seconds").get<double>();
}

SimulatedTask task(std::int64_t stage, std::int64_t stream, TaskPlace place, double seconds,
                   std::vector<TaskWait> after = {}) {
  return {stage, stream, place, seconds, std::move(after)};
}

/// Two stages: the first computes 1 s, sends for 2 s, and the second computes 1 s.
GraphRequest chain() {
  GraphRequest request;
  request.stages = 2;
  request.tasks = {task(0, 0, TaskPlace::device, 1), task(0, 1, TaskPlace::across, 2, {{0, std::nullopt}}),
                   task(1, 0, TaskPlace::device, 1, {{1, std::nullopt}})};
  return request;
}

TEST(SimulateGraph, PlaysTasksAfterWhatTheyWaitForAndInTheOrderOfTheirStream) {
  auto request = chain();
  EXPECT_NEAR(played(request), 4, 1e-6);
  request.tasks.push_back(task(0, 1, TaskPlace::across, 3));  // after the 2 s on the same stream: 1 + 2 + 3
  EXPECT_NEAR(played(request), 6, 1e-6);
  request.tasks[2].after = {{0, .25}};  // begins .25 s after the first has begun
  request.tasks.pop_back();
  EXPECT_NEAR(played(request), 3, 1e-6);
}

TEST(SimulateGraph, TasksOnOneLinkShareIt) {
  GraphRequest request;
  request.tasks = {task(0, 0, TaskPlace::across, 1), task(0, 1, TaskPlace::across, 2)};
  // Half of the rate each until 1 s of both is sent, at 2 s; the other second of the longer one alone.
  EXPECT_NEAR(played(request), 3, 1e-6);
  request.tasks[1].place = TaskPlace::inside;
  EXPECT_NEAR(played(request), 2, 1e-6);
}

TEST(SimulateGraph, StragglersComputeSlowerAndBackgroundTakesItsShare) {
  auto request = chain();
  request.stragglers = {{0, 3}};
  EXPECT_NEAR(played(request), 6, 1e-6);  // 3 + 2 + 1
  request.stragglers.clear();
  request.background = {{0, 1, std::nullopt, 1}};  // half of the link: 1 + 4 + 1
  EXPECT_NEAR(played(request), 6, 1e-6);
}

TEST(SimulateGraph, WhatIsOutOfRangeIsRefused) {
  auto request = chain();
  request.tasks[0].after = {{2, std::nullopt}};
  EXPECT_THROW(check_graph(request), Error);
  request = chain();
  request.stragglers = {{2, 2}};
  EXPECT_THROW(check_graph(request), Error);
  request = chain();
  request.background = {{0, 0, std::nullopt, 1}};
  EXPECT_THROW(check_graph(request), Error);
  EXPECT_THROW(static_cast<void>(parse_graph("{\"tasks\": 3}")), Error);
  EXPECT_TRUE(is_graph_request(to_json(chain()).dump()));
}

}  // namespace
}  // namespace assay::predict
