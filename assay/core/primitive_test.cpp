#include "assay/core/primitive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& name, std::map<std::string, Scalar> options, std::int64_t batch = 1) {
  Workload workload;
  workload.network = name;
  workload.options = std::move(options);
  workload.batch = batch;
  try {
    primitive_options(*find_primitive(name), workload);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
}

TEST(PrimitiveOptions, HaveDefaultsWhereNothingIsGiven) {
  Workload workload;
  workload.network = "conv2d";
  workload.options = {{"kernel", std::int64_t{5}}, {"pass", std::string("backward_data")}};
  const auto options = primitive_options(*find_primitive("conv2d"), workload);
  EXPECT_EQ(options.at("kernel"), 5);
  EXPECT_EQ(options.at("stride"), 1);
  EXPECT_EQ(options.choices.at("pass"), "backward_data");
  EXPECT_THAT(convolution_sizes(options), ElementsAre(56, 56));
  EXPECT_EQ(windows_along(options, 56), 54);  // 56 + 2 - 5 + 1
}

TEST(PrimitiveOptions, AreRefusedByName) {
  const auto refuses = [](const std::string& name, const char* option, Scalar value, const char* part) {
    EXPECT_THAT(refusal(name, {{option, value}}), HasSubstr(part));
  };
  refuses("gemm", "banana", std::int64_t{1}, "gemm has no option 'banana'. It has: m, n, k.");
  refuses("gemm", "m", std::int64_t{0}, "'m' is an integer from 1 to 1099511627776, not 0");
  refuses("gemm", "m", 2.5, "not 2.5");
  refuses("gemm", "m", std::string("many"), "not \"many\"");
  refuses("conv2d", "padding", std::int64_t{-1}, "'padding' is an integer from 0");
  refuses("conv2d", "pass", std::string("sideways"), "forward, backward_data, backward_weights, not \"sideways\"");
  refuses("conv2d", "kernel", std::int64_t{59}, "'kernel' 59 does not fit 56 values with padding 1");
  refuses("conv2d", "groups", std::int64_t{3}, "'channels_in' 64 cannot be dealt out to 3 groups");
  refuses("rnn", "cell", std::int64_t{1}, "lstm, gru, not 1");
  EXPECT_EQ(refusal("conv2d", {{"kernel", std::int64_t{58}}}), "");  // just fits
}

TEST(PrimitiveOptions, ABatchNeedsSamples) {
  EXPECT_THAT(refusal("gemm", {}, 2), HasSubstr("batch 2"));
  EXPECT_EQ(refusal("conv2d", {}, 2), "");
}

// (5 + 2 x 0 - 2) / 2 + 1 = 2: the last value is left over, as in every framework.
TEST(Convolution, AWindowThatDoesNotFitIsLeftOut) {
  PrimitiveOptions options;
  options.integers = {{"kernel", 2}, {"stride", 2}, {"padding", 0}};
  EXPECT_EQ(windows_along(options, 5), 2);
  EXPECT_EQ(windows_along(options, 1), 0);
}

TEST(Primitives, HaveOneNameEach) {
  std::map<std::string, int> names;
  for (const auto& primitive : all_primitives()) EXPECT_EQ(++names[primitive.name], 1) << primitive.name;
  EXPECT_EQ(find_primitive("banana"), nullptr);
}

}  // namespace
}  // namespace assay
