#include "assay/predict/layers.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "assay/network/cost.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

constexpr double kBackwardOverForward = 2;  // a gradient for the input and one for the parameters
constexpr double kUpdateBytes = 20;  // of a parameter: it, its gradient and its momentum read, two of them written

template <typename Part>
double sum_of(const std::vector<LayerTime>& layers, Part part) {
  return std::accumulate(layers.begin(), layers.end(), 0.0,
                         [&](double sum, const LayerTime& layer) { return sum + part(layer); });
}

double bytes_of_gradients(const LayerTime& layer) {
  return std::accumulate(layer.gradient_bytes.begin(), layer.gradient_bytes.end(), 0.0);
}

/// One layer without times. A node that shares another's parameters has none of its own.
LayerTime bare_layer(const network::Node& node, double value_bytes, double batch) {
  LayerTime layer;
  layer.name = node.name;
  for (const auto& parameter : node.parameters) {
    layer.gradient_bytes.push_back(value_bytes * static_cast<double>(network::elements(parameter.shape)));
  }
  layer.activation_bytes = batch * value_bytes * static_cast<double>(network::elements(node.shape));
  return layer;
}

/// What is kept of a sample on disk: images as bytes, tokens as 4 bytes. A JPEG is smaller by what it compresses.
double stored_bytes(const network::Graph& graph) {
  double bytes = 0;
  for (const auto& input : graph.inputs) {
    bytes += static_cast<double>(network::elements(input.shape)) * (input.type == network::InputType::real ? 1 : 4);
  }
  return bytes;
}

double input_bytes(const network::Graph& graph) {
  double bytes = 0;
  for (const auto& input : graph.inputs) bytes += 4 * static_cast<double>(network::elements(input.shape));
  return bytes;
}

double median_seconds(const std::vector<std::int64_t>& ns) {
  return ns.empty() ? 0 : 1e-9 * stats::median(std::vector<double>(ns.begin(), ns.end()));
}

double phase_seconds(const RankResult& result, const char* phase) {
  const auto found = result.phases_ns.find(phase);
  return found == result.phases_ns.end() ? 0 : median_seconds(found->second);
}

void scale(std::vector<LayerTime>& layers, double LayerTime::*part, double wanted) {
  const double sum = sum_of(layers, [&](const LayerTime& layer) { return layer.*part; });
  if (!(sum > 0) || !(wanted > 0)) return;
  for (auto& layer : layers) layer.*part *= wanted / sum;
}

}  // namespace

LayerTable imported_table(const std::string& name, std::int64_t batch) {
  LayerTable table;
  table.name = name;
  table.origin = Origin::imported;
  table.batch = batch;
  return table;
}

double LayerTable::forward_seconds() const {
  return sum_of(layers, [](const LayerTime& layer) { return layer.forward_seconds; });
}

double LayerTable::backward_seconds() const {
  return sum_of(layers, [](const LayerTime& layer) { return layer.backward_seconds; });
}

double LayerTable::gradient_bytes() const {
  return sum_of(layers, bytes_of_gradients);
}

double LayerTable::activation_bytes() const {
  return sum_of(layers, [](const LayerTime& layer) { return layer.activation_bytes; });
}

LayerTable assumed_layers(const network::Graph& graph, const Training& training, const Device& device, double share) {
  if (!device.flops_per_second) {
    fail(ErrorKind::usage,
         "nothing says how long a layer takes: the cluster's device has no peak, and no measured record was named. Add "
         "device: {{peak: 15.7 TFLOP/s, efficiency: 35%-50%}} to its file, or name a campaign with --campaign.");
  }
  const double value_bytes = static_cast<double>(network::bytes_of(training.precision));
  const auto batch = static_cast<double>(training.batch);
  const auto cost = network::cost_of(graph);
  LayerTable table;
  table.name = graph.name;
  table.batch = training.batch;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    auto layer = bare_layer(graph.nodes[i], value_bytes, batch);
    const double products = batch * cost.nodes[i].flops / (share * *device.flops_per_second);
    // What is no product reads its input and writes its output once.
    const double traffic =
        device.memory_bytes_per_second ? 2 * layer.activation_bytes / *device.memory_bytes_per_second : 0;
    layer.forward_seconds = std::max(products, traffic);
    layer.backward_seconds = kBackwardOverForward * layer.forward_seconds;
    table.layers.push_back(std::move(layer));
  }
  table.stored_bytes = batch * stored_bytes(graph);
  if (device.host_bytes_per_second) table.transfer_seconds = batch * input_bytes(graph) / *device.host_bytes_per_second;
  if (device.memory_bytes_per_second) {
    table.update_seconds = kUpdateBytes * static_cast<double>(graph.parameters) / *device.memory_bytes_per_second;
  }
  return table;
}

LayerTable measured_layers(const network::Graph& graph, const Training& training, const RankResult& result) {
  const double forward = phase_seconds(result, "forward");
  const double backward = phase_seconds(result, "backward");
  if (!(backward > 0)) {
    fail(ErrorKind::usage,
         "the record has no phases of training. Measure it so: assay run {} --mode train --layers (phases are on by "
         "default where the worker can split a step).",
         graph.name);
  }
  const double value_bytes = static_cast<double>(network::bytes_of(training.precision));
  std::map<std::string, const Layer*> timed;
  for (const auto& layer : result.layers) timed[layer.node] = &layer;
  const auto cost = network::cost_of(graph);
  LayerTable table;
  table.name = graph.name;
  table.origin = Origin::measured;
  table.batch = training.batch;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    auto layer = bare_layer(graph.nodes[i], value_bytes, static_cast<double>(training.batch));
    const auto found = timed.find(layer.name);
    // Without layers the phases are split by FLOPs.
    layer.forward_seconds = found != timed.end() ? median_seconds(found->second->forward_ns)
                            : timed.empty()      ? cost.nodes[i].flops
                                                 : 0;
    layer.backward_seconds = found != timed.end() ? median_seconds(found->second->backward_ns)
                             : timed.empty()      ? cost.nodes[i].flops
                                                  : 0;
    table.layers.push_back(std::move(layer));
  }
  scale(table.layers, &LayerTime::forward_seconds, forward);
  scale(table.layers, &LayerTime::backward_seconds, backward);
  table.load_seconds = phase_seconds(result, "load");
  table.transfer_seconds = phase_seconds(result, "transfer");
  table.update_seconds = phase_seconds(result, "update");
  return table;
}

LayerTable at_batch(const LayerTable& table, std::int64_t batch) {
  const double factor = static_cast<double>(batch) / static_cast<double>(table.batch);
  auto out = slowed(table, factor);
  out.batch = batch;
  out.update_seconds = table.update_seconds;
  out.load_seconds *= factor;
  out.stored_bytes *= factor;
  out.transfer_seconds *= factor;
  for (auto& layer : out.layers) layer.activation_bytes *= factor;
  return out;
}

LayerTable slowed(LayerTable table, double factor) {
  for (auto& layer : table.layers) {
    layer.forward_seconds *= factor;
    layer.backward_seconds *= factor;
  }
  table.update_seconds *= factor;
  return table;
}

}  // namespace assay::predict
