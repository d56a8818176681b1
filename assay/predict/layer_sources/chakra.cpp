#include "assay/predict/layer_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "assay/core/text/lower.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/predict/layer_sources/chakra_nodes.hpp"

namespace assay::predict {
namespace {

constexpr std::int64_t kBackwardScope = 1;
constexpr std::int64_t kUserScope = 7;
constexpr std::string_view kAccumulateGrad = "torch::autograd::AccumulateGrad";

enum class ChakraRole { forward, backward, update, collective, around };

/// The name of a layer in both passes: "COMP_NODE_conv1_BWD_WG" is "conv1".
std::string stem_of(const std::string& name) {
  auto stem = lower(name);
  constexpr std::string_view kBefore = "comp_node_";
  if (stem.starts_with(kBefore)) stem.erase(0, kBefore.size());
  for (const std::string_view end : {"_ig", "_wg", "_fwd", "_bwd", "_forward", "_backward"}) {
    if (stem.ends_with(end)) stem.erase(stem.size() - end.size());
  }
  return stem;
}

/// A node that no operator called, and what it comes to with all that it called.
struct ChakraTop {
  ChakraRole role = ChakraRole::forward;
  double seconds = 0;
  std::int64_t sequence = -1;           // the first that one of its nodes shows
  std::vector<double> gradient_bytes;   // that autograd accumulated
  std::optional<std::size_t> of_layer;  // the top of the forward pass that it belongs to
};

/// Builds the table of one step.
class ChakraStep {
 public:
  explicit ChakraStep(std::vector<ChakraNode> nodes) : nodes_(std::move(nodes)), tops_(nodes_.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) by_id_.emplace(nodes_[i].id, i);
    find_tops();
    const bool kernels =
        std::any_of(nodes_.begin(), nodes_.end(), [](const auto& one) { return one.on_device && !one.is_collective; });
    for (std::size_t i = 0; i < nodes_.size(); ++i) add_to_top(i, kernels);
    join();
  }

  double update_seconds() const {
    double seconds = 0;
    for (const auto& top : tops_) seconds += top.role == ChakraRole::update ? top.seconds : 0;
    return seconds;
  }

  /// In the order of the forward pass. What has no backward pass of its own goes to the layer before it.
  std::vector<LayerTime> layers() const {
    std::map<std::size_t, LayerTime> found;
    for (const auto& top : tops_) {
      if (top.role != ChakraRole::backward || !top.of_layer) continue;
      auto& layer = found[*top.of_layer];
      layer.backward_seconds += top.seconds;
      layer.gradient_bytes.insert(layer.gradient_bytes.end(), top.gradient_bytes.begin(), top.gradient_bytes.end());
    }
    for (std::size_t i = 0; i < tops_.size(); ++i) {
      if (tops_[i].role != ChakraRole::forward || top_of_[i] != i) continue;
      const auto behind = found.upper_bound(i);
      if (behind != found.begin()) std::prev(behind)->second.forward_seconds += tops_[i].seconds;
    }
    add_collectives(found);
    std::vector<LayerTime> in_order;
    for (auto& [index, layer] : found) {
      layer.name = fmt::format("{} {}", nodes_[index].id, nodes_[index].name);
      in_order.push_back(std::move(layer));
    }
    return in_order;
  }

 private:
  /// Threads and users' annotations hold operators, and are none.
  bool is_around(const ChakraNode& node) const {
    return node.scope == kUserScope || node.name.starts_with("[pytorch|");
  }

  std::optional<std::size_t> caller_of(std::size_t node) const {
    const auto& parent = nodes_[node].parent;
    const auto found = parent ? by_id_.find(*parent) : by_id_.end();
    return found == by_id_.end() ? std::nullopt : std::optional(found->second);
  }

  void find_tops() {
    constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
    top_of_.assign(nodes_.size(), kUnknown);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      std::vector<std::size_t> path;
      auto at = i;
      while (top_of_[at] == kUnknown) {
        path.push_back(at);
        const auto caller = caller_of(at);
        if (!caller || is_around(nodes_[*caller]) || is_around(nodes_[at])) {
          top_of_[at] = at;
          break;
        }
        if (path.size() > nodes_.size()) fail(ErrorKind::bad_input, "nodes call each other in a circle.");
        at = *caller;
      }
      for (const auto one : path) top_of_[one] = top_of_[at];
    }
  }

  bool is_below_optimizer(std::size_t node) const {
    // Annotations do not nest deep; what is deeper than this is none of PyTorch's.
    constexpr int kDeepest = 16;
    auto at = std::optional(node);
    for (int i = 0; at && i < kDeepest; ++i, at = caller_of(*at)) {
      if (nodes_[*at].name.starts_with("Optimizer.")) return true;
    }
    return false;
  }

  static bool is_named_backward(const std::string& name) {
    const auto text = lower(name);
    return text.starts_with("autograd::engine::evaluate_function") || text.find("backward") != std::string::npos ||
           text.find("bwd") != std::string::npos;
  }

  ChakraRole role_of_top(std::size_t index) const {
    const auto& node = nodes_[index];
    if (node.is_collective) return ChakraRole::collective;
    if (is_below_optimizer(index)) return ChakraRole::update;
    if (is_around(node)) return ChakraRole::around;
    return node.scope == kBackwardScope || is_named_backward(node.name) ? ChakraRole::backward : ChakraRole::forward;
  }

