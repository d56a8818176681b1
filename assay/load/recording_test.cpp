#include "assay/load/recording.hpp"

#include <gtest/gtest.h>

#include "assay/load/server/started_server.hpp"

namespace {

using namespace assay;
using namespace assay::load;

constexpr std::int64_t kMillisecond = 1'000'000;

Request answered(std::int64_t due_ms, std::int64_t latency_ms, bool warm_up = false) {
  Request request;
  request.due_ns = due_ms * kMillisecond;
  request.noticed_ns = request.sent_ns = request.due_ns;
  request.finished_ns = request.due_ns + latency_ms * kMillisecond;
  request.outcome = RequestOutcome::ok;
  request.warm_up = warm_up;
  return request;
}

MeasuredLoad measured(std::vector<Request> requests) {
  Sent sent;
  sent.requests = requests;
  MeasuredLoad out;
  out.seed = 7;
  out.point = summarise({}, sent, {}, 1e6);
  out.outcome = outcome_of(out.point);
  out.requests = std::move(requests);
  return out;
}

TEST(LoadRecord, SamplesAreLatenciesAndTheWarmUpIsASliceOfItsOwn) {
  const auto record = record_of(measured({answered(0, 90, true), answered(10, 5), answered(20, 7), answered(30, 6)}));
  check(record);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok);
  EXPECT_EQ(record.ranks[0].samples_ns,
            (std::vector<std::int64_t>{90 * kMillisecond, 5 * kMillisecond, 7 * kMillisecond, 6 * kMillisecond}));
  EXPECT_EQ(record.summary.steady_from, 1);
  EXPECT_EQ(record.summary.median_ns, 6 * kMillisecond);
  ASSERT_TRUE(record.ranks[0].load);
  EXPECT_EQ(record.ranks[0].load->seed, 7);
  // A line for each request after the names of the columns.
  const auto& stamps = *record.ranks[0].load->stamps;
  EXPECT_EQ(std::count(stamps.begin(), stamps.end(), '\n'), 5);
}

TEST(LoadRecord, RequestsThatFailedAreSlowerThanAllOthers) {
  auto lost = answered(40, 1);
  lost.outcome = RequestOutcome::reset;
  const auto record = record_of(measured({answered(10, 5), lost, lost}));
  check(record);
  EXPECT_EQ(record.summary.n, 1);
  EXPECT_EQ(record.summary.steady_samples, 3);
  EXPECT_FALSE(record.summary.median_ns);  // two of three were not answered
  EXPECT_EQ(record_of(measured({lost})).outcome.kind, OutcomeKind::failed);
}

TEST(LoadRecord, AStarvedClientIsNotTrusted) {
  auto load = measured({answered(10, 5)});
  EXPECT_TRUE(record_of(load).validity.trusted);
  load.point.client.windows = 10;
  load.point.client.starved_windows = 2;
  const auto validity = record_of(load).validity;
  EXPECT_FALSE(validity.trusted);
  EXPECT_EQ(validity.reasons.at(0).code, "generator_starved");
}

TEST(LoadTrial, SeedAndKeyAreNoPartOfIt) {
  LoadQuestion question;
  question.arrivals.rate_per_second = 5;
  question.sending.authorization = "Bearer sk-secret";
  const auto trial = trial_of(question, {"http://h/", {"vllm", "1"}, {}});
  check(trial);
  EXPECT_EQ(to_json(trial).dump().find("sk-secret"), std::string::npos);
  question.arrivals.seed = 99;
  EXPECT_EQ(trial_id(trial_of(question, {"http://h/", {"vllm", "1"}, {}})), trial_id(trial));
  question.arrivals.rate_per_second = 6;
  EXPECT_NE(trial_id(trial_of(question, {"http://h/", {"vllm", "1"}, {}})), trial_id(trial));
}

TEST(StartedServer, WordsOfACommandAreSplitWithoutAShell) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of_command(R"(serve  --name 'a b' "c \"d\"" e\ f $HOME '')"),
            (Words{"serve", "--name", "a b", "c \"d\"", "e f", "$HOME", ""}));
  for (const auto* wrong : {"", "  ", "serve 'x", "serve --api-key secret", "serve --api-key=secret"}) {
    EXPECT_THROW(words_of_command(wrong), Error) << wrong;
  }
}

}  // namespace
