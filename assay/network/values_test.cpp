#include "assay/network/values.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "assay/core/tensors.hpp"
#include "assay/network/network.hpp"

namespace assay::network {
namespace {

// The first numbers of splitmix64 from state 1234567, as published with the generator: 6457827717110365317,
// 3203168211198807973, 9817491932198370423. Their upper 24 bits over 2^24 are the values in [0, 1).
TEST(Values, TheGeneratorIsSplitmix64) {
  const std::uint64_t published[] = {6457827717110365317U, 3203168211198807973U, 9817491932198370423U};
  for (std::uint64_t i = 0; i < 3; ++i) {
    const double unit = static_cast<double>(published[i] >> 40) / (1 << 24);
    EXPECT_FLOAT_EQ(real_at(1234567, i, 0.5, 0.5), static_cast<float>(unit));
    EXPECT_EQ(integer_at(1234567, i, 1000), static_cast<std::int64_t>(unit * 1000));
  }
}

TEST(Values, EveryParameterIsThereOnce) {
  for (const auto& about : all_networks()) {
    const auto graph = build(about.name);
    std::int64_t parameters = 0;
    std::set<std::string> names;
    for (const auto& fill : fills_of(graph, 2)) {
      EXPECT_TRUE(names.insert(fill.name).second) << fill.name;
      const bool is_parameter =
          fill.name.ends_with("/weight") || fill.name.ends_with("/weight_state") || fill.name.ends_with("/bias");
      if (is_parameter) parameters += elements(fill.shape);
    }
    EXPECT_EQ(parameters, graph.parameters) << about.name;
    EXPECT_TRUE(graph.loss != Loss::cross_entropy || names.count("target") == 1) << about.name;
  }
}

// Bottleneck blocks: the norm after the third convolution ends the branch, that of the shortcut does not.
TEST(Values, OnlyTheEndsOfResidualBranchesAreDamped) {
  int damped = 0;
  for (const auto& fill : fills_of(build("resnet50"), 1)) damped += fill.middle == 0.2 ? 1 : 0;
  EXPECT_EQ(damped, 3 + 4 + 6 + 3);
}

TEST(Values, TheFileHoldsWhatTheFillsSay) {
  const auto graph = build("mobilenet_v2", {{"image", Scalar{std::int64_t{32}}}});
  const auto path = std::filesystem::path(testing::TempDir()) / "values_test.safetensors";
  write_values(graph, 2, 7, path);
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  std::filesystem::remove(path);
  const std::string bytes = text.str();
  const std::size_t begin = 8 + tensors_header_length(bytes);
  const auto tensors = read_tensors_header(std::string_view(bytes).substr(8, begin - 8),
                                           static_cast<std::int64_t>(bytes.size() - begin));
  for (const auto& fill : fills_of(graph, 2)) {
    ASSERT_EQ(tensors.count(fill.name), 1U) << fill.name;
    const auto& place = tensors.at(fill.name);
    EXPECT_EQ(place.shape, fill.shape);
    const char* at = bytes.data() + begin + place.begin;
    const std::uint64_t stream = stream_of(7, fill.name);
    for (std::int64_t i = 0; i < elements(fill.shape); i += 97) {
      if (fill.below > 0) {
        std::int64_t value = 0;
        std::memcpy(&value, at + 8 * i, 8);
        ASSERT_EQ(value, integer_at(stream, static_cast<std::uint64_t>(i), fill.below));
        ASSERT_LT(value, fill.below);
      } else {
        float value = 0;
        std::memcpy(&value, at + 4 * i, 4);
        ASSERT_EQ(value, real_at(stream, static_cast<std::uint64_t>(i), fill.middle, fill.half));
        ASSERT_NEAR(value, fill.middle, fill.half + 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace assay::network
