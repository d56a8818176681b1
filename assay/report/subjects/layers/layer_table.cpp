#include "assay/report/subjects/layers/layer_table.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

Table longest_layers(const predict::LayerTable& table) {
  constexpr std::size_t kShown = 8;
  constexpr auto kToTheRight = Table::Align::right;
  auto layers = table.layers;
  const auto seconds = [](const auto& layer) { return layer.forward_seconds + layer.backward_seconds; };
  std::stable_sort(layers.begin(), layers.end(), [&](const auto& a, const auto& b) { return seconds(a) > seconds(b); });
  layers.resize(std::min(layers.size(), kShown));
  Table shown({{"longest"}, {"forward", kToTheRight}, {"backward", kToTheRight}, {"gradients", kToTheRight}});
  for (const auto& layer : layers) {
    double bytes = 0;
    for (const double one : layer.gradient_bytes) bytes += one;
    shown.add({layer.name, format_seconds(layer.forward_seconds), format_seconds(layer.backward_seconds),
               format_bytes(static_cast<std::int64_t>(bytes))});
  }
  return shown;
}

/// Ranks that were read together, and what the table has of them.
void add_ranks(const predict::LayerTable& table, Document& document) {
  constexpr auto kToTheRight = Table::Align::right;
  Table shown({{"rank", kToTheRight},
               {"forward", kToTheRight},
               {"backward", kToTheRight},
               {"update", kToTheRight},
               {"load", kToTheRight},
               {"file"}});
  for (const auto& rank : table.ranks) {
    shown.add({std::to_string(rank.rank), format_seconds(rank.forward_seconds), format_seconds(rank.backward_seconds),
               format_seconds(rank.update_seconds), format_seconds(rank.load_seconds), rank.file});
  }
  document.gap();
  document.add(shown);
  if (table.why_not_joined.empty()) {
    document.paragraph(fmt::format("Every time above is the median over {} ranks.", table.ranks.size()));
  } else {
    document.paragraph(fmt::format("Layers differ: {}. The table is {}, the rank that computes longest.",
                                   table.why_not_joined, shown_path(table.name)));
  }
}

}  // namespace

Document layer_table_document(const predict::LayerTable& table) {
  Document document;
  document.paragraph(fmt::format("{} layers: forward {}, backward {}, update {}, load {}; {:.4g} MB of gradients",
                                 table.layers.size(), format_seconds(table.forward_seconds()),
                                 format_seconds(table.backward_seconds()), format_seconds(table.update_seconds),
                                 format_seconds(table.load_seconds), 1e-6 * table.gradient_bytes()));
  document.gap();
  document.add(longest_layers(table));
  if (!table.ranks.empty()) add_ranks(table, document);
  if (!(table.backward_seconds() > 0)) {
    document.paragraph("Only inference is in it: predict has no backward pass and no gradients to go by.");
  }
  return document;
}

}  // namespace assay::report
