// The onednn worker's steps beside oneDNN called bare, in one process and in turns; turns.hpp says what is printed.
//   bare_onednn ROUNDS MILLISECONDS wall|cpu [NETWORK]
#include <cstring>
#include <iostream>
#include <oneapi/dnnl/dnnl.hpp>

#include "bench/programs/turns.hpp"
#include "workers/onednn/operation.hpp"

namespace {

using dnnl::memory;
using Dims = memory::dims;
using Type = memory::data_type;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::desc any(const Dims& dims, Type type) {
  return {dims, type, memory::format_tag::any};
}

memory filled(const memory::desc& desc) {
  memory made(desc, engine());
  constexpr int kByte = 0x3c;  // .0115 as fp32 and bf16, 60 as int8: products are no denormal numbers
  std::memset(made.get_data_handle(), kByte, desc.get_size());
  return made;
}

struct Bare {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

Bare gemm(std::int64_t m, std::int64_t n, std::int64_t k, Type type, Type result) {
  const dnnl::matmul::primitive_desc chosen({any({m, k}, type), any({k, n}, type), any({m, n}, result)}, engine());
  return {dnnl::matmul(chosen),
          {{DNNL_ARG_SRC, filled(chosen.src_desc())},
           {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc())},
           {DNNL_ARG_DST, filled(chosen.dst_desc())}}};
}

struct Image {
  std::int64_t batch, channels, size, kernel;
  memory::desc data(Type type) const { return any({batch, channels, size, size}, type); }
  memory::desc weight(Type type) const { return any({channels, channels, kernel, kernel}, type); }
  Dims padding() const { return {kernel / 2, kernel / 2}; }
};

dnnl::convolution_forward::primitive_desc forward(const Image& image, dnnl::prop_kind kind, Type type) {
  return {{kind,
           dnnl::algorithm::convolution_direct,
           image.data(type),
           image.weight(type),
           image.data(type),
           {1, 1},
           image.padding(),
           image.padding()},
          engine()};
}

Bare convolution(const Image& image, Type type) {
  const auto chosen = forward(image, dnnl::prop_kind::forward_inference, type);
  return {dnnl::convolution_forward(chosen),
          {{DNNL_ARG_SRC, filled(chosen.src_desc())},
           {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc())},
           {DNNL_ARG_DST, filled(chosen.dst_desc())}}};
}

/// Of the gradient that `Operation` computes.
template <typename Operation>
typename Operation::primitive_desc backward(const Image& image) {
  return {{dnnl::algorithm::convolution_direct,
           image.data(Type::f32),
           image.weight(Type::f32),
           image.data(Type::f32),
           {1, 1},
           image.padding(),
           image.padding()},
          engine(),
          forward(image, dnnl::prop_kind::forward_training, Type::f32)};
}

Bare backward_data(const Image& image) {
  const auto chosen = backward<dnnl::convolution_backward_data>(image);
  return {dnnl::convolution_backward_data(chosen),
          {{DNNL_ARG_DIFF_DST, filled(chosen.diff_dst_desc())},
           {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc())},
           {DNNL_ARG_DIFF_SRC, filled(chosen.diff_src_desc())}}};
}

Bare backward_weights(const Image& image) {
  const auto chosen = backward<dnnl::convolution_backward_weights>(image);
  return {dnnl::convolution_backward_weights(chosen),
          {{DNNL_ARG_SRC, filled(chosen.src_desc())},
           {DNNL_ARG_DIFF_DST, filled(chosen.diff_dst_desc())},
           {DNNL_ARG_DIFF_WEIGHTS, filled(chosen.diff_weights_desc())}}};
}

Bare lstm(std::int64_t batch, std::int64_t hidden, std::int64_t sequence) {
  const memory::desc none;
  const auto weights = any({1, 1, hidden, 4, hidden}, Type::f32);
  const auto data = any({sequence, batch, hidden}, Type::f32);
  const dnnl::lstm_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, dnnl::rnn_direction::unidirectional_left2right, data, none, none, weights,
       weights, any({1, 1, 4, hidden}, Type::f32), data, none, none},
      engine());
  return {dnnl::lstm_forward(chosen),
          {{DNNL_ARG_SRC_LAYER, filled(chosen.src_layer_desc())},
           {DNNL_ARG_WEIGHTS_LAYER, filled(chosen.weights_layer_desc())},
           {DNNL_ARG_WEIGHTS_ITER, filled(chosen.weights_iter_desc())},
           {DNNL_ARG_BIAS, filled(chosen.bias_desc())},
           {DNNL_ARG_DST_LAYER, filled(chosen.dst_layer_desc())}}};
}

