#include "assay/report/table.hpp"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(Table, columns_line_up_and_lines_have_no_trailing_blanks) {
  Table table({{"name", Table::Align::left}, {"ms", Table::Align::right}});
  table.add({"a", "1.5"});
  table.add({"long name", "12"});
  EXPECT_EQ(table.text(0),
            "name        ms\n"
            "a          1.5\n"
            "long name   12\n");
}

TEST(Table, the_widest_text_column_is_shortened_to_fit) {
  Table table({{"t", Table::Align::left}, {"n", Table::Align::right}});
  table.add({"abcdefghijklmnopqrstuvwxyz", "123456"});
  const std::string text = table.text(22);
  EXPECT_EQ(text.substr(text.find('\n') + 1), "abcdefghijklm…  123456\n");
}

TEST(Fit, one_column_a_code_point) {
  EXPECT_EQ(display_width("äöü"), 3u);
  EXPECT_EQ(fit("äöüß", 4), "äöüß");
  EXPECT_EQ(fit("äöüßx", 4), "äöü…");
}

TEST(Fit, escape_sequences_cannot_steer_the_terminal) {
  EXPECT_EQ(fit("\033[31mred", 80), "\\x1b[31mred");
}

}  // namespace
}  // namespace assay::report
