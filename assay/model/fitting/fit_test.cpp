#include "assay/model/fitting/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "assay/model/prediction.hpp"

namespace assay::model {
namespace {

using testing::HasSubstr;

/// 5 ms + 2 ms batch^.9 / threads^.7, with 1 % of noise, three runs of each of 24 points.
FitRequest request() {
  FitRequest request;
  request.name = "planted";
  request.table.factors = {{"batch", Role::extrinsic}, {"threads", Role::parallel}, {"sequence", Role::intrinsic}};
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.01);
  for (const double batch : {1, 2, 4, 8, 16, 32}) {
    for (const double threads : {1, 2, 4, 8}) {
      for (int run = 0; run < 3; ++run) {
        const double seconds = 5e-3 + 2e-3 * std::pow(batch, 0.9) / std::pow(threads, 0.7);
        request.table.rows.push_back({{batch, threads, 128}, seconds * std::exp(noise(random))});
      }
    }
  }
  request.evaluations = 8000;
  return request;
}

Model fitted(const FitRequest& request) {
  return fit(request, [](std::size_t, std::size_t) {});
}

/// Of request(), made once.
const Model& known() {
  static const Model model = fitted(request());
  return model;
}

json without_date(const Model& model) {
  auto out = to_json(model);
  out.erase("created_utc");
  return out;
}

TEST(Fit, IsTheSameOnAnyNumberOfThreads) {
  auto on_three = request();
  on_three.threads = 3;
  EXPECT_EQ(without_date(known()), without_date(fitted(on_three)));
}

TEST(Fit, IsAnotherWithAnotherSeed) {
  auto other = request();
  other.seed = 2;
  EXPECT_NE(without_date(known()), without_date(fitted(other)));
}

TEST(Fit, ChoosesTheFamilyThatWasPlantedAndSaysTimesBeyond) {
  const auto& model = known();
  EXPECT_EQ(model.family, "generic");
  EXPECT_EQ(model.points, 24);
  EXPECT_EQ(model.rows, 72);
  const double truth = 5e-3 + 2e-3 * std::pow(64.0, 0.9);
  const auto said = predict(model, request().table.factors, {64, 1, 128});
  ASSERT_TRUE(said.seconds);
  EXPECT_NEAR(*said.seconds, truth, 0.03 * truth);
  EXPECT_LT(*said.low, truth);
  EXPECT_GT(*said.high, truth);
  EXPECT_DOUBLE_EQ(said.doublings, 1);
}

TEST(Fit, WidensTheFurtherOutItIsAsked) {
  const auto& model = known();
  double before = 0;
  for (const double batch : {32, 64, 128, 256}) {
    const auto said = predict(model, request().table.factors, {batch, 2, 128});
    const double width = std::log(*said.high / *said.low);
    EXPECT_GT(width, before);
    before = width;
  }
}

TEST(Fit, SaysNothingWhereItKnowsNothing) {
  const auto& model = known();
  const auto factors = request().table.factors;
  EXPECT_THAT(predict(model, factors, {8, 2, 256}).refused.value_or(""), HasSubstr("sequence was seen at 128 only"));
  EXPECT_THAT(predict(model, factors, {2048, 2, 128}).refused.value_or(""), HasSubstr("6.0 doublings beyond 1 to 32"));
  EXPECT_THROW(static_cast<void>(predict(model, {{"batch"}}, {8})), Error);
}

TEST(Fit, IsRefusedWithAReasonWhereNothingWasVaried) {
  auto one_level = request();
  one_level.table.factors = {{"sequence", Role::intrinsic}};
  for (auto& row : one_level.table.rows) row.values = {128};
  try {
    static_cast<void>(fitted(one_level));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("Seen at one level only: sequence"));
  }
}

