#include "workers/common/digits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// As many samples as there are digits: the first three pixels of sample n are n in base 17, and its label is n % 10.
std::string numbered_samples() {
  std::string text = "# made for a test\n";
  constexpr const char* kColumns = "0123456789abcdefg";
  for (int n = 0; n < kDigitsTrained + kDigitsHeldOut; ++n) {
    text += {kColumns[n / 289], kColumns[n / 17 % 17], kColumns[n % 17]};
    text += std::string(61, 'g') + ' ' + std::to_string(n % 10) + '\n';
  }
  return text;
}

int pixel(const DigitSamples& samples, std::size_t sample, std::size_t place) {
  const auto* const values = static_cast<const float*>(samples.images.data.get());
  return static_cast<int>(std::lround(values[64 * sample + place] * 6 + 5));
}

/// Which samples these are, and that their labels came with them.
std::vector<int> numbers_of(const DigitSamples& samples, std::size_t from, std::size_t count) {
  std::vector<int> found;
  for (std::size_t i = from; i < from + count; ++i) {
    const int number = 289 * pixel(samples, i, 0) + 17 * pixel(samples, i, 1) + pixel(samples, i, 2);
    EXPECT_EQ(pixel(samples, i, 3), 16);
    EXPECT_EQ(static_cast<const std::int64_t*>(samples.labels.data.get())[i], number % 10);
    found.push_back(number);
  }
  return found;
}

Prepare learning(std::int64_t seed, std::int64_t batch = 32) {
  Prepare prepare;
  prepare.workload.network = "lenet";
  prepare.workload.mode = Mode::train;
  prepare.workload.batch = batch;
  prepare.workload.data = kDigits;
  prepare.workload.options = {{"until", std::string("accuracy>=97%")},
                              {"epochs", std::int64_t{100}},
                              {"optimizer", std::string("adam")},
                              {"learning_rate", 0.003}};
  prepare.seed = seed;
  return prepare;
}

Graph classifier() {
  Graph graph;
  graph.name = "net";
  graph.inputs = {{"image", {1, 8, 8}, "real", {}}};
  graph.nodes = {{"head", "linear", {"image"}, json::object(), {10}, {}}};
  graph.output = "head";
  graph.loss = "cross_entropy";
  return graph;
}

std::string refusal_of(const Prepare& prepare, const Graph& graph) {
  try {
    const Lessons lessons(prepare, graph, numbered_samples());
  } catch (const Refused& error) {
    return error.what();
  }
  return "";
}

// In Python: order = lambda count, name: sorted(range(count), key=lambda i: hashlib.sha256(f"assay digits {name} {i}"
// .encode()).hexdigest()); split = order(1797, "split 0"); held_out, trained = sorted(split[:360]), sorted(split[360:])
TEST(Lessons, HoldOutTheSamplesThatAllFrameworksDo) {
  const Lessons lessons(learning(1), classifier(), numbered_samples());
  EXPECT_EQ(lessons.held_out().images.shape, (Shape{kDigitsHeldOut, 1, 8, 8}));
  EXPECT_THAT(numbers_of(lessons.held_out(), 0, 6), ElementsAre(0, 6, 15, 18, 21, 22));
  EXPECT_THAT(numbers_of(lessons.held_out(), 357, 3), ElementsAre(1788, 1790, 1794));
  EXPECT_EQ(lessons.how().optimizer, Optimizer::adam);
  EXPECT_EQ(lessons.how().learning_rate, 0.003);
}

// … and [trained[i] for i in order(1437, f"{seed} {epoch}")[:5]].
TEST(Lessons, EachEpochHasTheOrderThatAllFrameworksHave) {
  Lessons lessons(learning(1), classifier(), numbered_samples());
  const auto first = lessons.next();
  EXPECT_EQ(first.images.shape, (Shape{32, 1, 8, 8}));
  EXPECT_THAT(numbers_of(first, 0, 5), ElementsAre(961, 331, 1664, 1776, 1455));
  for (int i = 1; i < 44; ++i) lessons.next();  // 1437 / 32 = 44.9
  lessons.turn();
  lessons.turn();  // the epoch is not over: nothing turns
  EXPECT_THAT(numbers_of(lessons.next(), 0, 5), ElementsAre(1444, 288, 1655, 83, 1229));
  lessons.begin();
  EXPECT_THAT(numbers_of(lessons.next(), 0, 5), ElementsAre(961, 331, 1664, 1776, 1455));
}

TEST(Lessons, GoOnToTheNextEpochWhereNobodyAsksForIt) {
  Lessons lessons(learning(7, 1437), classifier(), numbered_samples());
  EXPECT_THAT(numbers_of(lessons.next(), 0, 5), ElementsAre(349, 1677, 916, 567, 1690));
  auto second = numbers_of(lessons.next(), 0, 1437);
  lessons.begin();
  auto again = numbers_of(lessons.next(), 0, 1437);
  EXPECT_NE(second, again);
  std::sort(second.begin(), second.end());
  std::sort(again.begin(), again.end());
  EXPECT_EQ(second, again);  // the same samples
}

TEST(Lessons, WhatCannotBeLearntIsRefused) {
  EXPECT_EQ(refusal_of(learning(1), classifier()), "");
  Graph graph = classifier();
  graph.inputs[0].shape = {3, 8, 8};
  EXPECT_THAT(refusal_of(learning(1), graph),
              HasSubstr("inputs of [3, 8, 8] and an output of [10], and digits are [1, 8, 8] in 10 classes"));
  graph = classifier();
  graph.nodes[0].shape = {9};
  EXPECT_THAT(refusal_of(learning(1), graph), HasSubstr("Networks for them are lenet and mlp"));
  graph = classifier();
  graph.loss = "mean_square";
  EXPECT_THAT(refusal_of(learning(1), graph), HasSubstr("Networks for them are lenet and mlp"));
  Prepare prepare = learning(1);
  prepare.ranks = 2;
  EXPECT_THAT(refusal_of(prepare, classifier()), HasSubstr("one process learns"));
}

TEST(Lessons, ADamagedFileIsNotLearnt) {
  std::string text = numbered_samples();
  EXPECT_THROW(Lessons(learning(1), classifier(), text.substr(0, text.size() - 67)), std::runtime_error);  // a row less
  EXPECT_THROW(Lessons(learning(1), classifier(), text + text.substr(text.size() - 67)), std::runtime_error);
  text[100] = 'x';
  EXPECT_THROW(Lessons(learning(1), classifier(), text), std::runtime_error);
}

}  // namespace
}  // namespace assay::worker
