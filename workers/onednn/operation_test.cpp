#include "workers/onednn/operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "workers/common/worker.hpp"

namespace assay::onednn {
namespace {

using testing::HasSubstr;
using Options = std::map<std::string, Scalar>;
using Values = std::vector<float>;

Workload workload(const std::string& network, const std::map<std::string, std::int64_t>& sizes, std::int64_t batch = 1,
                  const std::string& precision = "fp32", const Options& choices = {}) {
  Workload out;
  out.network = network;
  out.batch = batch;
  out.precision = precision;
  out.options = choices;
  for (const auto& [name, size] : sizes) out.options[name] = size;
  return out;
}

/// Whole numbers from -3 to 3, which differ by name and place; sums of them are exact, also in bf16 while below 256.
Values whole(const std::string& name, const Sizes& shape) {
  std::size_t count = 1;
  for (const auto size : shape) count *= static_cast<std::size_t>(size);
  Values values(count);
  std::size_t state = std::hash<std::string>{}(name);
  for (auto& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(state >> 33U) / static_cast<float>(1U << 31U) * 7 - 3;
    value = std::floor(value);
  }
  return values;
}

/// Where a CPU has no VNNI, oneDNN halves the weights of an int8 convolution, so that sums fit: odd ones are rounded.
Values even(const std::string& name, const Sizes& shape) {
  auto values = whole(name, shape);
  for (auto& value : values) value *= 2;
  return values;
}

Values fractions(const std::string& name, const Sizes& shape) {
  auto values = whole(name, shape);
  for (auto& value : values) value /= 8;
  return values;
}

Values computed(const Workload& asked, const Source& source) {
  const auto operation = make_operation(asked, source);
  operation->run();
  operation->run();  // must give the same again
  return operation->result();
}

void expect_near(const Values& found, const Values& wanted, float share) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(found[i], wanted[i], share * std::max(1.0F, std::abs(wanted[i]))) << "at " << i;
}

/// What numbers of a precision may be off by: bf16 keeps 8 bits.
float tolerance(const std::string& precision) {
  return precision == "bf16" ? 1.0F / 128 : 1e-5F;
}

/// `asked` at a precision, or a word on why not: an older CPU has no bf16.
template <typename Check>
void at_each_precision(const std::vector<std::string>& precisions, Check check) {
  for (const auto& precision : precisions) {
    try {
      check(precision);
    } catch (const worker::Refused& refused) {
      ASSERT_NE(precision, "fp32") << refused.what();
      ASSERT_THAT(refused.what(), HasSubstr("precision " + precision));
    }
  }
}

Values multiply(const Values& a, const Values& b, std::size_t batch, std::size_t m, std::size_t n, std::size_t k) {
  Values c(batch * m * n);
  for (std::size_t s = 0; s < batch; ++s)
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < k; ++l) c[(s * m + i) * n + j] += a[(s * m + i) * k + l] * b[(s * k + l) * n + j];
  return c;
}

TEST(OneDnn, MultipliesMatrices) {
  at_each_precision({"fp32", "bf16", "int8"}, [](const std::string& precision) {
    const auto found = computed(workload("gemm", {{"m", 5}, {"n", 7}, {"k", 33}}, 1, precision), whole);
    expect_near(found, multiply(whole("a", {5, 33}), whole("b", {33, 7}), 1, 5, 7, 33), tolerance(precision));
  });
}

TEST(OneDnn, MultipliesAMatrixForEachSample) {
  at_each_precision({"fp32", "bf16", "int8"}, [](const std::string& precision) {
    const auto found = computed(workload("batched_gemm", {{"m", 5}, {"n", 7}, {"k", 3}}, 4, precision), whole);
    expect_near(found, multiply(whole("a", {4, 5, 3}), whole("b", {4, 3, 7}), 4, 5, 7, 3), tolerance(precision));
  });
}

/// A convolution of volumes as seven loops; images and lines are volumes with axes of 1 and windows of 1 there.
struct Convolution {
  std::int64_t batch, in, out, groups, stride, padding, kernel;
  Sizes axes;  ///< three

