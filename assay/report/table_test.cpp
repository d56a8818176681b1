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

Table with_spare_column() {
  Table table({{"id", Table::Align::left, 0, true},
               {"name", Table::Align::left},
               {"ms", Table::Align::right},
               {"p99", Table::Align::right, 1}});
  table.add({"12345678", "abcdefghijklmnopqrstuvwxyz0123456789", "1.5", "2.25"});
  return table;
}

std::string second_line(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

TEST(Table, spare_columns_go_before_text_becomes_unreadable_and_numbers_stay_whole) {
  const auto table = with_spare_column();
  // 8 + 36 + 3 + 4 columns and 3 gaps of 2 are 57; text is first cut to 30, which makes 51.
  EXPECT_EQ(second_line(table.text(51)), "12345678  abcdefghijklmnopqrstuvwxyz012…  1.5  2.25\n");
  EXPECT_EQ(table.room_note(51), "");
  // Without the spare column 50 - 8 - 3 and 2 gaps leave 35 for the name.
  EXPECT_EQ(second_line(table.text(50)), "12345678  abcdefghijklmnopqrstuvwxyz01234567…  1.5\n");
  EXPECT_EQ(table.room_note(50), "No room for: p99. A wider window shows them.\n");
  // 20 - 8 - 3 - 4 leaves 5 for the name. Below 4 it is not cut, whatever the width.
  EXPECT_EQ(second_line(table.text(20)), "12345678  abcd…  1.5\n");
  EXPECT_EQ(second_line(table.text(1)), "12345678  abc…  1.5\n");
}

TEST(Table, what_tells_rows_apart_stays_where_what_is_the_same_goes) {
  Table table({{"same", Table::Align::left}, {"worker", Table::Align::left, 2}, {"ms", Table::Align::right, 1}});
  table.add({"abcdefgh", "one", "1.5"});
  table.add({"abcdefgh", "two", "2.5"});
  // 8 + 6 + 3 columns and 2 gaps of 2 are 21. The worker is the most spare, but it alone says which row is which.
  EXPECT_EQ(table.text(17),
            "same      worker\n"
            "abcdefgh  one\n"
            "abcdefgh  two\n");
  EXPECT_EQ(table.text(13),
            "same   worker\n"
            "abcd…  one\n"
            "abcd…  two\n");
}

TEST(Table, as_markdown_has_every_column_and_no_markup_of_its_cells) {
  Table table({{"name", Table::Align::left}, {"ms", Table::Align::right, 1}});
  table.add({"a|b <i>", "1.5"});
  // 124 is |, 60 <, 62 > in ASCII.
  EXPECT_EQ(table.markdown(), "| name | ms |\n| --- | ---: |\n| a&#124;b &#60;i&#62; | 1.5 |\n");
}

TEST(Fit, one_column_a_code_point) {
  EXPECT_EQ(display_width("äöü"), 3u);
  EXPECT_EQ(fit("äöüß", 4), "äöüß");
  EXPECT_EQ(fit("äöüßx", 4), "äöü…");
}

TEST(Fit, escape_sequences_cannot_steer_the_terminal) {
  EXPECT_EQ(fit("\033[31mred", 80), "\\x1b[31mred");
}

TEST(Table, numbers_give_way_before_rows_look_the_same) {
  Table table({{"workload"}, {"settings"}, {"median", Table::Align::right}, {"samples/s", Table::Align::right}});
  table.add({"toy infer b1", "intra_op=1", "300 us", "3.333k/s"});
  table.add({"toy infer b1", "intra_op=2", "165 us", "6.061k/s"});
  // 12 + 10 + 6 + 9 and three gaps are 43 columns; in 32 the settings have room only without the last number.
  const auto text = table.text(32);
  EXPECT_NE(text.find("intra_op=1"), std::string::npos) << text;
  EXPECT_NE(text.find("intra_op=2"), std::string::npos) << text;
  EXPECT_EQ(text.find("samples/s"), std::string::npos) << text;
  EXPECT_NE(text.find("165 us"), std::string::npos) << text;
  EXPECT_EQ(table.room_note(32), "No room for: samples/s. A wider window shows them.\n");
  EXPECT_NE(table.text(43).find("samples/s"), std::string::npos);
}

}  // namespace
}  // namespace assay::report
