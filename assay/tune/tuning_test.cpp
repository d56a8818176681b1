#include "assay/tune/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::tune {
namespace {

json valid() {
  return parse_json(R"({"version": 1, "name": "mine", "goal": "latency", "platform": "p", "later": 1,
    "workload": {"network": "toy"}, "worker": {"name": "fake"}, "settings": {"intra_op": 2},
    "resources": {"sockets": 1, "nodes": 1, "cores": 2, "threads": 4, "quota": 2.5},
    "launch": {"intra_op": {"env": {"THREADS": "{value}"}}}})");
}

/// What is wrong with a tuning whose value at `pointer` is another; empty where it is accepted.
std::string error_with(const char* pointer, const json& value) {
  auto changed = valid();
  changed[json::json_pointer(pointer)] = value;
  try {
    parse_tuning(changed.dump(), "t.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Tuning, reads_what_it_writes) {
  const auto tuning = parse_tuning(valid().dump(), "t.json");
  EXPECT_EQ(tuning.settings.intra_op, 2);
  EXPECT_EQ(tuning.resources.quota, 2.5);
  const auto again = parse_tuning(to_json(tuning).dump(), "t.json");
  EXPECT_EQ(to_json(again), to_json(tuning));
}

TEST(Tuning, what_is_out_of_range_is_refused_by_name) {
  using testing::HasSubstr;
  EXPECT_EQ(error_with("/resources/cores", 4), "");
  EXPECT_THAT(error_with("/version", 2), HasSubstr("version 2 is newer"));
  EXPECT_THAT(error_with("/resources/cores", 0), HasSubstr("resources.cores: 0"));
  EXPECT_THAT(error_with("/resources/threads", 100000), HasSubstr("resources.threads: 100000"));
  EXPECT_THAT(error_with("/resources/quota", -1), HasSubstr("resources.quota: -1"));
  EXPECT_THAT(error_with("/settings/instances", 0), HasSubstr("settings.instances: 0"));
  EXPECT_THAT(error_with("/settings/env", {{"HF_TOKEN", "x"}}), HasSubstr("looks like a secret"));
  EXPECT_THAT(error_with("/launch/intra_op/env", {{"A=B", "x"}}), HasSubstr("launch.intra_op: settings.env"));
  EXPECT_THAT(error_with("/launch/intra_op/env", {{"", "x"}}), HasSubstr("launch.intra_op: settings.env"));
}

TEST(Tuning, a_text_beyond_a_mebibyte_is_refused) {
  EXPECT_THROW(parse_tuning(valid().dump() + std::string(1U << 20, ' '), "t.json"), Error);
}

}  // namespace
}  // namespace assay::tune
