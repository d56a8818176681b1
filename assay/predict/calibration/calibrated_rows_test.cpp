#include "assay/predict/calibration/calibrated_rows.hpp"

#include <gmock/gmock.h>

#include <gtest/gtest.h>
#include <cmath>

namespace assay::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char* const kRowsHeader = "job,link,devices,devices_per_node,seconds,alone_seconds,backward_seconds,messages\n";

TEST(MeasuredSteps, AreReadByTheNamesOfColumns) {
  const auto steps = parse_measured_steps(
      std::string(kRowsHeader) + "a,fast,8,4,0.5,0.3,0.2,0.5:4e6;1:2e6\nb,fast,4,4,1,0.9,0.6,7\n", "r");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].job, "a");
  EXPECT_EQ(steps[0].devices, 8);
  ASSERT_EQ(steps[0].messages.size(), 2u);
  EXPECT_DOUBLE_EQ(steps[0].messages[0].ready_share, 0.5);
  EXPECT_DOUBLE_EQ(steps[0].messages[0].bytes, 4e6);
  EXPECT_DOUBLE_EQ(steps[1].messages[0].ready_share, 1);
  EXPECT_FALSE(steps[1].spread_seconds);
  // Without the column, two thirds of the step alone are its backward pass.
  const auto plain =
      parse_measured_steps("job,link,devices,devices_per_node,seconds,alone_seconds,messages\na,x,2,1,1,0.9,5\n", "r");
  EXPECT_DOUBLE_EQ(plain[0].backward_seconds, 0.6);
}

std::string refusal_of_rows(const std::string& rows) {
  try {
    static_cast<void>(parse_measured_steps(kRowsHeader + rows, "r.csv"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MeasuredSteps, AreRefusedWithTheRow) {
  EXPECT_THAT(refusal_of_rows("a,x,2,1,1,1,1,many\n"), HasSubstr("r.csv, row 1: messages: 'many' is not a number"));
  EXPECT_THAT(refusal_of_rows("a,x,2,1,1,1,1,1.5:8\n"), HasSubstr("ready at a share above 1"));
  EXPECT_THAT(refusal_of_rows("a,x,0,1,1,1,1,8\n"), HasSubstr("devices is '0'"));
  EXPECT_THAT(refusal_of_rows(""), HasSubstr("it has no rows"));
}

/// A cluster of one device a node: c = 0.1 ms, 50 us a crossing, 1 ns a byte; 10 ms of host. One message of 1e8 bytes
/// and one of 1e7 behind 0.2 s: 0.21 + c + 2 (P - 1) 50 us + 2 (P - 1) / P n ns.
MeasuredStep planted_step(const char* job, std::int64_t devices, double bytes) {
  MeasuredStep step;
  step.job = job;
  step.link = "wire";
  step.devices = devices;
  step.alone_seconds = 0.2;
  step.backward_seconds = 0.1;
  step.messages = {{1, bytes}};
  const auto p = static_cast<double>(devices);
  step.seconds = devices == 1 ? 0.2 : 0.21 + 1e-4 + 2 * (p - 1) * 5e-5 + 2 * (p - 1) / p * bytes * 1e-9;
  return step;
}

TEST(Calibration, FindsWhatRowsWereMadeFromAndSaysMore) {
  std::vector<MeasuredStep> steps;
  for (const auto devices : {1, 2, 4, 8}) {
    steps.push_back(planted_step("large", devices, 1e8));
    steps.push_back(planted_step("small", devices, 1e7));
  }
  const auto found = calibrate_rows(steps, {64});
  EXPECT_NEAR(found.constants.links.at("wire").byte_seconds, 1e-9, 1e-12);
  EXPECT_LT(found.worst_error, 1e-4);
  EXPECT_EQ(found.rows.size(), 6u);
  EXPECT_THAT(found.no_overlap, ElementsAre("large", "small"));  // all is sent at the end
  ASSERT_EQ(found.points.size(), 2u);
  EXPECT_NEAR(found.points[0].seconds, planted_step("large", 64, 1e8).seconds, 2e-3);
  EXPECT_NEAR(found.points[0].efficiency, 0.2 / planted_step("large", 64, 1e8).seconds, 5e-3);
  EXPECT_THAT(calibrate_rows(steps, {}).points, IsEmpty());
}

TEST(Calibration, ARangeIsFromRowsLeftOutAndGrowsWithEachDoublingBeyondThem) {
  std::vector<MeasuredStep> steps;
  for (const auto devices : {1, 2, 4, 8}) {
    steps.push_back(planted_step("large", devices, 1e8));
    steps.push_back(planted_step("small", devices, 1e7));
  }
  const auto width = [](const CalibratedPoint& point) { return std::log(*point.high_seconds / point.seconds); };
  const auto exact = calibrate_rows(steps, {16});
  EXPECT_EQ(exact.range_rows, 6);  // not those on one device
  EXPECT_LT(width(exact.points[0]), .01);
  steps[4].seconds *= 1.1;  // what the others say of this row is near 1 / 1.1 of it
  const auto found = calibrate_rows(steps, {4, 16, 64});
  EXPECT_GT(width(found.points[1]), .05);
  EXPECT_NEAR(width(found.points[0]), width(found.points[1]), 1e-12);      // within the rows, and one doubling beyond
  EXPECT_NEAR(width(found.points[2]), 3 * width(found.points[1]), 1e-12);  // 8 to 64 devices
  EXPECT_NEAR(std::log(found.points[2].seconds / *found.points[2].low_seconds), width(found.points[2]), 1e-12);
  // A single row leaves none to find constants from.
  EXPECT_FALSE(calibrate_rows({planted_step("large", 2, 1e8)}, {4}).points[0].low_seconds);
}

}  // namespace
}  // namespace assay::predict
