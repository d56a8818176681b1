#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/html.hpp"
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

TEST(Renderers, HtmlHasEveryBlockAsAnElement) {
  // The curve of 1 and 2 goes from the lower edge (24 - 1) at the left to the upper one (1) at the right, 160 away.
  EXPECT_EQ(as_html(sample()),
            "<p>two | sides</p>\n"
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n"
            "<thead><tr><th>side</th>\n<th class=\"right\">step</th>\n<td></td>\n</tr></thead>\n"
            "<tbody>\n<tr><td>a</td>\n<td class=\"right\">1 ms</td>\n<td>██</td>\n</tr>\n</tbody>\n</table></div>\n"
            "<ul>\n<li class=\"bad\">b is slower</li>\n<li class=\"deep\">by phase</li>\n"
            "<li class=\"plain\"><svg class=\"curve\" viewBox=\"0 0 160 24\" width=\"160\" height=\"24\" "
            "aria-hidden=\"true\"><path class=\"line\" d=\"M0.0 23.0L160.0 1.0\"/></svg> 2 points</li>\n</ul>\n"
            "<h3>Map</h3>\n<pre tabindex=\"0\">1.00\n</pre>\n"
            "<dl>\n<dt class=\"warning\">warning</dt>\n<dd>steal: 12 %</dd>\n<dd>Stop the neighbour.</dd>\n</dl>\n");
}

TEST(Renderers, HtmlTakesNoTextForMarkup) {
  const std::string harm = "<script>x</script>&\"'";
  Document document;
  document.heading(harm);
  document.paragraph(harm);
  document.item(harm);
  document.term(harm, harm);
  document.add(Curve{{1}, harm});
  document.add(CharacterMap{harm + "\n", harm});
  Table table({{harm}});
  table.add({harm});
  document.add(table);
  const auto html = as_html(document);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  std::size_t shown = 0;
  for (auto at = html.find("&lt;script&gt;x"); at != std::string::npos; at = html.find("&lt;script&gt;x", at + 1))
    ++shown;
  EXPECT_EQ(shown, 9u);  // each of them, the term and the table twice
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

TEST(Renderers, AMatrixThatDoesNotFitHasRowsThatAreAlikeInGroups) {
  Table table({{"workload"}, {"first"}, {"second"}});
  table.add({"a", "it", "-"});
  table.add({"b", "-", "t"});
  table.add({"c", "it", "-"});
  Document document;
  document.add(Matrix{table});
  const std::string whole =
      "workload  first  second\n"
      "a         it     -\n"
      "b         -      t\n"
      "c         it     -\n";
  EXPECT_EQ(as_terminal(document, {0, true, false}), whole);
  EXPECT_EQ(as_terminal(document, {23, true, false}), whole);  // as wide as its head
  EXPECT_EQ(as_terminal(document, {22, true, false}),
            "a, c\n"
            "  first it\n"
            "b\n"
            "  second t\n");
  EXPECT_THAT(as_markdown(document), testing::HasSubstr("| b | - | t |\n"));
  EXPECT_THAT(as_html(document), testing::HasSubstr("<td>b</td>"));
}

TEST(Renderers, AnEmptyDocumentIsEmpty) {
  EXPECT_EQ(as_terminal({}, {}), "");
  EXPECT_EQ(as_markdown({}), "");
}

}  // namespace
}  // namespace assay::report