Bare layer_norm(std::int64_t rows, std::int64_t features) {
  const memory::desc data({1, rows, features}, Type::f32, memory::format_tag::abc);
  const memory::desc parameter({features}, Type::f32, memory::format_tag::a);
  using Flags = dnnl::normalization_flags;
  const dnnl::layer_normalization_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, data, 1e-5F, Flags::use_scale | Flags::use_shift}, engine());
  return {dnnl::layer_normalization_forward(chosen),
          {{DNNL_ARG_SRC, filled(data)},
           {DNNL_ARG_SCALE, filled(parameter)},
           {DNNL_ARG_SHIFT, filled(parameter)},
           {DNNL_ARG_DST, filled(data)}}};
}

struct Shape {
  const char* name;
  const char* network;
  const char* precision;
  std::int64_t batch;
  std::map<std::string, assay::Scalar> options;
  Bare bare;
};

assay::Scalar number(std::int64_t value) {
  return value;
}

std::map<std::string, assay::Scalar> image(std::int64_t channels, std::int64_t size, std::int64_t kernel,
                                           const char* pass) {
  return {{"channels_in", number(channels)}, {"channels_out", number(channels)}, {"height", number(size)},
          {"width", number(size)},           {"kernel", number(kernel)},         {"padding", number(kernel / 2)},
          {"pass", std::string(pass)}};
}

/// Ten shapes; docs/reference/networks.md says where they come from.
std::vector<Shape> shapes() {
  const auto matrices = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return std::map<std::string, assay::Scalar>{{"m", number(m)}, {"n", number(n)}, {"k", number(k)}};
  };
  return {
      {"gemm 512", "gemm", "fp32", 1, matrices(512, 512, 512), gemm(512, 512, 512, Type::f32, Type::f32)},
      {"gemm 128x3072x768", "gemm", "fp32", 1, matrices(128, 3072, 768), gemm(128, 3072, 768, Type::f32, Type::f32)},
      {"gemm bf16 1024", "gemm", "bf16", 1, matrices(1024, 1024, 1024), gemm(1024, 1024, 1024, Type::bf16, Type::bf16)},
      {"gemm int8 1024", "gemm", "int8", 1, matrices(1024, 1024, 1024), gemm(1024, 1024, 1024, Type::s8, Type::s32)},
      {"conv2d 56x56 64", "conv2d", "fp32", 1, image(64, 56, 3, "forward"), convolution({1, 64, 56, 3}, Type::f32)},
      {"conv2d 14x14 256", "conv2d", "fp32", 4, image(256, 14, 3, "forward"), convolution({4, 256, 14, 3}, Type::f32)},
      {"conv2d backward data", "conv2d", "fp32", 1, image(128, 28, 3, "backward_data"), backward_data({1, 128, 28, 3})},
      {"conv2d backward weights", "conv2d", "fp32", 1, image(128, 28, 3, "backward_weights"),
       backward_weights({1, 128, 28, 3})},
      {"lstm 512", "rnn", "fp32", 16, {}, lstm(16, 512, 25)},
      {"layer_norm 1024x768", "layer_norm", "fp32", 1, {{"sequence", number(1024)}}, layer_norm(1024, 768)}};
}

void run(Shape& shape, const bench::Turns& turns) {
  assay::Workload workload;
  workload.network = shape.network;
  workload.precision = shape.precision;
  workload.batch = shape.batch;
  workload.options = shape.options;
  const auto operation = assay::onednn::make_operation(workload, [](const auto&, const auto& dims) {
    std::size_t count = 1;
    for (const auto size : dims) count *= static_cast<std::size_t>(size);
    return std::vector<float>(count, 1.0F / 64);
  });
  dnnl::stream stream(engine());
  turns.print(
      shape.name, [&] { operation->run(); },
      [&] {
        shape.bare.primitive.execute(stream, shape.bare.arguments);
        stream.wait();
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "usage: bare_onednn ROUNDS MILLISECONDS wall|cpu [NETWORK]\n";
    return 2;
  }
  const bench::Turns turns(argv[1], argv[2], argv[3]);
  for (auto& shape : shapes()) {
    if (argc == 4 || std::string(shape.network) == argv[4]) run(shape, turns);
  }
}
