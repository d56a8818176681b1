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
constexpr double kMostTokens = 1e8;
constexpr double kMostSplit = 1024;
constexpr const char* kServingColumns =
    "A table of served points has model, gpu_system, backend, backend_version, precision, input_tokens, output_tokens, "
    "concurrency, batch_size, tp, ttft_ms, tpot_ms; or model, gpu, tensor_parallel, prompt_tokens, batch_size, "
    "output_tokens, ttft_ms_median, tpot_ms_median. docs/serving.md has examples.";

/// What makes a row impossible to predict, as a sentence.
struct Refusal {
  std::string why;
};

/// A number above zero in a cell, or null: published tables leave cells blank.
std::optional<double> positive_cell(const NamedColumns& table, std::size_t row, const char* column) {
  if (!table.has(column)) return std::nullopt;
  const auto value = parse_number<double>(table.text(row, column));
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

double needed_number(const NamedColumns& table, std::size_t row, const char* column) {
  const auto value = positive_cell(table, row, column);
  if (value && *value <= kMostTokens) return *value;
  throw Refusal{fmt::format("{} is {}, which is not a number above zero.", column,
                            shown(table.has(column) ? table.text(row, column) : ""))};
}

std::optional<double> milliseconds(const NamedColumns& table, std::size_t row, const char* column) {
  const auto value = positive_cell(table, row, column);
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
  if (!size) throw Refusal{fmt::format("the model {} is not in the catalogue, and states no size.", shown(name))};
  guessed = fmt::format("The model {} is not in the catalogue: a decoder of {:.3g} billion parameters is taken.",
                        shown(name), 1e-9 * size->parameters);
  return guessed_model(name, size->parameters, size->active);
}

std::string device_named(const std::string& name) {
  if (const auto* sheet = find_device_sheet(name)) return sheet->name;
  throw Refusal{fmt::format("the device {} is not in the catalogue.", shown(name))};
}

/// What the column says; blank: bf16.
ProductType type_in(const NamedColumns& table, std::size_t row) {
  for (const char* column : {"precision", "gemm_quant"}) {
    if (!table.has(column) || table.text(row, column).empty()) continue;
    const auto& written = table.text(row, column);
    if (const auto type = product_type_of(written)) return *type;
    throw Refusal{fmt::format("{} {} is not a type of weights that is known.", column, shown(written))};
  }
  return ProductType::bf16;
}

void need_measured(const ServingRow& row) {
  if (!row.first_token_seconds && !row.token_seconds) throw Refusal{"neither time was measured."};
}

/// Splits over stages, and prompts on devices of their own, are not what closed loops are predicted by.
void need_one_place(const NamedColumns& table, std::size_t row) {
  if (const auto stages = positive_cell(table, row, "pp"); stages && *stages != 1) {
    throw Refusal{fmt::format("pp is {}: pipelines of a served model are not predicted.", *stages)};
  }
  if (table.has("mode") && table.text(row, "mode").starts_with("disagg")) {
    throw Refusal{"mode is disagg: prompts on devices of their own are simulated, not predicted from rows."};
  }
}

std::int64_t split_in(const NamedColumns& table, std::size_t row, const char* column) {
  const double split = needed_number(table, row, column);
  if (split <= kMostSplit && split == std::floor(split)) return static_cast<std::int64_t>(split);
  throw Refusal{fmt::format("{} is {}; it is a whole number up to {}.", column, split, kMostSplit)};
}

ServingRow closed_row(const NamedColumns& table, std::size_t row) {
  ServingRow found;
  need_one_place(table, row);
  found.stack = {table.text(row, "backend"), table.text(row, "backend_version"), type_in(table, row)};
  found.device = device_named(table.text(row, "gpu_system"));
  auto& point = found.point;
  point.model.shape = shape_named(table.text(row, "model"), found.guessed);
  point.model.weights = found.stack.weights;
  point.model.tensor = split_in(table, row, "tp");
  point.prompt_tokens = needed_number(table, row, "input_tokens");
  point.output_tokens = std::max(2.0, needed_number(table, row, "output_tokens"));
  // Where a table has both, the batch is that of one server and the concurrency that of all its replicas.
  const auto batch = positive_cell(table, row, "batch_size");
  const auto clients = batch ? positive_cell(table, row, "concurrency") : needed_number(table, row, "concurrency");
  point.concurrency = std::max(1.0, std::min(clients.value_or(kMostTokens), batch.value_or(kMostTokens)));
  found.first_token_seconds = milliseconds(table, row, "ttft_ms");
  found.token_seconds = milliseconds(table, row, "tpot_ms");
  return found;
}

ServingRow static_row(const NamedColumns& table, std::size_t row) {
  ServingRow found;
  const auto& gpu = table.text(row, "gpu");
  found.device = device_named(gpu);
  found.stack = {"static batch", found.device, ProductType::bf16};
  auto& point = found.point;
  point.mode = ServingMode::static_batch;
  point.capped = gpu.find("pcap") != std::string::npos;
  point.model.shape = shape_named(table.text(row, "model"), found.guessed);
  point.model.tensor = split_in(table, row, "tensor_parallel");
  point.prompt_tokens = needed_number(table, row, "prompt_tokens");
  point.output_tokens = std::max(2.0, needed_number(table, row, "output_tokens"));
  point.concurrency = needed_number(table, row, "batch_size");
  found.first_token_seconds = milliseconds(table, row, "ttft_ms_median");
  found.token_seconds = milliseconds(table, row, "tpot_ms_median");
  return found;
}

void add_serving_row(ServingTable& read, const NamedColumns& table, std::size_t row) {
  const auto id = table.has("id") && !table.text(row, "id").empty() ? table.text(row, "id") : std::to_string(row + 1);
  try {
    auto found = table.has("tensor_parallel") ? static_row(table, row) : closed_row(table, row);
    found.id = id;
    need_measured(found);
    check(found.point.model);
    read.rows.push_back(std::move(found));
  } catch (const Refusal& refusal) {
    read.refused.push_back({id, refusal.why});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;  // a column is missing
    read.refused.push_back({id, error.what()});
  }
}

}  // namespace

std::string StackName::text() const {
  return fmt::format("{} {} {}", server, version.empty() ? "unversioned" : version, name_of(weights));
}

ServingTable parse_serving_rows(std::string_view csv, const std::string& file) {
  const NamedColumns table(csv, file, kServingColumns);
  ServingTable read;
  for (std::size_t row = 0; row < table.rows(); ++row) add_serving_row(read, table, row);
  return read;
}

ServingTable read_serving_rows(const std::string& path) {
  return parse_serving_rows(read_file(path, kMostServingBytes), path);
}

}  // namespace assay::predict