  /// Nodes come in the order of their numbers, so that a top comes before what it called.
  void add_to_top(std::size_t index, bool kernels_only) {
    const auto& node = nodes_[index];
    auto& top = tops_[top_of_[index]];
    if (top_of_[index] == index) top.role = role_of_top(index);
    if (node.scope == kBackwardScope && top.role == ChakraRole::forward) top.role = ChakraRole::backward;
    if (node.is_collective) return;
    if (!kernels_only || node.on_device) top.seconds += node.seconds;
    if (top.sequence < 0) top.sequence = node.sequence;
    if (node.name == kAccumulateGrad && node.first_input_bytes > 0)
      top.gradient_bytes.push_back(node.first_input_bytes);
  }

  void join() {
    std::unordered_map<std::int64_t, std::size_t> makers;  // by sequence number: the last to show it made the node
    std::unordered_map<std::string, std::vector<std::size_t>> namesakes;  // by the name of the layer
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (tops_[top_of_[i]].role != ChakraRole::forward) continue;
      if (nodes_[i].sequence >= 0) makers[nodes_[i].sequence] = top_of_[i];
      if (top_of_[i] == i) namesakes[stem_of(nodes_[i].name)].push_back(i);
    }
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      auto& top = tops_[i];
      if (top_of_[i] != i || top.role != ChakraRole::backward) continue;
      const auto maker = makers.find(top.sequence);
      const auto namesake = namesakes.find(stem_of(nodes_[i].name));
      if (top.sequence >= 0 && maker != makers.end()) {
        last = maker->second;
      } else if (namesake != namesakes.end()) {
        need_one(namesake->second);
        last = namesake->second.front();
      }
      top.of_layer = last;
    }
  }

  void need_one(const std::vector<std::size_t>& namesakes) const {
    if (namesakes.size() == 1) return;
    fail(ErrorKind::bad_input, "{} runs {} times in the forward pass. Trace one step.",
         shown(nodes_[namesakes.front()].name), namesakes.size());
  }

  /// The layer whose backward pass a collective waits for, or else the one that was computed last before it.
  std::optional<std::size_t> layer_of_collective(const ChakraNode& node, std::optional<std::size_t> last) const {
    auto waits = node.dependencies;
    if (node.parent) waits.push_back(*node.parent);
    for (const auto id : waits) {
      const auto found = by_id_.find(id);
      if (found == by_id_.end()) continue;
      const auto& top = tops_[top_of_[found->second]];
      if (top.role == ChakraRole::backward) return top.of_layer;
      if (top.role == ChakraRole::forward) return std::nullopt;  // of the forward pass: no gradients
    }
    return last;
  }

  void add_collectives(std::map<std::size_t, LayerTime>& layers) const {
    for (const auto& [index, layer] : layers) {
      if (!layer.gradient_bytes.empty()) return;
    }
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto& node = nodes_[i];
      const auto& top = tops_[top_of_[i]];
      if (top.role == ChakraRole::backward && !node.is_collective) last = top.of_layer;
      if (!node.is_collective || !node.adds_up || !(node.collective_bytes > 0)) continue;
      const auto layer = layer_of_collective(node, last);
      if (layer) layers[*layer].gradient_bytes.push_back(node.collective_bytes);
    }
  }

  std::vector<ChakraNode> nodes_;
  std::vector<ChakraTop> tops_;  // by node; of those that no operator called
  std::vector<std::size_t> top_of_;
  std::unordered_map<std::int64_t, std::size_t> by_id_;
};

void need_durations(const std::vector<ChakraNode>& nodes) {
  if (std::any_of(nodes.begin(), nodes.end(), [](const auto& one) { return one.seconds > 0; })) return;
  fail(ErrorKind::bad_input,
       "no node has a duration: PyTorch's ExecutionTraceObserver does not write them. Record a profile of the same "
       "step along with "
       "it, join them with chakra_trace_link, and import that; or import the profile itself (export_chrome_trace).");
}

/// A layer table from a Chakra execution trace of one training step, in protobuf or JSON (chakra_nodes.hpp).
///
/// A layer is a node that no other called, with what it called. It belongs to the backward pass where PyTorch says so
/// (scope 1, evaluate_function), or its name has "backward" or "bwd" in it. It is joined with the layer of the forward
/// pass by autograd's sequence number; else by name, without "COMP_NODE_" and endings such as _FWD and _BWD_WG; else it
/// goes to the layer that was joined before it. Where kernels of a device are in the trace, their times count in place
/// of the host's. What runs below "Optimizer." is the update. Gradients are those that autograd accumulated; where it
/// shows none, the sizes of collectives that sum, at the layer whose backward pass they wait for.
///
/// Throws Error{bad_input} for what is not such a trace, and where durations, a backward pass or gradients are missing.
LayerTable read_chakra(std::string_view trace, const std::string& name, std::int64_t batch) {
  return naming(name, [&] {
    auto nodes = chakra_nodes(trace);
    need_durations(nodes);
    const ChakraStep step(std::move(nodes));
    LayerTable table = imported_table(name, batch);
    table.layers = step.layers();
    table.update_seconds = step.update_seconds();
    if (!(table.backward_seconds() > 0)) {
      fail(ErrorKind::bad_input, "it has no backward pass. Trace a whole training step.");
    }
    if (!(table.gradient_bytes() > 0)) {
      fail(ErrorKind::bad_input,
           "it shows no gradients: no AccumulateGrad with its input, and no collective that sums after the backward "
           "pass. Trace a whole training step.");
    }
    return table;
  });
}

/// The last that is asked: what no other knows is taken for protobuf.
bool is_chakra(std::string_view) {
  return true;
}

}  // namespace

const LayerSource layer_sources::chakra{is_chakra, read_chakra};

}  // namespace assay::predict
