#include "assay/report/exports/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using testing::HasSubstr;

// What each character must become is section 2.2 and 2.4 of XML 1.0. tests/report reads such documents with a parser.
TEST(JUnit, suites_count_what_is_in_them) {
  const std::vector<Check> checks{{"a", "one", CheckStatus::passed, "fine", ""},
                                  {"b", "two", CheckStatus::failed, "slower by 4 %", "since tuesday"},
                                  {"a", "three", CheckStatus::undecided, "3 points are missing", ""}};
  EXPECT_EQ(junit_report(checks),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"assay\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">\n"
            "  <testsuite name=\"a\" tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\">\n"
            "    <testcase classname=\"a\" name=\"one\">\n"
            "      <system-out>fine</system-out>\n"
            "    </testcase>\n"
            "    <testcase classname=\"a\" name=\"three\">\n"
            "      <skipped message=\"3 points are missing\"/>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "  <testsuite name=\"b\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\">\n"
            "    <testcase classname=\"b\" name=\"two\">\n"
            "      <failure message=\"slower by 4 %\">since tuesday</failure>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "</testsuites>\n");
}

TEST(JUnit, no_check_is_a_document_too) {
  EXPECT_THAT(junit_report({}), HasSubstr("<testsuites name=\"assay\" tests=\"0\""));
}

TEST(JUnit, what_xml_cannot_write_is_made_visible) {
  const std::string nasty = std::string("a<b>&\"c]]>\n\t\x1b[0m\r\xff\xc3\xa4\xef\xbf\xbf\xed\xa0\x80") + '\0';
  const std::string text = junit_report({{"g", nasty, CheckStatus::failed, nasty, nasty}});
  EXPECT_THAT(text, HasSubstr("name=\"a&lt;b&gt;&amp;&quot;c]]&gt;&#10;&#9;\\x1b[0m\\x0d\\xff\xc3\xa4\\xef\\xbf\\xbf"
                              "\\xed\\xa0\\x80\\x00\""));
  EXPECT_EQ(text.find("]]>"), std::string::npos);
}

TEST(Markdown, failed_checks_stand_first) {
  const std::vector<Check> checks{{"g", "one", CheckStatus::passed, "fine", ""},
                                  {"g", "two", CheckStatus::undecided, "too few", ""},
                                  {"g", "three", CheckStatus::failed, "slower", ""}};
  EXPECT_EQ(markdown_report("history", checks),
            "## history\n"
            "\n"
            "1 failed, 1 undecided, 1 passed\n"
            "\n"
            "| | check | outcome |\n"
            "| --- | --- | --- |\n"
            "| **failed** | three | slower |\n"
            "| undecided | two | too few |\n"
            "| passed | one | fine |\n");
}

TEST(Markdown, text_is_never_markup_and_stays_on_one_line) {
  const std::string text = markdown_report("h", {{"g", "a|b\nc <img> \xff", CheckStatus::failed, "*x* @all", ""}});
  // 124 is |, 60 <, 62 >, 42 *, 64 @ in ASCII.
  EXPECT_THAT(text, HasSubstr("| a&#124;b<br>c &#60;img&#62; \\xff | &#42;x&#42; &#64;all |\n"));
}

TEST(Markdown, without_checks_there_is_no_table) {
  EXPECT_EQ(markdown_report("h", {}), "## h\n\n0 failed, 0 undecided, 0 passed\n");
}

}  // namespace
}  // namespace assay::report
