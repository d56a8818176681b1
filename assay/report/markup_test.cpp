#include "assay/report/markup.hpp"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(Markup, TextIsNeverMarkup) {
  EXPECT_EQ(escaped("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
}

TEST(Markup, ControlCharactersAreVisibleAndLongTextIsCut) {
  EXPECT_EQ(escaped(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escaped("abcdef", 4).substr(0, 1), "a");
  EXPECT_NE(escaped("abcdef", 4).find("…"), std::string::npos);
}

TEST(Markup, JsonInAScriptHasNoLessThan) {
  const auto text = script_json({{"a", "</script><!--"}});
  EXPECT_EQ(text, "{\"a\":\"\\u003c/script>\\u003c!--\"}");
  EXPECT_EQ(json::parse(text)["a"], "</script><!--");
}

TEST(Markup, AWordOfACommandIsQuotedWhereItMustBe) {
  EXPECT_EQ(shell_word("assay.db"), "assay.db");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's;rm"), "'it'\\''s;rm'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace assay::report
