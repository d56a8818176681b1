#include "assay/report/subjects/network.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/network/step_cost.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using Align = Table::Align;

/// 8178368512 -> "8.178 GFLOP"
std::string flops_text(double flops) {
  if (flops == 0) return "-";
  constexpr std::array units{"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
  std::size_t unit = 0;
  while (flops >= 1000 && unit + 1 < units.size()) {
    flops /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", flops, units[unit]);
}

/// 25557032 -> "25,557,032"
std::string count_text(std::int64_t count) {
  if (count == 0) return "-";
  std::string out = std::to_string(count);
  for (auto at = static_cast<std::int64_t>(out.size()) - 3; at > 0; at -= 3)
    out.insert(static_cast<std::size_t>(at), 1, ',');
  return out;
}

std::string window_text(const network::Attributes& a) {
  std::string out = fmt::format(" {}", fmt::join(*a.kernel, "x"));
  if (a.dilation) out += fmt::format(", {} apart", (*a.dilation)[0]);
  const auto strides = [](std::int64_t step) { return step != 1; };
  if (a.stride && std::any_of(a.stride->begin(), a.stride->end(), strides)) out += fmt::format(" / {}", (*a.stride)[0]);
  if (a.groups.value_or(1) > 1) out += fmt::format(", {} groups", *a.groups);
  return out;
}

std::string operator_text(const network::Node& node) {
  std::string out = name_of(node.op);
  if (node.attributes.kernel) out += window_text(node.attributes);
  if (node.attributes.heads) out += fmt::format(", {} heads", *node.attributes.heads);
  if (node.attributes.shared) out += fmt::format(", weight of {}", *node.attributes.shared);
  return out;
}

struct Totals {
  network::Cost cost;
  std::int64_t activation_bytes;
  std::int64_t gradient_bytes;
};

Totals totals_of(const network::Graph& graph, const NetworkSize& size) {
  Totals totals{network::cost_of(graph), 0, 0};
  const std::int64_t bytes = network::bytes_of(size.precision);
  totals.activation_bytes = totals.cost.total.activations * bytes * size.batch;
  totals.gradient_bytes = totals.cost.total.parameters * bytes;
  return totals;
}

Table layers_table(const network::Graph& graph, const network::Cost& cost, const NetworkSize& size) {
  const std::int64_t bytes = network::bytes_of(size.precision);
  Table table({{"layer"},
               {"operator"},
               {"output"},
               {"parameters", Align::right},
               {"forward", Align::right},
               {"activations", Align::right},
               {"gradients", Align::right}});
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    const auto& own = cost.nodes[i];
    table.add({node.name, operator_text(node), fmt::format("{}", fmt::join(node.shape, " x ")),
               count_text(own.parameters), flops_text(own.flops * static_cast<double>(size.batch)),
               format_bytes(own.activations * bytes * size.batch),
               own.parameters == 0 ? "-" : format_bytes(own.parameters * bytes)});
  }
  return table;
}

}  // namespace

Document network_document(const network::Graph& graph, const NetworkSize& size) {
  const auto totals = totals_of(graph, size);
  const auto& total = totals.cost.total;
  Document out;
  out.add(layers_table(graph, totals.cost, size));
  out.gap();
  out.paragraph(fmt::format("{}, batch {}, {} (graph {})", graph.name, size.batch, size.precision,
                            network::graph_hash(graph).substr(0, 8)));
  out.item(fmt::format("parameters   {}", count_text(total.parameters)));
  out.item(fmt::format("a step       {} inferring, {} training",
                       flops_text(network::step_flops(totals.cost, false, size.batch)),
                       flops_text(network::step_flops(totals.cost, true, size.batch))));
  out.item(fmt::format("activations  {}, if all are kept", format_bytes(totals.activation_bytes)));
  out.item(fmt::format("gradients    {}", format_bytes(totals.gradient_bytes)));
  out.item(fmt::format("width W      {:.3g} = {} heavy operators / {} in the longest chain", totals.cost.width.value(),
                       totals.cost.width.heavy, totals.cost.width.depth));
  return out;
}

json network_json(const network::Graph& graph, const NetworkSize& size) {
  const auto totals = totals_of(graph, size);
  const std::int64_t bytes = network::bytes_of(size.precision);
  json layers = json::array();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& own = totals.cost.nodes[i];
    layers.push_back({{"node", graph.nodes[i].name},
                      {"parameters", own.parameters},
                      {"forward_flops", own.flops * static_cast<double>(size.batch)},
                      {"activation_bytes", own.activations * bytes * size.batch},
                      {"gradient_bytes", own.parameters * bytes}});
  }
  return {
      {"network", graph.name},
      {"hash", network::graph_hash(graph)},
      {"batch", size.batch},
      {"precision", size.precision},
      {"parameters", totals.cost.total.parameters},
      {"infer_flops", network::step_flops(totals.cost, false, size.batch)},
      {"train_flops", network::step_flops(totals.cost, true, size.batch)},
      {"activation_bytes", totals.activation_bytes},
      {"gradient_bytes", totals.gradient_bytes},
      {"width",
       {{"heavy", totals.cost.width.heavy}, {"depth", totals.cost.width.depth}, {"value", totals.cost.width.value()}}},
      {"layers", std::move(layers)},
      {"graph", network::to_wire(graph)}};
}

