#include <cmath>

#include "assay/core/text/naming.hpp"
#include "assay/predict/calibration/named_columns.hpp"
#include "assay/predict/layers.hpp"

namespace assay::predict {

LayerTable parse_layers(std::string_view csv, const std::string& name, std::int64_t batch) {
  const NamedColumns file(csv, name,
                          "A layer table has the columns layer, forward_ms, backward_ms and gradient_bytes.");
  LayerTable table = imported_table(name, batch);
  for (std::size_t row = 0; row < file.rows(); ++row) {
    table.layers.push_back({file.text(row, "layer"), file.seconds(row, "forward"), file.seconds(row, "backward"),
                            file.numbers(row, "gradient_bytes"), 0});
  }
  return table;
}

LayerTable parse_layer_json(std::string_view text, const std::string& name) {
  auto table = naming(name, [&] {
    return from_json<LayerTable>(parse_json(text, {16u << 20, 64, 1'000'000}), "table");
  });
  bool good = table.batch >= 1 && !table.layers.empty();
  const auto need = [&](double value) { good = good && value >= 0 && std::isfinite(value); };
  for (const double value : {table.load_seconds, table.stored_bytes, table.transfer_seconds, table.update_seconds}) {
    need(value);
  }
  for (const auto& layer : table.layers) {
    for (const double value : {layer.forward_seconds, layer.backward_seconds, layer.activation_bytes}) need(value);
    for (const double bytes : layer.gradient_bytes) need(bytes);
  }
  if (!good) {
    fail(ErrorKind::bad_input, "{}: a table has a batch, at least one layer, and no number below zero.", name);
  }
  return table;
}

}  // namespace assay::predict
