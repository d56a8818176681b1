#include "assay/core/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace assay {
namespace {

using testing::HasSubstr;

/// A record in which no field is null and no list is empty.
Record full_record() {
  RankResult rank;
  rank.rank = 1;
  rank.host = "h0";
  rank.buckets = {{1024, {5, 6}, {3, 4}}};
  rank.outcome = {OutcomeKind::crashed, "it ended", "measure", 3, 9, "last words"};
  rank.versions = {{"fake", "1.0.0"}};
  rank.parameters_built = 1234;
  rank.effective = {{"intra_op", 2}};
  rank.samples_ns = {10, 20, 30};
  rank.slices = {{0, 100, 130, 1, true, 5}, {1, 200, 260, 2, false, 6}};
  rank.tokens_ns = {4, 14, 24};
  rank.load = LoadRun{7, json{{"requests", 2}}, json{{"requests", 2}}, "scheduled_ns\n1\n"};
  rank.weights_bytes = 16;
  rank.cache_bytes = 17;
  rank.phases_ns = {{"forward", {7, 8}}};
  rank.phase_step_ns = {9, 10};
  rank.layers = {{"conv1", {1, 2}, {3, 4}}};
  rank.layer_step_ns = {11, 12};
  rank.probe_after_ns = 13;
  rank.peak_memory_bytes = 14;
  rank.prepare_ns = 15;
  rank.disturbance = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.5, 12, 13, 14, 15, 16, 17};
  rank.energy = Energy{"rapl", 17.5, 18, {"intel-rapl:0 package-0"}};
  rank.cpus = {0, 1};
  rank.notes = {"a note"};

  Record record;
  record.campaign = "c0";
  record.trial = "t0";
  record.index = 4;
  record.attempt = 1;
  record.counted = false;
  record.outcome.kind = OutcomeKind::timed_out;
  record.validity = {false, {{"steal", "12 % of the time"}}};
  record.summary = {3,
                    1,
                    20,
                    30,
                    31,
                    2,
                    QuantileInterval{29, 31},
                    QuantileInterval{30, 32},
                    40.5,
                    25,
                    1.62,
                    GeneratedSummary{5, 6, {7, 8}, 9, 1.5, 2.5, 3.5, 10, 11},
                    1};
  record.steady = Steady{SteadyKind::warm_up, 0.25};
  record.pair = Pair{"p0", PairSide::b};
  record.pair_log_ratio = 0.05;
  record.platform = "m0";
  record.state = {{"kernel", "6.1"}};
  record.started_utc = "2026-11-15T00:00:00.000Z";
  record.duration_ns = 1'000'000'000;
  record.assay_version = "0.1.0";
  record.writer = Writer{"ci_agents", "node7", "boot 1 pid 2 start 3"};
  record.ranks = {rank};
  return record;
}

