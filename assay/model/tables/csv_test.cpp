#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/model/tables/frame.hpp"

namespace assay::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(parse_csv(text, "x.csv"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Csv, ReadsQuotesLineEndsAndAnEndWithoutOne) {
  const auto frame = parse_csv(
      "\xef\xbb\xbf"
      "a,\"b, \"\"c\"\"\"\r\n1, 2 \n\n\"x\ny\",4",
      "x.csv");
  EXPECT_THAT(frame.columns, ElementsAre("a", "b, \"c\""));
  ASSERT_EQ(frame.rows.size(), 2u);
  EXPECT_THAT(frame.rows[0], ElementsAre("1", "2"));
  EXPECT_THAT(frame.rows[1], ElementsAre("x\ny", "4"));
}

TEST(Csv, SaysWhichLineIsBroken) {
  EXPECT_EQ(refusal_of("a,b\n1,2\n3\n"), "x.csv, line 3: 1 cells below 2 columns.");
  EXPECT_EQ(refusal_of("a,b\n1,\"2\n"), "x.csv, line 3: a quoted cell has no end.");
  EXPECT_EQ(refusal_of("a\n\"1\"2\n"), "x.csv, line 2: a quoted cell goes on after its quotes.");
  EXPECT_THAT(refusal_of(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal_of(std::string(150, ',')), HasSubstr("more than 100 columns"));
}

TEST(Csv, WhatWasWrittenIsReadBackAndNoTextOfItIsAFormula) {
  const Frame frame{{"=name", "a,b", "seconds"},
                    {{"=1+1", "@x", "-1.5"}, {"-2+3", " blank ", "2"}, {"\tx", "\r\n=y", "'=z"}, {"\"+q\"", "'", ""}}};
  const auto text = csv_of(frame);
  EXPECT_EQ(text,
            "'=name,\"a,b\",seconds\n"
            "'=1+1,'@x,-1.5\n"
            "'-2+3,\" blank \",2\n"
            "'\tx,\"'\r\n=y\",''=z\n"
            "\"\"\"+q\"\"\",',\n");
  const auto read = parse_csv(text, "x.csv");
  EXPECT_EQ(read.columns, frame.columns);
  EXPECT_EQ(read.rows, frame.rows);
}

TEST(Frame, IsSplitByItsColumnsOfText) {
  const auto frame = parse_csv("framework,batch,note,step_ms\nb,1,z,10\na,1,z,20\na,2,z,30\n", "x.csv");
  Columns columns;
  columns.time = "step_ms";
  const auto groups = groups_of(frame, columns);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].title, "a");  // the note tells nothing apart
  ASSERT_EQ(groups[0].table.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(groups[0].table.rows[1].seconds, 0.03);
  EXPECT_THAT(groups[0].table.rows[1].values, ElementsAre(2));
  columns.where = {{"framework", "b"}};
  EXPECT_EQ(groups_of(frame, columns).size(), 1u);
}

TEST(Frame, AColumnOfNumbersWithGapsIsNoFactorAndSplitsNothing) {
  const auto frame = parse_csv("batch,width,empty,seconds\n1,50,,1\n2,,,2\n", "x.csv");
  const auto groups = groups_of(frame, {});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].table.factors.size(), 1u);
  EXPECT_EQ(groups[0].table.factors[0].name, "batch");
}

TEST(Frame, IsReadBackFromItsCsv) {
  const Frame frame{{"a", "b, \"c\""}, {{"1", "x\ny"}, {"", "2"}}};
  const auto back = parse_csv(csv_of(frame), "x.csv");
  EXPECT_EQ(back.columns, frame.columns);
  EXPECT_EQ(back.rows, frame.rows);
}

TEST(Frame, RefusesNamesThatAreNotThereAndNumbersThatAreNone) {
  const auto frame = parse_csv("batch,seconds\n1,0\n", "x.csv");
  EXPECT_THROW(static_cast<void>(groups_of(frame, {})), Error);
  Columns columns;
  columns.time = "time";
  EXPECT_THROW(static_cast<void>(groups_of(frame, columns)), Error);
}

}  // namespace
}  // namespace assay::model
