#include "assay/model/tables/llama_bench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace assay::model {
namespace {

using testing::HasSubstr;

/// Written by hand in the layout that llama.cpp publishes for `llama-bench -o json` (tools/llama-bench/README.md); the
/// numbers are made up.
constexpr const char* kTwoTests = R"([
  {
    "build_commit": "8cf427ff",
    "build_number": 5163,
    "cpu_info": "A CPU",
    "gpu_info": "",
    "backends": "CPU",
    "model_filename": "models/tiny-q8_0.gguf",
    "model_type": "llama 1B Q8_0",
    "model_size": 1169000000,
    "model_n_params": 1100048384,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_threads": 2,
    "type_k": "f16",
    "type_v": "q8_0",
    "flash_attn": false,
    "n_prompt": 512,
    "n_gen": 0,
    "n_depth": 0,
    "test_time": "2026-01-02T03:04:05Z",
    "avg_ns": 2000000000,
    "stddev_ns": 100000000,
    "avg_ts": 256.0,
    "stddev_ts": 1.0,
    "samples_ns": [ 1900000000, 2100000000 ],
    "samples_ts": [ 269.5, 243.8 ]
  },
  {
    "build_commit": "8cf427ff",
    "backends": "CPU",
    "model_type": "llama 1B Q8_0",
    "model_size": 1169000000,
    "model_n_params": 1100048384,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_threads": 2,
    "type_k": "f16",
    "type_v": "f16",
    "n_prompt": 0,
    "n_gen": 128,
    "n_depth": 512,
    "avg_ns": 6400000000
  }
])";

std::string failure_of(const std::string& text) {
  try {
    (void)import_llama_bench(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string one_test(const std::string& members) {
  return R"([{"model_type": "m", )" + members + "}]";
}

TEST(LlamaBench, EveryRepetitionIsARow) {
  ASSERT_TRUE(is_llama_bench(kTwoTests));
  const auto frame = import_llama_bench(kTwoTests);
  ASSERT_EQ(frame.rows.size(), 3u);  // two samples of the first test, the mean of the second
  const std::vector<std::string> first{"llama 1B Q8_0", "1100048384", "1169000000", "CPU", "8cf427ff", "2", "2048",
                                       "512",           "f16/q8_0",   "prefill",    "512", "0",        "0", "1.9"};
  EXPECT_EQ(frame.rows[0], first);
  EXPECT_EQ(frame.rows[1].back(), "2.1");
  const std::vector<std::string> last{"llama 1B Q8_0", "1100048384", "1169000000", "CPU", "8cf427ff", "2",   "2048",
                                      "512",           "f16",        "decode",     "0",   "128",      "512", "6.4"};
  EXPECT_EQ(frame.rows[2], last);
  EXPECT_EQ(frame.columns.size(), first.size());
}

TEST(LlamaBench, APromptAndItsAnswerAreOneTime) {
  const auto frame = import_llama_bench(one_test(R"("n_prompt": 8, "n_gen": 4, "samples_ns": [5e8])"));
  EXPECT_EQ(frame.rows.at(0).at(9), "answer");
  EXPECT_EQ(frame.rows.at(0).at(4), "unknown");
  EXPECT_EQ(frame.rows.at(0).back(), "0.5");
}

TEST(LlamaBench, WhatCannotBeReadNamesItsTest) {
  EXPECT_THAT(failure_of(one_test(R"("n_prompt": 8, "n_gen": 0)")), HasSubstr("test 1: it has neither samples_ns"));
  EXPECT_THAT(failure_of(one_test(R"("n_prompt": 0, "n_gen": 0, "avg_ns": 1)")), HasSubstr("nothing was measured"));
  EXPECT_THAT(failure_of(one_test(R"("n_prompt": -1, "avg_ns": 1)")), HasSubstr("n_prompt is not a whole number"));
  EXPECT_THAT(failure_of(one_test(R"("n_prompt": 1.5, "avg_ns": 1)")), HasSubstr("n_prompt is not a whole number"));
  EXPECT_THAT(failure_of(one_test(R"("n_gen": 1, "samples_ns": [0])")), HasSubstr("is not above 0"));
  EXPECT_THAT(failure_of("[]"), HasSubstr("not a list of tests"));
  EXPECT_THAT(failure_of("[1]"), HasSubstr("test 1: it is not an object"));
}

TEST(LlamaBench, OtherFilesAreNotTakenForIt) {
  EXPECT_FALSE(is_llama_bench(""));
  EXPECT_FALSE(is_llama_bench("[{\"model_type\": \"m\"}]"));
  EXPECT_FALSE(is_llama_bench("{\"n_prompt\": 1, \"n_gen\": 1, \"model_type\": \"m\"}"));
}

}  // namespace
}  // namespace assay::model