/// Four networks, each with FLOPs, activations and parameters of its own: 1 ms + 1 s for each 10^12 FLOPs and for each
/// 10^10 activations of a batch + 2 ms for each million parameters, with 1 % of noise.
FitRequest networks() {
  FitRequest request;
  request.table.factors = {{"batch", Role::extrinsic}, {"flops"}, {"activations"}, {"parameters"}};
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.01);
  const std::vector<std::vector<double>> all{{1e8, 4e6, 2e6}, {4e8, 8e6, 3e6}, {1e9, 2e6, 30e6}, {2e9, 5e6, 40e6}};
  for (const auto& network : all) {
    for (const double batch : {1, 2, 4, 8}) {
      const double seconds = 1e-3 + batch * (network[0] / 1e12 + network[1] / 1e10) + 2e-3 * network[2] / 1e6;
      request.table.rows.push_back({{batch, network[0], network[1], network[2]}, seconds * std::exp(noise(random))});
    }
  }
  request.evaluations = 8000;
  return request;
}

TEST(Fit, TellsFactorsThatGoTogetherApartByTheFormOfAStep) {
  const auto model = fitted(networks());
  EXPECT_EQ(model.family, "ssgd");
  EXPECT_THAT(model.notes, testing::Contains(HasSubstr("only the form of a law separates them")));
  // A fifth network, at another batch: 1 + 16 (0.6 + 1) + 2 x 10 = 46.6 ms.
  const auto said = predict(model, networks().table.factors, {16, 6e8, 1e7, 10e6});
  ASSERT_TRUE(said.seconds);
  EXPECT_NEAR(*said.seconds, 46.6e-3, 0.05 * 46.6e-3);
  EXPECT_LT(*said.low, 46.6e-3);
  EXPECT_GT(*said.high, 46.6e-3);
}

TEST(Fit, OtherLawsGetOneOfTheFactorsThatGoTogether) {
  auto generic = networks();
  generic.families = {"generic"};
  const auto model = fitted(generic);
  EXPECT_EQ(model.ranges.size(), 2u);
  EXPECT_THAT(model.notes, testing::Contains("parameters goes with flops throughout: the data cannot separate "
                                             "one from the other."));
}

/// Machines with peaks of 1, 2 and 4 TFLOP/s: 1 ms + batch x FLOPs / (half the peak).
TEST(Fit, SpansMachinesByWhatTheyCanDo) {
  FitRequest request;
  request.table.factors = {{"batch", Role::extrinsic}, {"flops"}, {"peak", usual_role("peak")}};
  for (const double peak : {1e12, 2e12, 4e12}) {
    for (const double flops : {1e9, 2e9, 8e9}) {
      for (const double batch : {1, 4, 16}) {
        request.table.rows.push_back({{batch, flops, peak}, 1e-3 + batch * flops / (0.5 * peak)});
      }
    }
  }
  request.evaluations = 8000;
  const auto model = fitted(request);
  const double truth = 1e-3 + 32 * 8e9 / (0.5 * 8e12);
  EXPECT_NEAR(*predict(model, request.table.factors, {32, 8e9, 8e12}).seconds, truth, 0.02 * truth);
}

TEST(Fit, IsScoredByLaterMeasurements) {
  const auto& model = known();
  auto later = request().table;
  for (auto& row : later.rows) row.seconds *= 1.5;  // a machine that became slower
  const auto scored = score(model, later);
  EXPECT_EQ(scored.points, 24);
  EXPECT_NEAR(*scored.median_error, 1.0 / 3, 0.02);  // said / measured is 2/3
  EXPECT_EQ(scored.coverage, 0.0);
  EXPECT_GT(*score(model, request().table).coverage, 0.8);
}

TEST(Fit, SurvivesItsWayThroughAFile) {
  const auto& model = known();
  const auto read = parse_model(to_json(model).dump(), "model.json");
  EXPECT_EQ(to_json(read), to_json(model));
  auto newer = to_json(model);
  newer["model_version"] = 99;
  EXPECT_THROW(static_cast<void>(parse_model(newer.dump(), "model.json")), Error);
  auto strange = to_json(model);
  strange["law"]["terms"][0]["powers"][0]["factor"] = "nobody";
  EXPECT_THROW(static_cast<void>(parse_model(strange.dump(), "model.json")), Error);
}

TEST(Fit, ChecksWhatItIsAskedFor) {
  auto bad = request();
  bad.confidence = 1.5;
  EXPECT_THROW(static_cast<void>(fitted(bad)), Error);
  bad = request();
  bad.families = {"magic"};
  EXPECT_THROW(static_cast<void>(fitted(bad)), Error);
}

}  // namespace
}  // namespace assay::model
