#include "assay/core/workloads/learning.hpp"

#include <gtest/gtest.h>

#include "assay/core/trial.hpp"

namespace assay {
namespace {

Trial learning() {
  Trial trial;
  trial.workload.network = "lenet";
  complete_learning(trial.workload);
  trial.workload.options["until"] = std::string("accuracy>=97%");
  trial.worker = {"pytorch", "2.13.0"};
  return trial;
}

std::string refusal_of(const Trial& trial) {
  try {
    check(trial);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Learning, ATitleSaysWhereItEndsAndHowItLearns) {
  EXPECT_EQ(title(learning().workload),
            "lenet train b32 data=digits epochs=100 learning_rate=0.01 optimizer=sgd until=accuracy>=97%");
}

TEST(Learning, ItsOptionsAreNotThoseOfTheNetwork) {
  auto workload = learning().workload;
  workload.options["classes"] = std::int64_t{10};
  const auto own = options_of_network(workload);
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own.count("classes"), 1U);
  workload.data = "memory";  // a network may have any name for its own
  EXPECT_EQ(options_of_network(workload).size(), 5U);
}

TEST(Learning, AnEndIsAnAccuracyAsAShare) {
  EXPECT_DOUBLE_EQ(accuracy_of("accuracy>=97%"), 0.97);
  EXPECT_DOUBLE_EQ(accuracy_of("accuracy >= 0.5"), 0.5);
  EXPECT_DOUBLE_EQ(accuracy_of("accuracy>=100%"), 1);
  for (const char* wrong :
       {"", "97%", "accuracy", "accuracy>97%", "loss>=1", "accuracy>=", "accuracy>=0", "accuracy>=101%"}) {
    EXPECT_THROW(accuracy_of(wrong), Error) << wrong;
  }
}

// 1437 = 44 x 32 + 29 = 1 x 1437.
TEST(Learning, AnEpochHasWholeBatches) {
  EXPECT_EQ(steps_of_epoch(32), 44);
  EXPECT_EQ(steps_of_epoch(1), 1437);
  EXPECT_EQ(steps_of_epoch(1437), 1);
}

TEST(Learning, IsForTrainingOnDigitsInOneProcess) {
  EXPECT_EQ(refusal_of(learning()), "");
  auto trial = learning();
  trial.workload.mode = Mode::infer;
  EXPECT_EQ(refusal_of(trial), "until: an accuracy is reached in mode train, and mode is infer.");
  trial = learning();
  trial.workload.data = "memory";
  EXPECT_EQ(refusal_of(trial), "until: input from memory cannot be learnt, because it is random. Set data to digits.");
  trial = learning();
  trial.workload.options.erase("until");
  EXPECT_EQ(refusal_of(trial), "until: it is missing where digits are learnt. Add one, such as 'accuracy>=97%'.");
  trial = learning();
  trial.placement.ranks = 2;
  EXPECT_EQ(refusal_of(trial),
            "until: an accuracy is reached by one process here, and 2 are asked for. Leave them out.");
  trial = learning();
  trial.workload.data_count = 100;
  EXPECT_EQ(refusal_of(trial),
            "data_count: 100 is for files that are made. The digits are 1797 images of 8 x 8 pixels.");
}

TEST(Learning, ValuesOutsideTheirRangeAreRefused) {
  const auto refuses = [](const char* name, const Scalar& value, std::int64_t batch = 32) {
    auto trial = learning();
    trial.workload.options[name] = value;
    trial.workload.batch = batch;
    return !refusal_of(trial).empty();
  };
  EXPECT_FALSE(refuses("until", std::string("accuracy>=100%"), 1437));
  EXPECT_TRUE(refuses("until", std::string("accuracy>=100%"), 1438));  // no step has so many
  EXPECT_TRUE(refuses("until", 0.97));
  EXPECT_TRUE(refuses("epochs", std::int64_t{0}));
  EXPECT_TRUE(refuses("epochs", 1.5));
  EXPECT_TRUE(refuses("epochs", std::int64_t{1000}, 1));  // 1,437,000 steps
  EXPECT_FALSE(refuses("learning_rate", std::int64_t{1}));
  EXPECT_TRUE(refuses("learning_rate", 0.0));
  EXPECT_TRUE(refuses("learning_rate", std::string("fast")));
  EXPECT_FALSE(refuses("optimizer", std::string("adam")));
  EXPECT_TRUE(refuses("optimizer", std::string("lion")));
}

// 97 % of 360 are 349.2 samples.
TEST(Learning, AnAccuracyIsReachedByTheFirstSampleBeyondIt) {
  Learned learned;
  const Learning asked{.accuracy = 0.97};
  add_score(asked, {10, 20}, 32, 349, learned);
  EXPECT_FALSE(learned.reached);
  add_score(asked, {30, 40}, 32, 350, learned);
  EXPECT_TRUE(learned.reached);
  EXPECT_EQ(learned.ns, 10 + 20 + 30 + 40);
  EXPECT_EQ(learned.samples, 4 * 32);
  EXPECT_EQ(learned.epochs, 2);
  EXPECT_EQ(learned.correct, (std::vector<std::int64_t>{349, 350}));
  EXPECT_DOUBLE_EQ(learned.accuracy, 350.0 / 360);
}

TEST(Learning, AWholeNumberOfSamplesIsEnough) {
  for (std::int64_t tenths = 1; tenths <= 10; ++tenths) {
    const Learning asked{.accuracy = accuracy_of(fmt::format("accuracy>={}%", 10 * tenths))};
    Learned learned;
    add_score(asked, {1}, 1, 36 * tenths, learned);
    EXPECT_TRUE(learned.reached) << tenths;
    add_score(asked, {1}, 1, 36 * tenths - 1, learned);
    EXPECT_FALSE(learned.reached) << tenths;
  }
}

}  // namespace
}  // namespace assay
