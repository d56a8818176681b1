#include "assay/network/primitive.hpp"

#include "assay/core/hash.hpp"
#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"
#include "assay/network/onnx.hpp"

namespace assay::network {
namespace {

double number(const Workload& workload, const char* option, std::int64_t standard) {
  const auto it = workload.options.find(option);
  if (it == workload.options.end()) return static_cast<double>(standard);
  const auto* value = std::get_if<std::int64_t>(&it->second);
  return value == nullptr ? 0 : static_cast<double>(*value);
}

/// A worker may have a network of its own under the name of ours: then the workload has no graph, or another.
std::optional<double> graph_flops(const Workload& workload) {
  if (!workload.graph || !is_network(workload.network)) return {};
  try {
    const auto graph = build(workload.network, workload.options);
    if (graph_hash(graph) != *workload.graph) return {};
    return step_flops(cost_of(graph), workload.mode == Mode::train, 1);
  } catch (const Error&) {
    return {};  // options that this release no longer knows
  }
}

/// Of a user's ONNX file, where it lies where it lay and is still the one that was measured.
std::optional<double> onnx_flops(const Workload& workload) {
  if (!workload.graph || workload.mode == Mode::train || hash_hex_of_file(workload.network) != *workload.graph)
    return {};
  try {
    return read_onnx(workload.network).flops;
  } catch (const Error&) {
    return {};  // the framework may read what we do not
  }
}

}  // namespace

std::vector<Primitive> all_primitives() {
  return {{"gemm"},
          {"triad"},
          {"all_reduce", true},
          {"all_gather", true},
          {"reduce_scatter", true},
          {"all_to_all", true},
          {"broadcast", true},
          {"ping_pong", true}};
}

std::optional<double> sample_flops(const Workload& workload) {
  if (workload.network.ends_with(".onnx") && !workload.command) return onnx_flops(workload);
  if (workload.network != "gemm" || workload.command) return graph_flops(workload);
  const double flops = 2 * number(workload, "m", 1024) * number(workload, "n", 1024) * number(workload, "k", 1024);
  return flops > 0 ? std::optional(flops) : std::nullopt;
}

std::optional<double> triad_bytes(const Workload& workload) {
  if (workload.network != "triad" || workload.command) return {};
  const double bytes =
      3 * number(workload, "elements", std::int64_t{1} << 25) * static_cast<double>(bytes_of(workload.precision));
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace assay::network