  std::int64_t windows(int axis) const { return is_flat(axis) ? 1 : (at(axis) + 2 * padding - kernel) / stride + 1; }
  std::int64_t at(int axis) const { return axes[static_cast<std::size_t>(axis)]; }
  bool is_flat(int axis) const { return at(axis) == 1; }
  std::int64_t taps(int axis) const { return is_flat(axis) ? 1 : kernel; }

  /// Calls with the places of an input, a weight and an output that meet.
  template <typename Meet>
  void each(Meet meet) const {
    const std::int64_t of_group = in / groups;
    for (std::int64_t s = 0; s < batch; ++s)
      for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t i = 0; i < of_group; ++i)
          each_window([&](std::int64_t place, std::int64_t tap, std::int64_t window) {
            const std::int64_t channel = o / (out / groups) * of_group + i;
            meet(static_cast<std::size_t>((s * in + channel) * at(0) * at(1) * at(2) + place),
                 static_cast<std::size_t>((o * of_group + i) * taps(0) * taps(1) * taps(2) + tap),
                 static_cast<std::size_t>((s * out + o) * windows(0) * windows(1) * windows(2) + window));
          });
  }

  template <typename Meet>
  void each_window(Meet meet) const {
    const std::int64_t all = windows(0) * windows(1) * windows(2), all_taps = taps(0) * taps(1) * taps(2);
    for (std::int64_t window = 0; window < all; ++window) {
      const Sizes w{window / (windows(1) * windows(2)), window / windows(2) % windows(1), window % windows(2)};
      for (std::int64_t tap = 0; tap < all_taps; ++tap) {
        const Sizes t{tap / (taps(1) * taps(2)), tap / taps(2) % taps(1), tap % taps(2)};
        std::int64_t place = 0;
        bool is_inside = true;
        for (int axis = 0; axis < 3; ++axis) {
          const auto index = static_cast<std::size_t>(axis);
          const std::int64_t x = is_flat(axis) ? 0 : w[index] * stride + t[index] - padding;
          is_inside = is_inside && x >= 0 && x < at(axis);
          place = place * at(axis) + x;
        }
        if (is_inside) meet(place, tap, window);
      }
    }
  }

  Sizes input_shape() const { return {batch, in, at(0), at(1), at(2)}; }
  Sizes weight_shape() const { return {out, in / groups, taps(0), taps(1), taps(2)}; }
  Sizes output_shape() const { return {batch, out, windows(0), windows(1), windows(2)}; }
};

void expect_convolution(const std::string& network, const Convolution& c, std::map<std::string, std::int64_t> sizes) {
  sizes.insert({{"channels_in", c.in},
                {"channels_out", c.out},
                {"groups", c.groups},
                {"stride", c.stride},
                {"padding", c.padding},
                {"kernel", c.kernel}});
  const auto input = whole("input", c.input_shape()), weight = whole("weight", c.weight_shape());
  const auto gradient = whole("gradient", c.output_shape());
  Values output(gradient.size()), of_data(input.size()), of_weights(weight.size());
  c.each([&](std::size_t i, std::size_t w, std::size_t o) {
    output[o] += input[i] * weight[w];
    of_data[i] += gradient[o] * weight[w];
    of_weights[w] += gradient[o] * input[i];
  });
  at_each_precision({"fp32", "bf16"}, [&](const std::string& precision) {
    const auto found = [&](const char* pass) {
      return computed(workload(network, sizes, c.batch, precision, {{"pass", std::string(pass)}}), whole);
    };
    expect_near(found("forward"), output, tolerance(precision));
    expect_near(found("backward_data"), of_data, tolerance(precision));
    expect_near(found("backward_weights"), of_weights, tolerance(precision));
  });
  at_each_precision({"int8"}, [&](const std::string& precision) {
    const auto at = [&](const char* pass) {
      return workload(network, sizes, c.batch, precision, {{"pass", std::string(pass)}});
    };
    for (auto& value : output) value *= 4;
    expect_near(computed(at("forward"), even), output, tolerance(precision));
    EXPECT_THROW(computed(at("backward_data"), even), worker::Refused);
  });
}

TEST(OneDnn, ConvolvesLines) {
  expect_convolution("conv1d", {2, 6, 4, 1, 1, 1, 3, {1, 1, 11}}, {{"width", 11}});
}

