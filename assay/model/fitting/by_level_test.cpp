#include "assay/model/fitting/by_level.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "assay/model/fitting/fit.hpp"
#include "assay/model/prediction.hpp"

namespace assay::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kNames{"jax", "pytorch", "tensorflow"};

struct Truth {
  double a, batch, threads, c;
};

/// a batch^q threads^r + C with 1 % of noise, over a grid, for each framework.
Table planted_levels(const std::vector<Truth>& truths) {
  Table table{{{"framework", Role::extrinsic, kNames}, {"batch", Role::extrinsic}, {"threads", Role::parallel}}, {}};
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.01);
  for (std::size_t k = 0; k < truths.size(); ++k) {
    const auto& t = truths[k];
    for (const double batch : {1, 2, 4, 8, 16, 32}) {
      for (const double threads : {1, 2, 4, 8}) {
        const double seconds = t.a * std::pow(batch, t.batch) * std::pow(threads, t.threads) + t.c;
        table.rows.push_back({{double(k + 1), batch, threads}, seconds * std::exp(noise(random))});
      }
    }
  }
  return table;
}

FitRequest request_of(const std::vector<Truth>& truths) {
  FitRequest request;
  request.table = planted_levels(truths);
  request.families = {"generic"};
  request.evaluations = 4000;
  request.draws = 60;
  return request;
}

Model fit_of_levels(const FitRequest& request) {
  return fit(request, [](std::size_t, std::size_t) {});
}

/// The exponents are shared; a and C are each one's own.
const Model& known_levels() {
  static const Model model =
      fit_of_levels(request_of({{2e-3, 0.9, -0.7, 5e-3}, {3e-3, 0.9, -0.7, 2e-3}, {1.2e-3, 0.9, -0.7, 9e-3}}));
  return model;
}

TEST(ByLevel, FindsWhatIsSharedAndWhatIsNot) {
  EXPECT_EQ(known_levels().law.by, "framework");
  EXPECT_THAT(known_levels().law.own, ElementsAre("a", "C"));
  EXPECT_EQ(known_levels().model_version, 2);
  std::map<std::string, double> found;
  for (const auto& one : known_levels().constants) found[one.name + "/" + one.level] = one.value;
  EXPECT_NEAR(found.at("q_batch/"), 0.9, 0.02);
  EXPECT_NEAR(found.at("q_threads/"), -0.7, 0.02);
  EXPECT_NEAR(found.at("a/jax"), 2e-3, 1e-4);
  EXPECT_NEAR(found.at("a/pytorch"), 3e-3, 1.5e-4);
  EXPECT_NEAR(found.at("C/tensorflow"), 9e-3, 2e-4);
  EXPECT_EQ(found.size(), 8u);  // 3 of a, 2 exponents, 3 of C
}

TEST(ByLevel, OneLawForAllWhereNothingDiffers) {
  const Truth same{2e-3, 0.9, -0.7, 5e-3};
  const auto model = fit_of_levels(request_of({same, same, same}));
  EXPECT_TRUE(model.law.own.empty());
  EXPECT_EQ(model.constants.size(), 4u);
  EXPECT_THAT(model.notes.front(), HasSubstr("has the same constants"));
}

TEST(ByLevel, AnExponentMayBeOwn) {
  const auto model =
      fit_of_levels(request_of({{2e-3, 0.9, -0.7, 5e-3}, {2e-3, 0.9, -0.3, 5e-3}, {2e-3, 0.9, -0.5, 5e-3}}));
  EXPECT_THAT(model.law.own, ElementsAre("q_threads"));
}

TEST(ByLevel, SaysTimesOfALevelByItsName) {
  // In another order than the model's: the name counts, not the place.
  const std::vector<Factor> asked{
      {"batch"}, {"framework", Role::extrinsic, std::vector<std::string>{"pytorch"}}, {"threads"}};
  const auto said = predict(known_levels(), asked, {32, 1, 1});
  const double truth = 3e-3 * std::pow(32, 0.9) + 2e-3;
  ASSERT_TRUE(said.seconds);
  EXPECT_NEAR(*said.seconds, truth, 0.03 * truth);
  EXPECT_LT(*said.low, truth);
  EXPECT_GT(*said.high, truth);
}

TEST(ByLevel, ALevelNeverSeenIsRefused) {
  const std::vector<Factor> asked{
      {"framework", Role::extrinsic, std::vector<std::string>{"caffe"}}, {"batch"}, {"threads"}};
  const auto said = predict(known_levels(), asked, {1, 32, 1});
  EXPECT_FALSE(said.seconds);
  EXPECT_THAT(said.refused.value_or(""), HasSubstr("was never measured"));
  EXPECT_THAT(said.refused.value_or(""), HasSubstr("measured were jax, pytorch, tensorflow"));
}

TEST(ByLevel, SurvivesItsFile) {
  const auto read = parse_model(to_json(known_levels()).dump(), "model");
  EXPECT_EQ(to_json(read), to_json(known_levels()));
}

TEST(ByLevel, ALawOfAnUnknownLevelIsRefused) {
  auto json = to_json(known_levels());
  json["law"]["terms"][0]["level"] = "caffe";
  EXPECT_THROW(parse_model(json.dump(), "model"), Error);
}

TEST(ByLevel, LinearFamiliesShareToo) {
  // machines^-1 is shared work: c2 alone differs. c0 1, work 0.01 size, shared 0.2 size / machines, tree 0.5 log2.
  Table table{{{"site", Role::extrinsic, std::vector<std::string>{"east", "west"}},
               {"machines", Role::parallel},
               {"size", Role::intrinsic}},
              {}};
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.01);
  for (const int site : {1, 2}) {
    for (const double machines : {1, 2, 4, 8, 16}) {
      for (const double size : {16, 32, 64, 128, 256}) {
        const double shared = site == 1 ? 0.2 : 0.4;
        const double seconds = 1 + 0.01 * size + shared * size / machines + 0.5 * std::log2(machines);
        table.rows.push_back({{double(site), machines, size}, seconds * std::exp(noise(random))});
      }
    }
  }
  FitRequest request;
  request.table = table;
  request.families = {"ernest"};
  request.draws = 20;
  EXPECT_THAT(fit_of_levels(request).law.own, ElementsAre("c2"));
}

TEST(ByLevel, OneLevelIsRefused) {
  auto request = request_of({{2e-3, 0.9, -0.7, 5e-3}});
  request.table.factors.front().names = std::vector<std::string>{"jax"};
  try {
    fit_of_levels(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has one level"));
  }
}

TEST(ByLevel, ALevelWithFewPointsIsNamed) {
  auto request = request_of({{2e-3, 0.9, -0.7, 5e-3}, {3e-3, 0.9, -0.7, 2e-3}, {1.2e-3, 0.9, -0.7, 9e-3}});
  auto& rows = request.table.rows;
  rows.erase(std::remove_if(rows.begin(), rows.end(), [](const Row& r) { return r.values[0] == 3 && r.values[1] > 1; }),
             rows.end());
  rows.erase(std::remove_if(rows.begin(), rows.end(), [](const Row& r) { return r.values[0] == 3 && r.values[2] > 2; }),
             rows.end());
  try {
    fit_of_levels(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tensorflow has 2 points"));
  }
}

}  // namespace
}  // namespace assay::model