Document onnx_document(const network::OnnxSummary& summary, const NetworkSize& size) {
  if (summary.graph) return network_document(*summary.graph, size);
  const auto batch = static_cast<double>(size.batch);
  const auto text = [&](const std::optional<double>& flops, double times) {
    return flops ? flops_text(*flops * times) : "unknown";
  };
  Table table({{"layer"}, {"operator"}, {"output"}, {"forward", Align::right}});
  for (const auto& own : summary.heavy) {
    table.add({own.node, own.op, fmt::format("{}", fmt::join(own.shape, " x ")), text(own.flops, batch)});
  }
  Document out;
  out.add(std::move(table));
  out.gap();
  out.paragraph(fmt::format("{}, batch {}, {}", summary.name, size.batch, size.precision));
  out.item(fmt::format("parameters   {}", count_text(summary.parameters)));
  out.item(fmt::format("a step       {} inferring, {} training", text(summary.flops, batch),
                       text(summary.flops, 3 * batch)));
  out.item(fmt::format("gradients    {}", format_bytes(summary.parameters * network::bytes_of(size.precision))));
  out.item(fmt::format("width W      {:.3g} = {} heavy operators / {} in the longest chain", summary.width.value(),
                       summary.width.heavy, summary.width.depth));
  out.item(fmt::format("no graph     {}", summary.why_no_graph));
  return out;
}

json onnx_json(const network::OnnxSummary& summary, const NetworkSize& size) {
  if (summary.graph) return network_json(*summary.graph, size);
  const auto of_batch = [&](const std::optional<double>& flops, double times) -> json {
    return flops ? json(*flops * times * static_cast<double>(size.batch)) : json();
  };
  json layers = json::array();
  for (const auto& own : summary.heavy) {
    layers.push_back({{"node", own.node}, {"operator", own.op}, {"forward_flops", of_batch(own.flops, 1)}});
  }
  return {{"network", summary.name},
          {"hash", nullptr},
          {"batch", size.batch},
          {"precision", size.precision},
          {"parameters", summary.parameters},
          {"infer_flops", of_batch(summary.flops, 1)},
          {"train_flops", of_batch(summary.flops, 3)},
          {"activation_bytes", nullptr},
          {"gradient_bytes", summary.parameters * network::bytes_of(size.precision)},
          {"width", {{"heavy", summary.width.heavy}, {"depth", summary.width.depth}, {"value", summary.width.value()}}},
          {"layers", std::move(layers)},
          {"graph", nullptr},
          {"why_no_graph", summary.why_no_graph}};
}

Document primitive_document(const Primitive& primitive, const Workload& workload) {
  const auto options = primitive_options(primitive, workload);
  Document out;
  out.paragraph(fmt::format("{}: {}", primitive.name, primitive.description));
  if (primitive.exchanges) {
    out.item("between ranks; its options are those of the worker");
    return out;
  }
  for (const auto& option : primitive.options) {
    out.item(option.choices.empty() ? fmt::format("{:<14} {}", option.name, options.at(option.name))
                                    : fmt::format("{:<14} {} (of {})", option.name, options.choices.at(option.name),
                                                  fmt::join(option.choices, ", ")));
  }
  const auto cost = network::step_cost(workload);
  if (!cost) return out;
  const double bytes = cost->least_bytes.value_or(0);
  const auto intensity = cost->flops > 0 ? fmt::format(", {:.3g} FLOP/byte", cost->flops / bytes) : "";
  out.paragraph(fmt::format("a step of {} at {}: {}, {} at least{}", primitive.has_samples ? workload.batch : 1,
                            workload.precision, flops_text(cost->flops), format_bytes(static_cast<std::int64_t>(bytes)),
                            intensity));
  return out;
}

json primitive_json(const Primitive& primitive, const Workload& workload) {
  const auto options = primitive_options(primitive, workload);
  json values = options.integers;
  values.update(json(options.choices));
  if (values.is_null()) values = json::object();
  const auto cost = network::step_cost(workload);
  return {{"primitive", primitive.name},
          {"description", primitive.description},
          {"batch", workload.batch},
          {"precision", workload.precision},
          {"has_samples", primitive.has_samples},
          {"exchanges", primitive.exchanges},
          {"options", std::move(values)},
          {"flops", cost ? json(cost->flops) : json()},
          {"least_bytes", cost && cost->least_bytes ? json(*cost->least_bytes) : json()}};
}

Document networks_document() {
  Table table(
      {{"network"}, {"parameters", Align::right}, {"forward", Align::right}, {"W", Align::right}, {"what it is"}});
  for (const auto& about : network::all_networks()) {
    const auto cost = network::cost_of(network::build(about.name));
    table.add({about.name, count_text(cost.total.parameters), flops_text(cost.total.flops),
               fmt::format("{:.2f}", cost.width.value()), about.description});
  }
  Document out;
  out.add(std::move(table));
  return out;
}

json networks_json() {
  json out = json::array();
  for (const auto& about : network::all_networks()) {
    const auto cost = network::cost_of(network::build(about.name));
    out.push_back({{"network", about.name},
                   {"description", about.description},
                   {"parameters", cost.total.parameters},
                   {"infer_flops", cost.total.flops},
                   {"width", cost.width.value()}});
  }
  return out;
}

}  // namespace assay::report
