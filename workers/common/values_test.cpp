#include "workers/common/values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "assay/core/error.hpp"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Values : public testing::Test {
 protected:
  Values() : path_((fs::temp_directory_path() / ("assay_values_" + std::to_string(getpid()))).string()) {}
  ~Values() override { fs::remove(path_); }

  /// A file by hand: the length in 8 bytes, little-endian, the header, the data.
  void write(const std::string& header, const std::string& data) const {
    std::ofstream(path_, std::ios::binary) << file_of(header, data);
  }

  static std::string file_of(const std::string& header, const std::string& data) {
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size() & 0xff);
    length[1] = static_cast<char>(header.size() >> 8);
    return length + header + data;
  }

  const std::string path_;
};

std::string error_of(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  try {
    read_header(length + header + data);
    return "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
}

TEST_F(Values, a_file_by_hand_is_read) {
  // 1.5 is 0x3fc00000 and -2 is 0xc0000000 in IEEE 754.
  const std::string reals("\x00\x00\xc0\x3f\x00\x00\x00\xc0", 8), whole("\x07\x00\x00\x00\x00\x00\x00\x00", 8);
  write(R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
        R"("n":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})",
        reals + whole);
  const auto values = read_values(path_);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values.at("x").shape, (Shape{2, 1}));
  EXPECT_EQ(static_cast<const float*>(values.at("x").data.get())[0], 1.5F);
  EXPECT_EQ(static_cast<const float*>(values.at("x").data.get())[1], -2.0F);
  EXPECT_EQ(values.at("n").type, ValueType::integer);
  EXPECT_EQ(values.at("n").elements(), 1u);
  EXPECT_EQ(*static_cast<const std::int64_t*>(values.at("n").data.get()), 7);
}

TEST_F(Values, a_tensor_may_lie_anywhere) {
  const std::string whole("\x07\x00\x00\x00\x00\x00\x00\x00", 8);
  // Headers of 0 to 7 blanks more: in most of them the number is not aligned.
  for (int blanks = 0; blanks < 8; ++blanks) {
    write(R"({"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})" + std::string(blanks, ' '), whole);
    const auto value = read_values(path_).at("n");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(value.data.get()) % alignof(std::int64_t), 0u);
    EXPECT_EQ(*static_cast<const std::int64_t*>(value.data.get()), 7);
  }
}

TEST_F(Values, what_is_written_is_read_back) {
  auto [odd, odd_data] = make_real({3});
  std::memcpy(odd_data, std::array{1.0F, 2.0F, 3.0F}.data(), 12);
  auto [whole, whole_data] = make_integer({1, 2});
  whole_data[0] = -1;
  whole_data[1] = std::int64_t{1} << 40;
  write_values(path_, {{"a", odd}, {"b/weight", whole}, {"empty", make_real({0, 4}).first}});
  const auto values = read_values(path_);
  EXPECT_EQ(std::memcmp(values.at("a").data.get(), odd_data, 12), 0);
  EXPECT_EQ(std::memcmp(values.at("b/weight").data.get(), whole_data, 16), 0);
  EXPECT_EQ(values.at("empty").elements(), 0u);
}

TEST_F(Values, what_cannot_be_read_or_written_is_named) {
  try {
    read_values("/no/such/file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/file cannot be read: No such file"));
  }
  EXPECT_THROW(read_values("/dev/null"), Error);
  EXPECT_THROW(write_values("/no/such/folder/file", {}), Error);
}

TEST(ValuesHeader, what_is_malformed_is_refused_with_the_tensor) {
  const std::string four(4, '\0');
  const auto one = [](const std::string& entry) { return R"({"x":)" + entry + "}"; };
  EXPECT_THAT(error_of(one(R"({"dtype":"F16","shape":[2],"data_offsets":[0,4]})"), four), HasSubstr("F16"));
  EXPECT_THAT(error_of(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), four),
              HasSubstr("tensor 'x': it has 4 bytes where its shape needs 8"));
  EXPECT_THAT(error_of(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"), four), HasSubstr("outside"));
  EXPECT_THAT(error_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), four), HasSubstr("outside"));
  EXPECT_THAT(error_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[-4,0]})"), four), HasSubstr("outside"));
  EXPECT_THAT(error_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"), four), HasSubstr("data_offsets"));
  EXPECT_THAT(error_of(one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), four), HasSubstr("-1"));
  // 2^32 times 2^32 is 0 in 64 bits.
  EXPECT_THAT(error_of(one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]})"), four),
              HasSubstr("too large"));
  EXPECT_THAT(error_of(one(R"({"dtype":"F32","shape":[1]})"), four), HasSubstr("data_offsets"));
  EXPECT_THAT(error_of("[]", four), HasSubstr("not an object"));
  EXPECT_THAT(error_of("{", four), testing::Not("no error"));
}

TEST(ValuesHeader, a_length_beyond_the_file_is_refused) {
  EXPECT_THROW(read_header(""), Error);
  EXPECT_THROW(read_header(std::string(7, '\0')), Error);
  EXPECT_THROW(read_header(std::string(8, '\xff') + "{}"), Error);
  EXPECT_THROW(read_header(std::string("\x03\0\0\0\0\0\0\0{}", 10)), Error);
  EXPECT_EQ(read_header(std::string("\x02\0\0\0\0\0\0\0{}", 10)).size(), 0u);
}

}  // namespace
}  // namespace assay::worker
