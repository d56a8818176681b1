#include "assay/predict/serving/serving_row.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/file.hpp"
#include "assay/core/text/number.hpp"
#include "assay/predict/calibration/named_columns.hpp"
#include "assay/predict/models/catalogue.hpp"

namespace assay::predict {
namespace {

constexpr std::size_t kMostServingBytes = 64u << 20;
constexpr double kUsualParameters = 8e9;
constexpr const char* kServingColumns =
    "A table of served points has model, gpu_system, backend, backend_version, precision, input_tokens, output_tokens, "
    "concurrency, batch_size, tp, ttft_ms, tpot_ms; or model, gpu, tensor_parallel, prompt_tokens, batch_size, "
    "output_tokens, ttft_ms_median, tpot_ms_median. docs/serving.md has examples.";

/// A number above zero in a cell, or null: published tables leave cells blank.
std::optional<double> cell(const NamedColumns& table, std::size_t row, const char* column) {
  if (!table.has(column)) return std::nullopt;
  const auto value = parse_number<double>(table.text(row, column));
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

std::optional<double> milliseconds(const NamedColumns& table, std::size_t row, const char* column) {
  const auto value = cell(table, row, column);
  return value ? std::optional(1e-3 * *value) : std::nullopt;
}

/// "meta-llama/Llama-3.1-8B-Instruct" is in the catalogue as llama3.1-8b: the maker and what ends such names are no
/// part of the shape.
ModelShape shape_named(std::string name, std::string& guessed) {
  if (const auto slash = name.rfind('/'); slash != std::string::npos) name = name.substr(slash + 1);
  if (const auto found = find_model(name)) return *found;
  auto shorter = name;
  for (auto dash = shorter.rfind('-'); dash != std::string::npos; dash = shorter.rfind('-')) {
    shorter = shorter.substr(0, dash);
    if (const auto found = find_model(shorter)) return *found;
  }
  const auto size = stated_size(name);
  const double parameters = size ? size->parameters : kUsualParameters;
  guessed += fmt::format("The model {} is not in the catalogue: a decoder of {:.3g} billion parameters is taken. ",
                         shown(name), 1e-9 * parameters);
  return guessed_model(name, parameters, size ? size->active : parameters);
}

std::string device_named(const std::string& name, std::string& guessed) {
  if (const auto* sheet = find_device_sheet(name)) return sheet->name;
  guessed += fmt::format("The device {} is not in the catalogue: h100 is taken. ", shown(name));
  return "h100";
}

ProductType type_in(const NamedColumns& table, std::size_t row) {
  for (const char* column : {"precision", "gemm_quant"}) {
    if (!table.has(column)) continue;
    if (const auto type = product_type_of(table.text(row, column))) return *type;
  }
  return ProductType::bf16;
}

/// A split that the heads do not allow cannot be served; the nearest that they do is.
std::int64_t split_in(const NamedColumns& table, std::size_t row, const char* column, const ModelShape& shape) {
  auto split = static_cast<std::int64_t>(std::min(cell(table, row, column).value_or(1), 1024.0));
  while (split > 1 && shape.heads % split != 0) --split;
  return std::max<std::int64_t>(1, split);
}

ServingRow closed_row(const NamedColumns& table, std::size_t row) {
  ServingRow found;
  found.stack = {table.text(row, "backend"), table.text(row, "backend_version"), type_in(table, row)};
  found.device = device_named(table.text(row, "gpu_system"), found.guessed);
  auto& point = found.point;
  point.model.shape = shape_named(table.text(row, "model"), found.guessed);
  point.model.weights = found.stack.weights;
  point.model.tensor = split_in(table, row, "tp", point.model.shape);
  point.prompt_tokens = cell(table, row, "input_tokens").value_or(1024);
  point.output_tokens = std::max(2.0, cell(table, row, "output_tokens").value_or(256));
  // Where a table has both, the batch is that of one server and the concurrency that of all its replicas.
  const auto batch = cell(table, row, "batch_size");
  const auto clients = cell(table, row, "concurrency");
  point.concurrency = std::max(1.0, std::min(clients.value_or(batch.value_or(1)), batch.value_or(clients.value_or(1))));
  found.first_token_seconds = milliseconds(table, row, "ttft_ms");
  found.token_seconds = milliseconds(table, row, "tpot_ms");
  return found;
}

ServingRow static_row(const NamedColumns& table, std::size_t row) {
  ServingRow found;
  const auto& gpu = table.text(row, "gpu");
  found.device = device_named(gpu, found.guessed);
  found.stack = {"static batch", found.device, ProductType::bf16};
  auto& point = found.point;
  point.mode = ServingMode::static_batch;
  point.capped = gpu.find("pcap") != std::string::npos;
  point.model.shape = shape_named(table.text(row, "model"), found.guessed);
  point.model.tensor = split_in(table, row, "tensor_parallel", point.model.shape);
  point.prompt_tokens = cell(table, row, "prompt_tokens").value_or(512);
  point.output_tokens = std::max(2.0, cell(table, row, "output_tokens").value_or(128));
  point.concurrency = cell(table, row, "batch_size").value_or(1);
  found.first_token_seconds = milliseconds(table, row, "ttft_ms_median");
  found.token_seconds = milliseconds(table, row, "tpot_ms_median");
  return found;
}

}  // namespace

std::string StackName::text() const {
  return fmt::format("{} {}{}{}", server, version, version.empty() ? "" : " ", name_of(weights));
}

std::vector<ServingRow> parse_serving_rows(std::string_view csv, const std::string& file) {
  const NamedColumns table(csv, file, kServingColumns);
  const bool is_static = table.has("tensor_parallel");
  std::vector<ServingRow> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    rows.push_back(is_static ? static_row(table, row) : closed_row(table, row));
    rows.back().id = table.has("id") ? table.text(row, "id") : std::to_string(row + 1);
  }
  return rows;
}

std::vector<ServingRow> read_serving_rows(const std::string& path) {
  return parse_serving_rows(read_file(path, kMostServingBytes), path);
}

}  // namespace assay::predict
