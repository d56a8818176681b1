#include "assay/model/law.hpp"

#include <gtest/gtest.h>

namespace assay::model {
namespace {

const std::vector<Factor> kFactors{{"batch", Role::extrinsic}, {"ranks", Role::parallel}};

TEST(Law, IsTheSumOfItsTerms) {
  const Law law{"any",
                {{0.5, {}, ""},
                 {2, {{"batch", Shape::plain, 2}}, ""},
                 {3, {{"ranks", Shape::others}}, ""},
                 {8, {{"ranks", Shape::share}, {"batch"}}, ""},
                 {1, {{"ranks", Shape::logarithm, 2}}, ""}}};
  // batch 3, ranks 4: 0.5 + 2 * 9 + 3 * 3 + 8 * (3/4) * 3 + 2^2
  EXPECT_DOUBLE_EQ(Evaluator(law, kFactors).seconds({3, 4}), 0.5 + 18 + 9 + 18 + 4);
}

TEST(Law, OfOneRankNeedsNoOther) {
  const Law law{"any", {{1, {}, ""}, {7, {{"ranks", Shape::others}}, ""}, {7, {{"ranks", Shape::share}}, ""}}};
  EXPECT_DOUBLE_EQ(Evaluator(law, kFactors).seconds({3, 1}), 1);
}

TEST(Law, IsPrintedAsAFormulaWithoutWhatIsZero) {
  const Law law{"any",
                {{0.25, {}, ""},
                 {0, {{"batch"}}, ""},
                 {2, {{"batch", Shape::plain, 0.5}, {"ranks", Shape::logarithm}}, ""},
                 {1e-6, {{"ranks", Shape::share}}, "traffic"}}};
  EXPECT_EQ(formula(law), "0.25 + 2 batch^0.5 log2(ranks) + 1e-06 ((ranks-1)/ranks)");
}

TEST(Law, NeedsItsFactors) {
  const Law law{"any", {{1, {{"width"}}, ""}}};
  EXPECT_THROW(Evaluator(law, kFactors), Error);
}

}  // namespace
}  // namespace assay::model
