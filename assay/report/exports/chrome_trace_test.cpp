#include "assay/report/exports/chrome_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using testing::ElementsAre;

/// Two slices: a warm-up step at 1000 ns, then two steps from 5000 ns on; the phases of one step and the layers of one.
Record traced_record() {
  Record record;
  record.index = 3;
  RankResult rank;
  rank.samples_ns = {400, 300, 350};
  rank.slices = {{.turn = 0, .begin_ns = 1000, .end_ns = 1500, .samples = 1, .warmup = true, .probe_ns = {}},
                 {.turn = 1, .begin_ns = 5000, .end_ns = 5700, .samples = 2, .warmup = false, .probe_ns = {}}};
  rank.phases_ns = {{"backward", {200}}, {"forward", {100}}};
  rank.phase_step_ns = {320};
  rank.layers = {{"conv", {60}, {110}}, {"fc", {30}, {90}}};
  rank.layer_step_ns = {300};
  record.ranks = {rank};
  return record;
}

json trace_of(const Record& record, const Trial& trial) {
  std::string text;
  ChromeTrace trace([&](const std::string& part) { text += part; });
  trace.add(record, trial);
  trace.finish();
  return parse_json(text);
}

Trial traced_trial() {
  Trial trial;
  trial.workload.network = "a \"quoted\"\nname";
  trial.worker = {"fake", "1.0.0"};
  return trial;
}

/// "name begin duration" in microseconds of the events of one track.
std::vector<std::string> on_track(const json& trace, int track) {
  std::vector<std::string> found;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["tid"] != track) continue;
    found.push_back(fmt::format("{} {} {}", event["name"].get<std::string>(), event["ts"].get<double>(),
                                event["dur"].get<double>()));
  }
  return found;
}

TEST(ChromeTrace, StepsStandOneAfterAnotherFromTheBeginningOfTheirSlice) {
  const auto trace = trace_of(traced_record(), traced_trial());
  EXPECT_THAT(on_track(trace, 1), ElementsAre("warm-up step 1 0.4", "step 5 0.3", "step 5.3 0.35"));
}

// The last step ends at 5650 ns. The step of the phases lasts to 5970, that of the layers begins there; what took 290
// of its 300 ns is forward conv and fc, then backward fc and conv.
TEST(ChromeTrace, PhasesAndLayersStandBehindTheStepsInTheOrderOfAStep) {
  const auto trace = trace_of(traced_record(), traced_trial());
  EXPECT_THAT(on_track(trace, 2), ElementsAre("forward 5.65 0.1", "backward 5.75 0.2"));
  EXPECT_THAT(on_track(trace, 3), ElementsAre("conv 5.97 0.06", "fc 6.03 0.03", "fc 6.06 0.09", "conv 6.15 0.11"));
}

TEST(ChromeTrace, StepsOfVirtualTimeNeverOverlapTheNextSlice) {
  auto record = traced_record();
  record.ranks[0].samples_ns[0] = 9000;
  EXPECT_THAT(on_track(trace_of(record, traced_trial()), 1),
              ElementsAre("warm-up step 1 9", "step 10 0.3", "step 10.3 0.35"));
}

TEST(ChromeTrace, AProcessIsNamedByWhatItRanWhateverCharactersThatHas) {
  auto record = traced_record();
  record.ranks.push_back(record.ranks[0]);
  record.ranks[1].rank = 1;
  const auto trace = trace_of(record, traced_trial());
  std::vector<std::string> names;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
  }
  EXPECT_THAT(names, ElementsAre("a \"quoted\"\nname infer b1, fake 1.0.0, run 3 rank 0",
                                 "a \"quoted\"\nname infer b1, fake 1.0.0, run 3 rank 1"));
}

TEST(ChromeTrace, ARunThatFailedLeavesANameAndNoSteps) {
  Record record;
  record.outcome.kind = OutcomeKind::crashed;
  record.ranks.resize(1);
  const auto trace = trace_of(record, traced_trial());
  EXPECT_TRUE(on_track(trace, 1).empty());
  EXPECT_EQ(trace["traceEvents"][0]["args"]["name"], "a \"quoted\"\nname infer b1, fake 1.0.0, run 0 (crashed)");
}

}  // namespace
}  // namespace assay::report
