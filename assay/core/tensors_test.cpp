#include "assay/core/tensors.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Tensors, AHeaderIsReadAsItWasWritten) {
  const std::string text =
      tensors_header({{"a/weight", {TensorType::f32, {2, 3}, 0, 24}}, {"target", {TensorType::i64, {4}, 24, 56}}});
  ASSERT_EQ(tensors_header_length(text), text.size() - 8);
  EXPECT_EQ(text.size() % 8, 0U);
  const auto read = read_tensors_header(std::string_view(text).substr(8), 56);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read.at("a/weight").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(read.at("target").type, TensorType::i64);
  EXPECT_EQ(read.at("target").begin, 24);
}

// The layout of the published format: little-endian length, then JSON.
TEST(Tensors, TheLengthIsLittleEndian) {
  EXPECT_EQ(tensors_header_length(std::string("\x02\x01\0\0\0\0\0\0", 8)), 258U);
  EXPECT_THROW(tensors_header_length("short"), Error);
  EXPECT_THROW(tensors_header_length(std::string(8, '\xff')), Error);
}

TEST(Tensors, WhatLiesOutsideOrHasAnotherSizeIsRefused) {
  const auto read = [](const std::string& entry) { return read_tensors_header("{\"a\":" + entry + "}", 100); };
  EXPECT_NO_THROW(read(R"({"dtype":"F32","shape":[25],"data_offsets":[0,100]})"));
  EXPECT_THROW(read(R"({"dtype":"F32","shape":[26],"data_offsets":[0,104]})"), Error);
  EXPECT_THROW(read(R"({"dtype":"F32","shape":[24],"data_offsets":[0,100]})"), Error);
  EXPECT_THROW(read(R"({"dtype":"F32","shape":[1],"data_offsets":[-4,0]})"), Error);
  EXPECT_THROW(read(R"({"dtype":"F16","shape":[1],"data_offsets":[0,2]})"), Error);
  EXPECT_THROW(read(R"({"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,0]})"),
               Error);
  EXPECT_THROW(read("3"), Error);
}

}  // namespace
}  // namespace assay
