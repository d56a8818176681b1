#include "workers/common/graph_values.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "assay/core/text/hash.hpp"
#include "assay/core/workloads/learning.hpp"
#include "workers/common/numpy_random.hpp"

namespace assay::worker {
namespace {

// Without this, branches add up and resnet50's outputs grow to thousands.
constexpr float kResidualScale = 0.2F;

/// splitmix64: the same numbers on every machine, from a stream of its own for each tensor.
class Random {
 public:
  explicit Random(std::uint64_t state) : state_(state) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, 1): 24 bits, exact in fp32.
  float unit() { return static_cast<float>(next() >> 40) * 0x1p-24F; }

 private:
  std::uint64_t state_;
};

/// Of a weight: from the seed alone.
Random weight_stream(const Prepare& prepare, const std::string& name) {
  return Random(static_cast<std::uint64_t>(hash_int(fmt::format("{} {}", prepare.seed, name))));
}

/// Of what is computed on: it differs between processes.
Random data_stream(const Prepare& prepare, const std::string& name) {
  const auto text = fmt::format("{} {} {} {}", prepare.seed, prepare.rank, prepare.instance, name);
  return Random(static_cast<std::uint64_t>(hash_int(text)));
}

struct Range {
  double middle;
  double half;
};

/// Scaled so that values stay finite and of ordinary size through deep networks.
Range range_of(const std::string& kind, const Shape& shape) {
  double fan_in = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= static_cast<double>(shape[i]);
  if (kind.find("convolution") != std::string::npos) return {0, std::sqrt(6 / fan_in)};
  if (kind == "lstm" || kind == "gru") return {0, std::sqrt(1 / fan_in)};
  if (kind == "linear") return {0, std::sqrt(3 / fan_in)};
  if (kind == "embedding" || kind == "position_embedding" || kind == "bias") return {0, 0.05};
  if (kind == "batch_norm" || kind == "layer_norm" || kind == "rms_norm") return {1, 0.1};
  if (kind == "l2_norm") return {20, 2};
  if (kind == "mean") return {0, 0.1};
  if (kind == "variance") return {1, 0.2};
  fail(ErrorKind::bad_input, "operator {} has no parameters to draw", shown(kind));
}

template <typename Generator>
Value draw_uniform(Generator random, const Shape& shape, Range range, float scale) {
  auto [value, data] = make_real(shape);
  const auto low = static_cast<float>(range.middle - range.half) * scale;
  const auto width = static_cast<float>(2 * range.half) * scale;
  std::generate_n(data, value.elements(), [&] { return random.unit() * width + low; });
  return value;
}

/// Names of the batch norms that end a residual branch: of those added, the one farther from the input.
std::set<std::string> ends_of_branches(const Graph& graph) {
  std::map<std::string, int> depth;
  std::map<std::string, const GraphNode*> norms;
  std::set<std::string> ends;
  for (const auto& node : graph.nodes) {
    int deepest = 0;
    const GraphNode* end = nullptr;
    for (const auto& input : node.inputs) {
      deepest = std::max(deepest, depth[input]);
      const auto norm = norms.find(input);
      if (norm != norms.end() && (end == nullptr || depth[input] > depth[end->name])) end = norm->second;
    }
    depth[node.name] = deepest + 1;
    if (node.op == "batch_norm") norms[node.name] = &node;
    if (node.op == "add" && end != nullptr) ends.insert(end->name);
  }
  return ends;
}

Shape with_batch(std::int64_t batch, const Shape& shape) {
  Shape out{batch};
  out.insert(out.end(), shape.begin(), shape.end());
  return out;
}

}  // namespace

GraphValues::GraphValues(const Prepare& prepare, const Graph& graph)
    : prepare_(prepare), graph_(graph), has_file_(prepare.values.has_value()), damped_(ends_of_branches(graph)) {
  if (has_file_) file_ = read_values(*prepare.values);
}

Value GraphValues::parameter(const GraphNode& node, const GraphParameter& parameter) const {
  const std::string name = node.name + "/" + parameter.name;
  if (has_file_) return from_file(name, ValueType::real, parameter.shape);
  const bool damped = parameter.name == "weight" && damped_.count(node.name) > 0;
  const Range range = range_of(parameter.name == "bias" ? "bias" : node.op, parameter.shape);
  const float scale = damped ? kResidualScale : 1.0F;
  if (prepare_.workload.data != kDigits)
    return draw_uniform(weight_stream(prepare_, name), parameter.shape, range, scale);
  const NumpyRandom of_all_frameworks(hash_hex(fmt::format("{} {}", prepare_.seed, name)));
  return draw_uniform(of_all_frameworks, parameter.shape, range, scale);
}

Value GraphValues::statistic(const GraphNode& node, const std::string& which) const {
  const std::string name = node.name + "/" + which;
  const Shape shape{node.shape.at(0)};
  if (has_file_) return from_file(name, ValueType::real, shape);
  return draw_uniform(weight_stream(prepare_, name), shape, range_of(which, shape), 1.0F);
}

Value GraphValues::input(const GraphInput& input) const {
  const std::string name = "input/" + input.name;
  const Shape shape = with_batch(prepare_.workload.batch, input.shape);
  const bool whole = input.type == "integer";
  if (has_file_) return from_file(name, whole ? ValueType::integer : ValueType::real, shape);
  return whole ? draw_below(prepare_, name, shape, input.below.value_or(1)) : draw_normal(prepare_, name, shape);
}

Value GraphValues::target() const {
  const auto output = std::find_if(graph_.nodes.begin(), graph_.nodes.end(),
                                   [&](const GraphNode& node) { return node.name == graph_.output; });
  if (output == graph_.nodes.end() || output->shape.empty()) {
    fail(ErrorKind::bad_input, "graph: its output {} is not a node with classes", shown(graph_.output));
  }
  const Shape shape = with_batch(prepare_.workload.batch, {output->shape.begin(), output->shape.end() - 1});
  if (has_file_) return from_file("target", ValueType::integer, shape);
  return draw_below(prepare_, "target", shape, output->shape.back());
}

Value GraphValues::from_file(const std::string& name, ValueType type, const Shape& shape) const {
  const auto found = file_.find(name);
  if (found == file_.end()) fail(ErrorKind::bad_input, "{} has no tensor {}", *prepare_.values, shown(name));
  if (found->second.type == type && found->second.shape == shape) return found->second;
  fail(ErrorKind::bad_input, "{}: tensor {} is {} [{}]; the graph needs {} [{}]", *prepare_.values, shown(name),
       found->second.type == ValueType::real ? "F32" : "I64", fmt::join(found->second.shape, ", "),
       type == ValueType::real ? "F32" : "I64", fmt::join(shape, ", "));
}

Value draw_normal(const Prepare& prepare, const std::string& name, Shape shape) {
  Random random = data_stream(prepare, name);
  auto [value, data] = make_real(std::move(shape));
  std::generate_n(data, value.elements(), [&] {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1.0 - random.unit()));
    return static_cast<float>(radius * std::cos(2 * std::numbers::pi * random.unit()));
  });
  return value;
}

Value draw_below(const Prepare& prepare, const std::string& name, Shape shape, std::int64_t below) {
  ASSAY_CHECK(below >= 1);
  Random random = data_stream(prepare, name);
  auto [value, data] = make_integer(std::move(shape));
  const auto bound = static_cast<std::uint64_t>(below);
  std::generate_n(data, value.elements(), [&] { return static_cast<std::int64_t>(random.next() % bound); });
  return value;
}

}  // namespace assay::worker
