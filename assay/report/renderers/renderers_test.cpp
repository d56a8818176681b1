#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/markdown.hpp"
#include "assay/report/renderers/terminal.hpp"

namespace assay::report {
namespace {

/// One of every kind of block.
Document sample() {
  Document document;
  document.paragraph("two | sides");
  Table table({{"side"}, {"step", Table::Align::right}, {""}});
  table.add({"a", "1 ms", "██"});
  document.add(table);
  document.item("b is slower", 1, Tone::bad);
  document.item("by phase", 2);
  document.add(Curve{{1, 2}, "2 points"});
  document.heading("Map");
  document.add(CharacterMap{"1.00\n", "\033[31m1.00\033[0m\n"});
  document.gap();
  document.term("warning", "steal: 12 %", Tone::warning);
  document.term("", "Stop the neighbour.");
  return document;
}

TEST(Renderers, ATerminalWithoutColoursAndBlocksGetsPlainText) {
  EXPECT_EQ(as_terminal(sample(), {0, false, false}),
            "two | sides\n"
            "side  step\n"
            "a     1 ms  ##\n"
            "  b is slower\n"
            "    by phase\n"
            "  _^  2 points\n"
            "\n"
            "Map\n"
            "1.00\n"
            "\n"
            "warning  steal: 12 %\n"
            "         Stop the neighbour.\n");
}

TEST(Renderers, ATerminalWithColoursHasTones) {
  const auto text = as_terminal(sample(), {0, true, true});
  EXPECT_THAT(text, testing::HasSubstr("  \033[31mb is slower\033[0m\n"));
  EXPECT_THAT(text, testing::HasSubstr("\033[31m1.00\033[0m"));
  EXPECT_THAT(text, testing::HasSubstr("\033[1;33mwarning\033[0m  steal"));
  EXPECT_THAT(text, testing::HasSubstr("1 ms  ██"));
}

TEST(Renderers, ATermIsBrokenAtTheWidthBelowItsText) {
  Document document;
  document.term("note", "one two three four five six seven eight nine ten");
  // 40 columns, 6 of them for the word: 34 are left.
  EXPECT_EQ(as_terminal(document, {40, true, false}),
            "note  one two three four five six seven\n"
            "      eight nine ten\n");
}

TEST(Renderers, MarkdownSetsBlocksApartAndTakesNothingForMarkup) {
  EXPECT_EQ(as_markdown(sample()),
            "two &#124; sides\n"
            "\n"
            "| side | step |  |\n"
            "| --- | ---: | --- |\n"
            "| a | 1 ms | ██ |\n"
            "\n"
            "- **b is slower**\n"
            "  - by phase\n"
            "- ▁█ 2 points\n"
            "\n"
            "### Map\n"
            "\n"
            "```text\n"
            "1.00\n"
            "```\n"
            "\n"
            "- **warning** steal: 12 %\n"
            "  - Stop the neighbour.\n");
}

TEST(Renderers, AnEmptyDocumentIsEmpty) {
  EXPECT_EQ(as_terminal({}, {}), "");
  EXPECT_EQ(as_markdown({}), "");
}

}  // namespace
}  // namespace assay::report
