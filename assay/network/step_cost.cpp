#include "assay/network/step_cost.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "assay/core/primitive.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"
#include "assay/network/onnx.hpp"

namespace assay::network {
namespace {

/// Sizes of a primitive as numbers that do not overflow.
struct Sizes {
  const PrimitiveOptions& options;
  double batch;
  double operand_bytes;
  double result_bytes;  ///< products of int8 are added up, and given, in 32 bits

  double operator()(const char* name) const { return static_cast<double>(options.at(name)); }
};

/// Each result of m n is k multiplications and as many additions. Read: both matrices. Written: the result.
StepCost gemm_cost(const Sizes& of) {
  const double m = of("m"), n = of("n"), k = of("k");
  const double bytes = of.operand_bytes * (m * k + k * n) + of.result_bytes * m * n;
  return {of.batch * 2 * m * n * k, of.batch * bytes};
}

/// Each output takes a multiplication and an addition for every value of its window in the channels of its group;
/// those in the padding count, as everywhere. Going backward, each of these products is needed once for the gradient of
/// the data and once for that of the weights: the same FLOPs. Two of the three tensors are read and the third is
/// written, whatever the pass.
StepCost convolution_cost(const Sizes& of) {
  double inputs = of.batch * of("channels_in");
  double outputs = of.batch * of("channels_out");
  double window = of("channels_in") / of("groups");
  for (const auto size : convolution_sizes(of.options)) {
    inputs *= static_cast<double>(size);
    outputs *= static_cast<double>(windows_along(of.options, size));
    window *= of("kernel");
  }
  const double weights = of("channels_out") * window;
  return {2 * outputs * window, of.operand_bytes * (inputs + weights) + of.result_bytes * outputs};
}

/// Scores and weighted sums: sequence x sequence x features each, for each head. Queries, keys and values are read, the
/// output is written; scores need not leave the cache. The softmax is not counted.
StepCost attention_cost(const Sizes& of) {
  const double rows = of.batch * of("heads") * of("sequence");
  return {4 * rows * of("sequence") * of("head_features"), of.operand_bytes * 4 * rows * of("head_features")};
}

/// At each of `sequence` times, input and state meet the weights of every gate. The weights are read once; biases and
/// states are left out.
StepCost rnn_cost(const Sizes& of) {
  const double gates = of.options.choices.at("cell") == "lstm" ? 4 : 3;
  const double weights = gates * of("hidden") * (of("features") + of("hidden"));
  const double values = of.batch * of("sequence") * (of("features") + of("hidden"));
  return {2 * weights * of.batch * of("sequence"), of.operand_bytes * (weights + values)};
}

/// Each lookup reads a 64-bit number and a row, and writes the row. Rows that come twice count twice.
StepCost embedding_cost(const Sizes& of) {
  return {0, of.batch * of("lookups") * (8 + 2 * of.operand_bytes * of("features"))};
}

/// Read and written once, with scale and shift. Its FLOPs are not counted, as those of norms in networks.
StepCost layer_norm_cost(const Sizes& of) {
  return {0, of.operand_bytes * of("features") * (2 * of.batch * of("sequence") + 2)};
}

StepCost copy_cost(const Sizes& of) {
  return {0, 2 * of.operand_bytes * of("elements")};
}

/// b and c are read, a is written. That a is often read first, to fill a cache line, is not counted, as in STREAM.
StepCost triad_cost(const Sizes& of) {
  return {2 * of("elements"), 3 * of.operand_bytes * of("elements")};
}

/// On the host: read. What it becomes on the device has a memory of its own.
StepCost host_to_device_cost(const Sizes& of) {
  return {0, of.operand_bytes * of("elements")};
}

std::optional<StepCost> primitive_cost(const Primitive& primitive, const Workload& workload) {
  static const std::map<std::string, StepCost (*)(const Sizes&)> costs{{"gemm", gemm_cost},
                                                                       {"batched_gemm", gemm_cost},
                                                                       {"conv1d", convolution_cost},
                                                                       {"conv2d", convolution_cost},
                                                                       {"conv3d", convolution_cost},
                                                                       {"attention", attention_cost},
                                                                       {"rnn", rnn_cost},
                                                                       {"embedding", embedding_cost},
                                                                       {"layer_norm", layer_norm_cost},
                                                                       {"copy", copy_cost},
                                                                       {"triad", triad_cost},
                                                                       {"host_to_device", host_to_device_cost}};
  const auto cost = costs.find(primitive.name);
  if (cost == costs.end()) return {};
  try {
    const auto options = primitive_options(primitive, workload);
    const auto bytes = static_cast<double>(bytes_of(workload.precision));
    return cost->second(
        {options, static_cast<double>(workload.batch), bytes, workload.precision == "int8" ? 4 : bytes});
  } catch (const Error&) {
    return {};  // a worker's own primitive of that name, or options that this release no longer knows
  }
}

/// Weights, inputs and outputs once, all between them in caches. Of a table only the rows that are looked up, unless
/// another node uses all of it. Training reads and writes weights and momentum.
double network_bytes(const Graph& graph, const Cost& cost, const Workload& workload) {
  const auto batch = static_cast<double>(workload.batch);
  std::set<std::string> shared;
  for (const auto& node : graph.nodes) shared.insert(node.attributes.shared.value_or(""));
  double weights = 0;
  double values = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = cost.nodes[i];
    const auto parameters = static_cast<double>(node.parameters);
    const auto outputs = batch * static_cast<double>(node.activations);
    weights += graph.nodes[i].op == Op::embedding && shared.count(graph.nodes[i].name) == 0
                   ? std::min(parameters, outputs)
                   : parameters;
    if (graph.nodes[i].name == graph.output && workload.mode == Mode::infer) values += outputs;
  }
  for (const auto& input : graph.inputs) values += batch * static_cast<double>(elements(input.shape));
  const double passes = workload.mode == Mode::train ? 4 : 1;
  return static_cast<double>(bytes_of(workload.precision)) * (passes * weights + values);
}

/// A worker may have a network of its own under the name of ours: then the workload has no graph, or another.
std::optional<StepCost> graph_cost(const Workload& workload) {
  if (!workload.graph || !is_network(workload.network)) return {};
  try {
    const auto graph = build(workload.network, options_of_network(workload));
    if (graph_hash(graph) != *workload.graph) return {};
    const auto cost = cost_of(graph);
    return StepCost{step_flops(cost, workload.mode == Mode::train, workload.batch),
                    network_bytes(graph, cost, workload)};
  } catch (const Error&) {
    return {};  // options that this release no longer knows
  }
}

/// Of a user's ONNX file, where it lies where it lay and is still the one that was measured.
std::optional<StepCost> onnx_cost(const Workload& workload) {
  if (!workload.graph || workload.mode == Mode::train || hash_hex_of_file(workload.network) != *workload.graph)
    return {};
  try {
    const auto flops = read_onnx(workload.network).flops;
    if (!flops) return {};
    return StepCost{*flops * static_cast<double>(workload.batch), {}};
  } catch (const Error&) {
    return {};  // the framework may read what we do not
  }
}

/// As workers/common/assay_llama.py has them.
struct LanguageModel {
  const char* name;
  std::int64_t features, layers, heads, key_heads, hidden, tokens;
};

constexpr std::array<LanguageModel, 4> kLanguageModels{{{"llama_9m", 256, 9, 8, 4, 704, 4096},
                                                        {"llama_60m", 512, 14, 8, 4, 1408, 16384},
                                                        {"llama_300m", 1024, 21, 16, 4, 2816, 32000},
                                                        {"tinyllama_1b", 2048, 22, 32, 4, 5632, 32000}}};

}  // namespace

std::optional<double> prefill_flops(const Workload& workload) {
  const auto* const shape = std::find_if(kLanguageModels.begin(), kLanguageModels.end(),
                                         [&](const LanguageModel& one) { return workload.network == one.name; });
  if (!workload.generate || shape == kLanguageModels.end()) return {};
  const auto prompt = workload.generate->prompt_tokens;
  const auto graph = build("llama", {{"sequence", prompt},
                                     {"features", shape->features},
                                     {"layers", shape->layers},
                                     {"heads", shape->heads},
                                     {"key_heads", shape->key_heads},
                                     {"hidden", shape->hidden},
                                     {"tokens", shape->tokens}});
  const auto output = 2.0 * static_cast<double>(shape->features * shape->tokens);
  return static_cast<double>(workload.generate->sequences) *
         (cost_of(graph).total.flops - output * static_cast<double>(prompt - 1));
}

std::optional<StepCost> step_cost(const Workload& workload) {
  if (workload.command || workload.generate || workload.load) return {};
  if (workload.network.ends_with(".onnx")) return onnx_cost(workload);
  if (const auto* primitive = find_primitive(workload.network)) return primitive_cost(*primitive, workload);
  return graph_cost(workload);
}

}  // namespace assay::network
