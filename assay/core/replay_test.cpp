#include "assay/core/replay.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::HasSubstr;

/// Forward until .1, backward until .3; buckets ready at .2 and .3.
json good() {
  return {{"network", "mine"},
          {"batch", 8},
          {"forward_seconds", 0.1},
          {"backward_seconds", 0.2},
          {"buckets", {{{"ready_seconds", 0.2}, {"bytes", 400}}, {{"ready_seconds", 0.3}, {"bytes", 8}}}}};
}

std::string why_refused(const json& text) {
  try {
    static_cast<void>(parse_replay(text.dump(), "step.replay"));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Replay, IsReadAsItIsWritten) {
  const auto replay = parse_replay(good().dump(), "step.replay");
  EXPECT_EQ(replay.network, "mine");
  EXPECT_EQ(replay.batch, 8);
  EXPECT_DOUBLE_EQ(replay.forward_seconds, 0.1);
  EXPECT_DOUBLE_EQ(replay.update_seconds, 0);
  ASSERT_EQ(replay.buckets.size(), 2U);
  EXPECT_DOUBLE_EQ(replay.buckets[0].ready_seconds, 0.2);
  EXPECT_EQ(replay.buckets[1].bytes, 8);
  EXPECT_EQ(replay.bytes(), 408);
  EXPECT_EQ(to_json(parse_replay(to_json(replay).dump(), "again")), to_json(replay));
}

TEST(Replay, ABucketThatCannotBeIsRefusedByName) {
  auto text = good();
  text["buckets"][1]["ready_seconds"] = 0.19;  // before the one ahead of it
  EXPECT_THAT(why_refused(text), HasSubstr("step.replay: buckets[1].ready_seconds: 0.19 is outside 0.2"));
  text["buckets"][1]["ready_seconds"] = 0.31;  // after the backward pass
  EXPECT_THAT(why_refused(text), HasSubstr("buckets[1].ready_seconds: 0.31"));
  text = good();
  text["buckets"][0]["ready_seconds"] = 0.09;  // in the forward pass
  EXPECT_THAT(why_refused(text), HasSubstr("buckets[0].ready_seconds: 0.09"));
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-4}, std::int64_t{6}, std::int64_t{1} << 33}) {
    text = good();
    text["buckets"][1]["bytes"] = bytes;
    EXPECT_THAT(why_refused(text), HasSubstr(fmt::format("buckets[1].bytes: {}", bytes)));
  }
}

TEST(Replay, ATimeOrBatchThatCannotBeIsRefusedByName) {
  auto text = good();
  text["forward_seconds"] = -1;
  EXPECT_THAT(why_refused(text), HasSubstr("forward_seconds: -1"));
  text = good();
  text["update_seconds"] = 1e6;
  EXPECT_THAT(why_refused(text), HasSubstr("update_seconds: 1000000"));
  text = good();
  text["batch"] = 0;
  EXPECT_THAT(why_refused(text), HasSubstr("batch: 0"));
  EXPECT_THAT(why_refused("a table"), HasSubstr("step.replay: "));
}

TEST(Replay, RoundingOfSumsOfTimesIsNoError) {
  auto text = good();
  text["buckets"][1]["ready_seconds"] = 0.1 + 0.2 + 1e-12;
  EXPECT_EQ(why_refused(text), "");
}

}  // namespace
}  // namespace assay
