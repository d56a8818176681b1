#include "assay/plan/sweeps/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace assay::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string numbers_error(const std::string& text) {
  try {
    sweep_numbers(text, "batch");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(Sweep, a_list_keeps_the_order_written) {
  EXPECT_THAT(sweep_numbers("4,1,2", "batch"), ElementsAre(4, 1, 2));
}

TEST(Sweep, an_arithmetic_sweep_includes_its_end_when_reached) {
  EXPECT_THAT(sweep_numbers("4-24+4", "batch"), ElementsAre(4, 8, 12, 16, 20, 24));
  EXPECT_THAT(sweep_numbers("4-23+4", "batch"), ElementsAre(4, 8, 12, 16, 20));
  EXPECT_THAT(sweep_numbers("0-2+1", "loaders"), ElementsAre(0, 1, 2));
}

TEST(Sweep, a_geometric_sweep_includes_its_end_when_reached) {
  EXPECT_THAT(sweep_numbers("1-64*2", "batch"), ElementsAre(1, 2, 4, 8, 16, 32, 64));
  EXPECT_THAT(sweep_numbers("1-63*2", "batch"), ElementsAre(1, 2, 4, 8, 16, 32));
  EXPECT_THAT(sweep_numbers("3-100*3", "batch"), ElementsAre(3, 9, 27, 81));
}

TEST(Sweep, ranges_and_numbers_combine) {
  EXPECT_THAT(sweep_numbers("1, 2 ,8-32*2", "batch"), ElementsAre(1, 2, 8, 16, 32));
}

TEST(Sweep, a_range_of_one_value_is_that_value) {
  EXPECT_THAT(sweep_numbers("5-5+1", "batch"), ElementsAre(5));
  EXPECT_THAT(sweep_numbers("5-5*2", "batch"), ElementsAre(5));
}

TEST(Sweep, a_range_that_never_ends_says_why) {
  EXPECT_THAT(numbers_error("4-1*2"), HasSubstr("batch: '4-1*2' never reaches its end: 1 is below 4."));
  EXPECT_THAT(numbers_error("1-8+0"), HasSubstr("never reaches its end: its step is 0."));
  EXPECT_THAT(numbers_error("1-8*1"), HasSubstr("never reaches its end: its factor is 1."));
  EXPECT_THAT(numbers_error("0-8*2"), HasSubstr("never reaches its end: 0 stays 0"));
}

TEST(Sweep, a_negative_number_is_no_range) {
  EXPECT_THAT(numbers_error("-1"), HasSubstr("'-1' is negative"));
  EXPECT_THAT(numbers_error("-1,-2"), HasSubstr("'-1' is negative"));
  EXPECT_THAT(numbers_error("-4-8+2"), HasSubstr("is negative"));
}

TEST(Sweep, malformed_text_names_the_item_and_the_fix) {
  EXPECT_THAT(numbers_error("4-24"), HasSubstr("'4-24' has no step. Write 4-24+1 to add, or 4-24*2 to multiply."));
  EXPECT_THAT(numbers_error("1,x"),
              HasSubstr("'x' is not a whole number or a sweep. Write 1,2,4 or 4-24+4 or 1-64*2."));
  EXPECT_THAT(numbers_error("1.5"), HasSubstr("'1.5' is not a whole number"));
  EXPECT_THAT(numbers_error("1,,2"), HasSubstr("has an empty item"));
  EXPECT_THAT(numbers_error(""), HasSubstr("has an empty item"));
  EXPECT_THAT(numbers_error("1,"), HasSubstr("has an empty item"));
}

TEST(Sweep, huge_numbers_are_refused_without_overflow) {
  EXPECT_THAT(numbers_error("99999999999999999999"), HasSubstr("is too large"));
  EXPECT_THAT(numbers_error("9007199254740993"), HasSubstr("is too large"));  // 2^53 + 1
  EXPECT_THAT(numbers_error("1-99999999999999999999*2"), HasSubstr("is too large"));
  // 2^53 is reached by doubling 1 exactly 53 times; with a factor of 2^53 the second value is the last.
  EXPECT_EQ(sweep_numbers("1-9007199254740992*2", "n").size(), 54u);
  EXPECT_THAT(sweep_numbers("1-9007199254740992*9007199254740992", "n"), ElementsAre(1, 9007199254740992));
  EXPECT_THAT(sweep_numbers("5-9007199254740992+9007199254740992", "n"), ElementsAre(5));
}

TEST(Sweep, at_most_ten_thousand_values_are_given) {
  EXPECT_EQ(sweep_numbers("1-10000+1", "batch").size(), 10'000u);
  EXPECT_THAT(numbers_error("1-10001+1"), HasSubstr("more than 10000 values"));
  EXPECT_THAT(numbers_error("1-9007199254740992+1"), HasSubstr("more than 10000 values"));
  EXPECT_THAT(numbers_error("1-6000+1,1-6000+1"), HasSubstr("more than 10000 values"));
}

TEST(Sweep, sizes_take_units) {
  EXPECT_THAT(sweep_sizes("1M,2KiB,1024-4096*2", "bucket_bytes"), ElementsAre(1048576, 2048, 1024, 2048, 4096));
  EXPECT_THROW(sweep_sizes("1X", "bucket_bytes"), Error);
  EXPECT_THROW(sweep_sizes("-1M", "bucket_bytes"), Error);
}

TEST(Sweep, words_are_trimmed) {
  EXPECT_THAT(sweep_words(" infer , train", "mode"), ElementsAre("infer", "train"));
  EXPECT_THROW(sweep_words("infer,", "mode"), Error);
}

}  // namespace
}  // namespace assay::plan
