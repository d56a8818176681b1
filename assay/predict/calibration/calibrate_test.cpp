#include "assay/predict/calibration/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::predict {
namespace {

using testing::HasSubstr;

TEST(LargestOf, AgreesWithTheClosedFormsOfFewNormals) {
  // Of one: 0 and 1. Of two: mean 1/sqrt(pi), variance 1 - 1/pi. Of three: mean 3/(2 sqrt(pi)).
  EXPECT_NEAR(LargestOf(1).mean, 0, 1e-12);
  EXPECT_NEAR(LargestOf(1).deviation, 1, 1e-12);
  EXPECT_NEAR(LargestOf(2).mean, 1 / std::sqrt(M_PI), 1e-12);
  EXPECT_NEAR(LargestOf(2).deviation, std::sqrt(1 - 1 / M_PI), 1e-12);
  EXPECT_NEAR(LargestOf(3).mean, 1.5 / std::sqrt(M_PI), 1e-12);
}

double unit_cost(double bytes) {
  return bytes;
}

TEST(Overlap, HidesMessagesBehindTheBackwardPass) {
  // Ready at 5 and 10 of a pass of 10: the first travels from 5 to 8, hidden; the second from 10 to 12.
  EXPECT_DOUBLE_EQ(overlapped_seconds(10, 1, {{0.5, 3}, {1, 2}}, unit_cost), 12);
  // One message at the end is no overlap.
  EXPECT_DOUBLE_EQ(overlapped_seconds(10, 1, {{1, 5}}, unit_cost), 15);
  EXPECT_DOUBLE_EQ(overlapped_seconds(10, 1, {}, unit_cost), 10);
}

TEST(Overlap, SlowsTheBackwardPassWhileMessagesTravel) {
  // From 5 on a message of 4; meanwhile 2 of the pass are done at half speed. 3 remain: it ends at 5 + 4 + 3.
  EXPECT_DOUBLE_EQ(overlapped_seconds(10, 2, {{0.5, 4}}, unit_cost), 12);
  // A message longer than the rest of the pass hides all of that: it ends at 5 + 20.
  EXPECT_DOUBLE_EQ(overlapped_seconds(10, 2, {{0.5, 20}}, unit_cost), 25);
}

MeasuredStep step_of(const std::string& job, const std::string& link, std::int64_t devices,
                     std::vector<SentMessage> messages) {
  MeasuredStep step;
  step.job = job;
  step.link = link;
  step.devices = devices;
  step.devices_per_node = 4;
  step.alone_seconds = job == "a" ? 0.2 : 0.3;
  step.backward_seconds = step.alone_seconds / 2;
  step.messages = std::move(messages);
  step.seconds = 1;
  return step;
}

CalibratedCluster planted() {
  CalibratedCluster cluster;
  cluster.call_seconds = 1e-4;
  cluster.inside_byte_seconds = 2e-10;
  cluster.jobs = {{"a", {0.01, 1.1}}, {"b", {0.03, 1.5}}};
  cluster.links = {{"slow", {6e-5, 8e-10, 0}}, {"fast", {1e-5, 1.5e-10, 0}}};
  return cluster;
}

TEST(StepSeconds, IsTheRingOfAllDevices) {
  auto cluster = planted();
  // 8 devices, 4 a node, one message of 1e8 bytes at the end: call 1e-4 + 2*7/4 * 6e-5 = 3.1e-4; bytes
  // 2*7/8 * 1e8 * 8e-10 = 0.14. With 0.2 alone and 0.01 of the host: 0.35031.
  EXPECT_NEAR(step_seconds(step_of("a", "slow", 8, {{1, 1e8}}), cluster), 0.35031, 1e-12);
  // 4 devices cross nothing: 1e-4 + 1.5 * 1e8 * 2e-10 = 0.0301.
  EXPECT_NEAR(step_seconds(step_of("a", "slow", 4, {{1, 1e8}}), cluster), 0.2401, 1e-12);
  EXPECT_DOUBLE_EQ(step_seconds(step_of("a", "slow", 1, {{1, 1e8}}), cluster), 0.2);
  // The slower of two links that differ by 10 %: 0.14 * (1 + 0.1/sqrt(pi)).
  cluster.links["slow"].spread = 0.1;
  EXPECT_NEAR(step_seconds(step_of("a", "slow", 8, {{1, 1e8}}), cluster), 0.21031 + 0.14 * (1 + 0.1 / std::sqrt(M_PI)),
              1e-12);
}

TEST(StepSeconds, GoesThroughServersOnNodesOfTheirOwn) {
  const auto cluster = planted();
  const auto through = [&](std::int64_t devices, std::optional<std::int64_t> servers) {
    auto step = step_of("a", "slow", devices, {{1, 1e8}});
    step.servers = ParameterServers{ServerPlace::own, servers};
    return step_seconds(step, cluster);
  };
  // Call 1e-4 + 2 * 6e-5 = 2.2e-4; inside 2*3/4 * 1e8 * 2e-10 = 0.03; across 1e8 * 8e-10 = 0.08; 0.2 alone, 0.01 host.
  EXPECT_NEAR(through(8, std::nullopt), 0.32022, 1e-12);
  EXPECT_NEAR(through(16, std::nullopt), 0.32022, 1e-12);  // servers grow with the nodes
  EXPECT_NEAR(through(16, 1), 0.32022 + 3 * 0.08, 1e-12);  // one receives from 4 nodes
  EXPECT_NEAR(through(4, std::nullopt), 0.2401, 1e-12);    // one node: as without
}

/// What a program without overlap, one with and one that joins would send of the same gradients.
std::vector<std::vector<SentMessage>> ways_to_send(double bytes) {
  std::vector<std::vector<SentMessage>> ways{{{1, bytes}}, {}, {}};
  for (int i = 1; i <= 100; ++i) ways[1].push_back({i / 100.0, bytes / 100});
  for (int i = 1; i <= 4; ++i) ways[2].push_back({i / 4.0, bytes / 4});
  return ways;
}

TEST(Calibrate, FindsPlantedConstantsAndSaysLargerClusters) {
  const auto truth = planted();
  std::vector<MeasuredStep> rows;
  for (const auto* job : {"a", "b"}) {
    for (const auto* link : {"slow", "fast"}) {
      for (const int devices : {1, 4, 8}) {
        for (auto& messages : ways_to_send(2e8)) {
          auto step = step_of(job, link, devices, messages);
          step.seconds = step_seconds(step, truth);
          rows.push_back(step);
        }
      }
    }
  }
  const auto found = calibrate(rows);
  EXPECT_NEAR(found.call_seconds, 1e-4, 5e-6);
  EXPECT_NEAR(found.inside_byte_seconds, 2e-10, 2e-12);
  EXPECT_NEAR(found.jobs.at("b").slow_down, 1.5, 0.02);
  EXPECT_NEAR(found.links.at("slow").byte_seconds, 8e-10, 2e-12);
  for (const auto* link : {"slow", "fast"}) {
    for (auto& messages : ways_to_send(2e8)) {
      const auto step = step_of("b", link, 64, messages);
      EXPECT_NEAR(step_seconds(step, found) / step_seconds(step, truth), 1, 0.01) << link << messages.size();
    }
  }
}

TEST(Calibrate, ReadsTheSpreadBetweenLinksFromTheSpreadOverRuns) {
  auto step = step_of("a", "slow", 8, {{1, 1e8}});
  step.seconds = 0.3;  // 0.1 of it communication
  // Runs that differ by 0.005 s: 5 % of it is the deviation of the larger of two, sqrt(1 - 1/pi) of a link's own.
  step.spread_seconds = 0.005;
  EXPECT_NEAR(calibrate({step}).links.at("slow").spread, 0.05 / std::sqrt(1 - 1 / M_PI), 1e-9);
}

std::string refusal(const std::vector<MeasuredStep>& rows) {
  try {
    static_cast<void>(calibrate(rows));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Calibrate, RefusesRowsThatTellNothing) {
  EXPECT_THAT(refusal({}), HasSubstr("no row has several devices"));
  EXPECT_THAT(refusal({step_of("a", "slow", 1, {})}), HasSubstr("no row has several devices"));
  EXPECT_THAT(refusal({step_of("a", "slow", 6, {{1, 1e8}})}), HasSubstr("6 devices fill no whole nodes of 4"));
  auto negative = step_of("a", "slow", 4, {{1, 1e8}});
  negative.seconds = -1;
  EXPECT_THAT(refusal({negative}), HasSubstr("times must be above 0"));
}

TEST(StepSeconds, NamesWhatWasNotCalibrated) {
  EXPECT_THROW(static_cast<void>(step_seconds(step_of("c", "slow", 4, {}), planted())), Error);
  EXPECT_THROW(static_cast<void>(step_seconds(step_of("a", "wet string", 8, {}), planted())), Error);
}

}  // namespace
}  // namespace assay::predict
