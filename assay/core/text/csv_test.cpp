#include "assay/core/text/csv.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(CsvCell, TextThatASpreadsheetWouldCarryOutIsMarked) {
  EXPECT_EQ(csv_cell("=1+1"), "'=1+1");
  EXPECT_EQ(csv_cell("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("-2+3"), "'-2+3");
  EXPECT_EQ(csv_cell("@SUM(A1:A9)"), "'@SUM(A1:A9)");
  EXPECT_EQ(csv_cell("\t=1"), "'\t=1");
  EXPECT_EQ(csv_cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(csv_cell("\n=1"), "\"'\n=1\"");
  EXPECT_EQ(csv_cell("=HYPERLINK(\"x\",\"y\")"), "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"");
  EXPECT_EQ(csv_cell("-"), "'-");
  EXPECT_EQ(csv_cell("-inf"), "'-inf");
  EXPECT_EQ(csv_cell("-1 "), "\"'-1 \"");
}

TEST(CsvCell, NumbersStayNumbersAndOtherTextStaysItself) {
  for (const char* same : {"", "0", "-1", "-1.5", "-1e-3", "1e9", "resnet50", "a=b", "a-b", "x@y", "'quoted'", "é"}) {
    EXPECT_EQ(csv_cell(same), same);
  }
}

TEST(CsvCell, QuotesStandWhereTheyMust) {
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a \"b\"\nc"), "\"a \"\"b\"\"\nc\"");
  EXPECT_EQ(csv_cell(" a"), "\" a\"");
  EXPECT_EQ(csv_cell("a\t"), "\"a\t\"");
}

TEST(CsvCell, WhatWasMarkedIsReadBackAsItWas) {
  for (const char* text : {"=1", "'=1", "''=1", "'", "''", "'a", "-1", "-x", "'-1", "@", "a", "", "'é"}) {
    const auto cell = csv_cell(text);
    ASSERT_EQ(cell.find('"'), std::string::npos) << "none of these needs quotes: " << text;
    EXPECT_EQ(text_of_csv_cell(cell), text);
  }
}

}  // namespace
}  // namespace assay
