#include "assay/load/result_source.hpp"

#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace {

using namespace assay;
using namespace assay::load;

// Fields are those of AIPerf 0.13 (MetricRecordInfo) and GuideLLM 0.8.1 (GenerativeBenchmarksReport, version 2).
constexpr const char* kAiperf =
    R"({"metadata":{"session_num":0,"credit_issued_ns":1000000000,"request_start_ns":1002000000,"request_end_ns":1050000000,"benchmark_phase":"profiling"},"metrics":{"time_to_first_token":{"value":20.0,"unit":"ms"},"usage_prompt_tokens":{"value":7,"unit":"tokens"},"output_sequence_length":{"value":4,"unit":"tokens"}},"error":null}
{"metadata":{"session_num":1,"credit_issued_ns":900000000,"request_start_ns":900000000,"request_end_ns":950000000,"benchmark_phase":"warmup"},"metrics":{},"error":{"message":"x"}}
)";

constexpr const char* kGuidellm =
    R"({"metadata":{"version":2,"guidellm_version":"0.8.1"},"benchmarks":[{"config":{"strategy":{"type_":"poisson","rate":5.0}},
"metrics":{"request_totals":{"successful":1,"incomplete":0,"errored":1,"total":2}},
"requests":{"successful":[{"info":{"timings":{"targeted_start":100.0,"request_start":100.5,"first_token_iteration":101.0,"last_token_iteration":102.0,"request_end":102.5,"token_iterations":3}},"input_metrics":{"text_tokens":8,"cached_tokens":2},"output_metrics":{"text_tokens":5}}],
"incomplete":[],"errored":[{"info":{"timings":{"targeted_start":101.0,"request_start":101.0,"request_end":101.5}}}]}}]})";

TEST(ResultSource, TimesOfAiperfCountFromTheMomentOfItsRateLimiter) {
  ASSERT_TRUE(is_load_result(kAiperf));
  const auto runs = import_load(kAiperf);
  ASSERT_EQ(runs.size(), 1U);
  ASSERT_EQ(runs[0].requests.size(), 2U);
  EXPECT_TRUE(runs[0].requests[0].warm_up);  // due first, though it is the second line
  EXPECT_EQ(runs[0].requests[0].outcome, RequestOutcome::failed);
  const auto& request = runs[0].requests[1];
  EXPECT_EQ(request.due_ns, 100'000'000);
  // 2 ms until it was sent and 20 ms from there; AIPerf itself says 20.
  EXPECT_EQ(time_ns(request, Metric::ttft), 22e6);
  EXPECT_EQ(time_ns(request, Metric::latency), 50e6);
  EXPECT_EQ(request.input_tokens, 7);
  EXPECT_EQ(request.output_tokens, 4);
}

TEST(ResultSource, TimesOfGuidellmCountFromItsTarget) {
  ASSERT_TRUE(is_load_result(kGuidellm));
  const auto runs = import_load(kGuidellm);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].client, "GuideLLM 0.8.1");
  EXPECT_EQ(runs[0].arrivals.kind, ArrivalKind::poisson);
  EXPECT_EQ(runs[0].arrivals.rate_per_second, 5);
  const auto& request = runs[0].requests.at(0);
  EXPECT_EQ(time_ns(request, Metric::latency), 2.5e9);
  EXPECT_EQ(time_ns(request, Metric::latency, Since::send), 2e9);
  EXPECT_EQ(time_ns(request, Metric::tpot), 1e9 / 4);  // a second between the first of five tokens and the last
  EXPECT_EQ(request.cached_tokens, 2);
  EXPECT_EQ(runs[0].requests.at(1).outcome, RequestOutcome::failed);
}

TEST(ResultSource, ASampleOfRequestsIsRefused) {
  std::string sampled = kGuidellm;
  sampled.replace(sampled.find("\"successful\":1"), 14, "\"successful\":9");
  EXPECT_THROW(import_load(sampled), Error);
}

TEST(ResultSource, WhatBreaksTheFormatIsRefused) {
  EXPECT_FALSE(is_load_result(R"({"traceEvents":[]})"));
  for (const auto* text : {R"({"metadata":{"guidellm_version":"1","version":3},"benchmarks":[]})",
                           R"({"metadata":{"guidellm_version":"1"},"benchmarks":[]})",
                           R"({"metadata":{"guidellm_version":"1"},"benchmarks":[{"requests":{}}]})",
                           R"({"metadata":{"session_num":0,"request_start_ns":-5,"request_end_ns":1}})",
                           R"({"metadata":{"session_num":0}})"}) {
    EXPECT_THROW(import_load(text), Error) << text;
  }
}

}  // namespace
