#include "assay/measure/rank/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

json samples(const json& ns) {
  return {{"type", "samples"}, {"ns", ns}};
}

json done(std::int64_t count) {
  return {{"type", "done"}, {"samples", count}, {"begin_ns", 1}, {"end_ns", 2}};
}

template <typename Body>
std::string refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Message, samples_of_several_lines_add_up) {
  Measured measured;
  add_samples(samples({5, 6}), "step", 3, measured);
  add_samples(samples({7}), "step", 3, measured);
  finish(done(3), "step", measured);
  EXPECT_THAT(measured.samples_ns, ElementsAre(5, 6, 7));
}

TEST(Message, more_samples_than_asked_for_are_refused) {
  Measured measured;
  EXPECT_THAT(refusal([&] { add_samples(samples({1, 2, 3}), "step", 2, measured); }), HasSubstr("2 samples asked for"));
}

TEST(Message, a_count_that_disagrees_is_refused) {
  Measured measured;
  add_samples(samples({1, 2}), "step", 10, measured);
  EXPECT_THAT(refusal([&] { finish(done(3), "step", measured); }), HasSubstr("3 claimed, 2 received"));
}

TEST(Message, a_measure_without_samples_is_refused) {
  Measured measured;
  EXPECT_THAT(refusal([&] { finish(done(0), "step", measured); }), HasSubstr("without samples"));
}

TEST(Message, negative_and_fractional_durations_are_refused) {
  Measured measured;
  EXPECT_THAT(refusal([&] { add_samples(samples({-1}), "step", 10, measured); }), HasSubstr("-1 ns"));
  EXPECT_THAT(refusal([&] { add_samples(samples({1.5}), "step", 10, measured); }), HasSubstr("expected an integer"));
}

TEST(Message, phases_must_be_known_and_as_many_as_samples) {
  Measured measured;
  json message = samples({10, 20});
  message["phases"] = {{"forward", {4, 8}}, {"backward", {6, 12}}};
  add_samples(message, "phases", 10, measured);
  EXPECT_THAT(measured.phases_ns["backward"], ElementsAre(6, 12));
  message["phases"] = {{"forward", {4}}};
  EXPECT_THAT(refusal([&] { add_samples(message, "phases", 10, measured); }), HasSubstr("1 values for 2 samples"));
  message["phases"] = {{"dreaming", {4, 8}}};
  EXPECT_THAT(refusal([&] { add_samples(message, "phases", 10, measured); }), HasSubstr("'dreaming' is not a phase"));
}

TEST(Message, a_phase_missing_from_one_line_is_noticed_at_the_end) {
  Measured measured;
  json first = samples({10});
  first["phases"] = {{"forward", {4}}, {"update", {6}}};
  json second = samples({10});
  second["phases"] = {{"forward", {10}}};
  add_samples(first, "phases", 10, measured);
  add_samples(second, "phases", 10, measured);
  EXPECT_THAT(refusal([&] { finish(done(2), "phases", measured); }), HasSubstr("phase update: 1 values for 2"));
}

TEST(Message, details_that_were_asked_for_must_come) {
  Measured measured;
  add_samples(samples({1}), "layers", 10, measured);
  EXPECT_THAT(refusal([&] { finish(done(1), "layers", measured); }), HasSubstr("none were sent"));
}

TEST(Message, layers_unasked_are_refused) {
  Measured measured;
  const json message = {{"type", "layers"}, {"layers", json::array()}};
  EXPECT_THAT(refusal([&] { add_samples(message, "step", 10, measured); }), HasSubstr("not asked for"));
}

TEST(Message, another_protocol_version_is_refused) {
  const json message = {
      {"type", "prepared"}, {"protocol", 2}, {"versions", json::object()}, {"effective", json::object()}};
  EXPECT_THAT(refusal([&] { read_prepared(message); }), HasSubstr("speaks protocol 2, this Assay speaks 1"));
}

TEST(Message, an_error_of_unknown_kind_is_refused) {
  EXPECT_EQ(read_error({{"type", "error"}, {"kind", "refused"}, {"message", "no"}}).kind, OutcomeKind::refused);
  EXPECT_THAT(refusal([] {
                read_error({{"type", "error"}, {"kind", "tired"}, {"message", ""}});
              }),
              HasSubstr("'tired'"));
}

}  // namespace
}  // namespace assay::measure