TEST(OneDnn, ConvolvesImages) {
  expect_convolution("conv2d", {2, 3, 16, 1, 1, 1, 3, {1, 7, 6}}, {{"height", 7}, {"width", 6}});
}

// (8 + 2 - 3) / 2 + 1 = 4 windows end at 9 of 10: one value is left over.
TEST(OneDnn, ConvolvesImagesWithStridesThatLeaveSomethingOver) {
  expect_convolution("conv2d", {2, 4, 8, 1, 2, 1, 3, {1, 8, 8}}, {{"height", 8}, {"width", 8}});
}

TEST(OneDnn, ConvolvesImagesInGroups) {
  expect_convolution("conv2d", {2, 8, 8, 4, 1, 1, 3, {1, 5, 5}}, {{"height", 5}, {"width", 5}});
}

TEST(OneDnn, ConvolvesVolumes) {
  expect_convolution("conv3d", {1, 4, 6, 1, 1, 0, 2, {3, 4, 5}}, {{"depth", 3}, {"height", 4}, {"width", 5}});
}

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

/// Weights are [input, gate, hidden], of one layer and direction.
struct Recurrent {
  std::size_t sequence, batch, features, hidden, gates;
  Values input, weights, recurrent, bias;

  float from_input(std::size_t t, std::size_t s, std::size_t gate, std::size_t h) const {
    float sum = 0;
    for (std::size_t f = 0; f < features; ++f)
      sum += input[(t * batch + s) * features + f] * weights[(f * gates + gate) * hidden + h];
    return sum;
  }
  float from_state(const Values& state, std::size_t s, std::size_t gate, std::size_t h) const {
    float sum = 0;
    for (std::size_t g = 0; g < hidden; ++g) sum += state[s * hidden + g] * recurrent[(g * gates + gate) * hidden + h];
    return sum;
  }
};

Recurrent recurrent_of(std::size_t gates) {
  constexpr std::int64_t kSequence = 4, kBatch = 3, kFeatures = 5, kHidden = 6;
  const auto g = static_cast<std::int64_t>(gates);
  return {kSequence,
          kBatch,
          kFeatures,
          kHidden,
          gates,
          fractions("input", {kSequence, kBatch, kFeatures}),
          fractions("weights", {1, 1, kFeatures, g, kHidden}),
          fractions("recurrent", {1, 1, kHidden, g, kHidden}),
          fractions("bias", {1, 1, 4, kHidden})};
}

Values computed_rnn(const std::string& cell, const std::string& precision) {
  const std::map<std::string, std::int64_t> sizes{{"features", 5}, {"hidden", 6}, {"sequence", 4}};
  return computed(workload("rnn", sizes, 3, precision, {{"cell", cell}}), fractions);
}

// Gates in oneDNN's order: input, forget, candidate, output.
TEST(OneDnn, RunsLstmCells) {
  const auto r = recurrent_of(4);
  Values state(r.batch * r.hidden), memory(r.batch * r.hidden), outputs;
  for (std::size_t t = 0; t < r.sequence; ++t) {
    Values next(state.size());
    for (std::size_t s = 0; s < r.batch; ++s)
      for (std::size_t h = 0; h < r.hidden; ++h) {
        const auto gate = [&](std::size_t g) {
          return r.from_input(t, s, g, h) + r.from_state(state, s, g, h) + r.bias[g * r.hidden + h];
        };
        auto& kept = memory[s * r.hidden + h];
        kept = sigmoid(gate(1)) * kept + sigmoid(gate(0)) * std::tanh(gate(2));
        next[s * r.hidden + h] = sigmoid(gate(3)) * std::tanh(kept);
      }
    state = next;
    outputs.insert(outputs.end(), state.begin(), state.end());
  }
  at_each_precision({"fp32", "bf16"}, [&](const std::string& precision) {
    expect_near(computed_rnn("lstm", precision), outputs, precision == "fp32" ? 1e-5F : 0.02F);
  });
}

