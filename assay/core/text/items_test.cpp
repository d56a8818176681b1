#include "assay/core/text/items.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

using Items = std::vector<std::string_view>;

TEST(Items, AreWhatCommasSeparateWithoutBlanksAround) {
  EXPECT_EQ(items_of("a, b b\t,c "), (Items{"a", "b b", "c"}));
}

TEST(Items, NothingBetweenCommasIsAnItemToo) {
  EXPECT_EQ(items_of(""), Items{""});
  EXPECT_EQ(items_of(",a, ,"), (Items{"", "a", "", ""}));
}

}  // namespace
}  // namespace assay
