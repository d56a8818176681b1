#include "assay/core/text/number.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace assay {
namespace {

TEST(Number, is_the_whole_text) {
  EXPECT_EQ(parse_number<std::int64_t>("-42"), -42);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500.0);
  for (const auto* text : {"", " 1", "1 ", "1x", "+1", "0x10", "--1"}) {
    EXPECT_EQ(parse_number<std::int64_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<double>("1.5.2"), std::nullopt);
}

TEST(Number, that_does_not_fit_is_refused) {
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint8_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<double>("1e999"), std::nullopt);
}

TEST(Number, is_taken_off_the_front) {
  std::string_view text = "12-7,x";
  EXPECT_EQ(take_number<int>(text), 12);
  EXPECT_EQ(text, "-7,x");
  EXPECT_EQ(take_number<int>(text), -7);
  EXPECT_EQ(take_number<int>(text), std::nullopt);
  EXPECT_EQ(text, ",x");
}

}  // namespace
}  // namespace assay