// Gates in oneDNN's order: update, reset, candidate; the fourth bias is added before the reset.
TEST(OneDnn, RunsGruCells) {
  const auto r = recurrent_of(3);
  Values state(r.batch * r.hidden), outputs;
  for (std::size_t t = 0; t < r.sequence; ++t) {
    Values next(state.size());
    for (std::size_t s = 0; s < r.batch; ++s)
      for (std::size_t h = 0; h < r.hidden; ++h) {
        const auto bias = [&](std::size_t g) { return r.bias[g * r.hidden + h]; };
        const auto gate = [&](std::size_t g) {
          return sigmoid(r.from_input(t, s, g, h) + r.from_state(state, s, g, h) + bias(g));
        };
        const float candidate =
            std::tanh(r.from_input(t, s, 2, h) + bias(2) + gate(1) * (r.from_state(state, s, 2, h) + bias(3)));
        next[s * r.hidden + h] = gate(0) * state[s * r.hidden + h] + (1 - gate(0)) * candidate;
      }
    state = next;
    outputs.insert(outputs.end(), state.begin(), state.end());
  }
  at_each_precision({"fp32", "bf16"}, [&](const std::string& precision) {
    expect_near(computed_rnn("gru", precision), outputs, precision == "fp32" ? 1e-5F : 0.02F);
  });
}

TEST(OneDnn, NormalisesEachPosition) {
  constexpr std::size_t kRows = 6, kFeatures = 20;
  const auto input = whole("input", {2, 3, kFeatures}), scale = whole("scale", {kFeatures});
  const auto shift = whole("shift", {kFeatures});
  Values wanted(input.size());
  for (std::size_t row = 0; row < kRows; ++row) {
    double mean = 0, variance = 0;
    for (std::size_t f = 0; f < kFeatures; ++f) mean += input[row * kFeatures + f] / double{kFeatures};
    for (std::size_t f = 0; f < kFeatures; ++f)
      variance += std::pow(input[row * kFeatures + f] - mean, 2) / double{kFeatures};
    for (std::size_t f = 0; f < kFeatures; ++f)
      wanted[row * kFeatures + f] =
          static_cast<float>((input[row * kFeatures + f] - mean) / std::sqrt(variance + 1e-5) * scale[f] + shift[f]);
  }
  at_each_precision({"fp32", "bf16"}, [&](const std::string& precision) {
    const auto found =
        computed(workload("layer_norm", {{"sequence", 3}, {"features", kFeatures}}, 2, precision), whole);
    expect_near(found, wanted, precision == "fp32" ? 1e-5F : 0.02F);
  });
}

TEST(OneDnn, PassesOverMemory) {
  const auto copied = computed(workload("copy", {{"elements", 1000}}), whole);
  const auto added = computed(workload("triad", {{"elements", 1000}}), whole);
  ASSERT_EQ(copied.size(), 1000u);
  ASSERT_EQ(added.size(), 1000u);
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(copied[i], static_cast<float>(i % 61));
    EXPECT_EQ(added[i], static_cast<float>(i % 61 + 3 * (i % 7)));
  }
}

std::string refusal(const Workload& asked) {
  try {
    make_operation(asked, whole);
    return "";
  } catch (const worker::Refused& refused) {
    return refused.what();
  }
}

TEST(OneDnn, RefusesByNameWhatItHasNot) {
  EXPECT_THAT(refusal(workload("attention", {})), HasSubstr("'attention': there is only batched_gemm, conv1d"));
  EXPECT_THAT(refusal(workload("gemm", {{"banana", 1}})), HasSubstr("'banana'"));
  EXPECT_THAT(refusal(workload("gemm", {{"m", 0}})), HasSubstr("'m'"));
  EXPECT_THAT(refusal(workload("gemm", {}, 2)), HasSubstr("batch 2"));
  EXPECT_THAT(refusal(workload("gemm", {}, 1, "fp16")), HasSubstr("'fp16'"));
  EXPECT_THAT(refusal(workload("rnn", {}, 1, "int8")), HasSubstr("rnn has only bf16, fp32"));
  EXPECT_THAT(refusal(workload("conv2d", {}, 1, "int8", {{"pass", std::string("backward_data")}})),
              HasSubstr("precision int8 with pass backward_data"));
}

}  // namespace
}  // namespace assay::onednn
