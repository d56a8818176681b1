#include "assay/load/energy_sampler.hpp"

#include <gtest/gtest.h>

#include "assay/load/load.hpp"
#include "assay/load/server/null_server.hpp"

namespace {

using namespace assay;
using namespace assay::load;

LoadQuestion ten_answers(const NullServer& server) {
  LoadQuestion question;
  question.target = parse_target(server.url() + "/v1/completions");
  question.sending.form.api = Api::completions;
  question.arrivals.rate_per_second = 1000;
  question.arrivals.requests = 10;
  question.arrivals.output_tokens = 16;
  return question;
}

// A counter that is 20 J further at its second reading; 10 answers of 16 tokens: .125 J for each.
TEST(EnergySampler, SharesTheEnergyOfARunAmongItsTokens) {
  const NullServer server({});
  auto question = ten_answers(server);
  double joules = 0;
  question.energy = {{"package-0", 0, [&joules] { return std::optional(joules += 20); }}};
  const auto point = measure_point(question);
  ASSERT_TRUE(point.energy);
  EXPECT_EQ(point.energy->joules, 20);
  EXPECT_EQ(point.energy->source, "rapl");
  EXPECT_EQ(point.output_tokens, 160);
  EXPECT_EQ(point.joules_per_output_token, 0.125);
}

TEST(EnergySampler, WhatCannotBeReadIsNull) {
  const NullServer server({});
  auto question = ten_answers(server);
  EXPECT_FALSE(measure_point(question).energy);
  question.energy = {{"package-0", 0, [] { return std::optional<double>(); }}};
  const auto point = measure_point(question);
  EXPECT_FALSE(point.energy);
  EXPECT_FALSE(point.joules_per_output_token);
}

TEST(EnergySampler, OnlyTheLoopbackIsThisMachine) {
  EXPECT_TRUE(is_on_this_machine(parse_target("http://127.0.0.1:8000/")));
  EXPECT_TRUE(is_on_this_machine(parse_target("http://[::1]:8000/")));
  EXPECT_FALSE(is_on_this_machine(parse_target("http://192.0.2.1:8000/")));
}

}  // namespace