std::string refusal(const json& value) {
  try {
    check(from_json<Record>(value, "record"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "accepted";
}

json full_json() {
  return to_json(full_record());
}

TEST(Record, IsTheSameAfterARoundTripThroughText) {
  const auto again = from_json<Record>(parse_json(full_json().dump()));
  EXPECT_EQ(to_json(again), full_json());
  EXPECT_EQ(again.ranks.at(0).samples_ns, (std::vector<std::int64_t>{10, 20, 30}));
  EXPECT_EQ(again.ranks.at(0).slices.at(1).probe_ns, 6);
  EXPECT_EQ(again.ranks.at(0).disturbance.major_faults, 16);
  EXPECT_EQ(again.ranks.at(0).disturbance.frequency_khz, 17);
  EXPECT_EQ(again.outcome.kind, OutcomeKind::timed_out);
  EXPECT_EQ(again.pair->side, PairSide::b);
  EXPECT_EQ(again.pair_log_ratio, 0.05);
  EXPECT_EQ(again.steady->kind, SteadyKind::warm_up);
  EXPECT_EQ(again.summary.samples_per_second, 40.5);
}

TEST(Record, HasNoNullInItsFullestForm) {
  const json flat = full_json().flatten();
  for (const auto& [path, value] : flat.items()) {
    EXPECT_TRUE(!value.is_null() || path.rfind("/outcome/", 0) == 0) << path;
  }
}

TEST(Record, KeepsAbsentCountersNullAndNeverZero) {
  const json value = to_json(Record{});
  EXPECT_TRUE(value["pair"].is_null());
  EXPECT_TRUE(value["summary"]["median_ns"].is_null());
  const json rank = to_json(RankResult{});
  for (const auto& [name, counter] : rank["disturbance"].items()) EXPECT_TRUE(counter.is_null()) << name;
  EXPECT_TRUE(rank["peak_memory_bytes"].is_null());
  EXPECT_FALSE(from_json<RankResult>(rank).disturbance.steal_ns.has_value());
}

TEST(Record, SlicesThatDoNotCoverTheSamplesAreRefused) {
  json value = full_json();
  value["ranks"][0]["slices"][1]["samples"] = 1;
  EXPECT_THAT(refusal(value), HasSubstr("rank 1: slices cover 2 of 3 samples"));
  value["ranks"][0]["slices"][1]["samples"] = 3;
  EXPECT_THAT(refusal(value), HasSubstr("a slice claims 3 samples where 2 are left"));
  value["ranks"][0]["slices"][1]["samples"] = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refusal(value), HasSubstr("where 2 are left"));
  value["ranks"][0]["slices"][1]["samples"] = -1;
  EXPECT_THAT(refusal(value), HasSubstr("a slice claims -1 samples"));
  value["ranks"][0]["slices"] = json::array();
  EXPECT_THAT(refusal(value), HasSubstr("slices cover 0 of 3 samples"));
}

TEST(Record, ANegativeSampleIsRefused) {
  json value = full_json();
  value["ranks"][0]["samples_ns"][2] = -1;
  EXPECT_THAT(refusal(value), HasSubstr("a sample of -1 ns"));
}

TEST(Record, ANewerVersionIsRefusedAndUnknownFieldsAreIgnored) {
  json value = full_json();
  value["field_of_next_year"] = {1, 2};
  value["ranks"][0]["field_of_next_year"] = "x";
  EXPECT_EQ(refusal(value), "accepted");
  value["record_version"] = kRecordVersion + 1;
  EXPECT_THAT(refusal(value), HasSubstr("newer than this program knows"));
}

TEST(Record, AMissingFieldIsNamedWithItsPath) {
  for (const char* field : {"record_version", "campaign", "trial", "index", "outcome"}) {
    json value = full_json();
    value.erase(field);
    EXPECT_EQ(refusal(value), fmt::format("record: the field '{}' is missing", field));
  }
  json value = full_json();
  value["ranks"][0]["outcome"].erase("kind");
  EXPECT_EQ(refusal(value), "record.ranks[0].outcome: the field 'kind' is missing");
  value = full_json();
  value["pair"].erase("side");
  EXPECT_EQ(refusal(value), "record.pair: the field 'side' is missing");
}

TEST(Record, AWrongTypeIsNamedWithItsPath) {
  json value = full_json();
  value["ranks"][0]["samples_ns"][1] = 20.5;
  EXPECT_EQ(refusal(value), "record.ranks[0].samples_ns[1]: expected an integer, got '20.5'");
  value = full_json();
  value["ranks"][0]["phases_ns"]["forward"] = 7;
  EXPECT_EQ(refusal(value), "record.ranks[0].phases_ns.forward: expected a list, got '7'");
  value = full_json();
  value["outcome"]["kind"] = "exploded";
  EXPECT_EQ(refusal(value),
            "record.outcome.kind: expected one of ok, refused, failed, crashed, out_of_memory, timed_out, bad_output, "
            "not_started, interrupted, got '\"exploded\"'");
}

TEST(Record, EveryNameOfAnOutcomeReadsBack) {
  for (const char* name : EnumNames<OutcomeKind>::names) {
    EXPECT_STREQ(name_of(from_json<Outcome>(json{{"kind", name}}).kind), name);
  }
}

TEST(Samples, PackAsLittleEndianInt64) {
  EXPECT_EQ(pack_samples({1, 0x0102030405060708, -2}), std::string("\x01\0\0\0\0\0\0\0"
                                                                   "\x08\x07\x06\x05\x04\x03\x02\x01"
                                                                   "\xfe\xff\xff\xff\xff\xff\xff\xff",
                                                                   24));
}

TEST(Samples, UnpackToWhatWasPacked) {
  const std::vector<std::int64_t> samples{0, 1, std::numeric_limits<std::int64_t>::max(),
                                          std::numeric_limits<std::int64_t>::min()};
  const std::string blob = pack_samples(samples);
  EXPECT_EQ(unpack_samples(blob.data(), blob.size()), samples);
  EXPECT_TRUE(unpack_samples(nullptr, 0).empty());
  EXPECT_EQ(pack_samples({}), "");
}

TEST(Samples, ABlobCutShortIsRefused) {
  const std::string blob(15, 'x');
  EXPECT_THROW(unpack_samples(blob.data(), blob.size()), Error);
}

}  // namespace
}  // namespace assay
