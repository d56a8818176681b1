#include "assay/predict/devices/kernel_table.hpp"

#include <algorithm>

#include "assay/core/text/file.hpp"
#include "assay/predict/calibration/named_columns.hpp"

namespace assay::predict {
namespace {

constexpr std::size_t kMostTableBytes = 64u << 20;
constexpr double kElementBytes = 2;
constexpr const char* kKernelColumns =
    "A table of kernels has m, n, k, dtype; or kind, batch, new_tokens, cached_tokens, heads, key_value_heads, "
    "head_size; or collective, devices, elements; and us. docs/predict.md has examples.";

double above_zero(const NamedColumns& table, std::size_t row, const std::string& column) {
  const double value = table.number(row, column);
  if (value > 0) return value;
  table.wrong(row, fmt::format("{} is {}; it is a number above zero.", column, shown(table.text(row, column))));
}

double time_of(const NamedColumns& table, std::size_t row) {
  if (table.has("us")) return 1e-6 * above_zero(table, row, "us");
  const double seconds = table.seconds(row, "time");
  if (seconds > 0) return seconds;
  table.wrong(row, "the time is 0; it is above zero.");
}

ProductWork product_of(const NamedColumns& table, std::size_t row) {
  ProductWork work{above_zero(table, row, "m"), above_zero(table, row, "n"), above_zero(table, row, "k"),
                   ProductType::bf16};
  if (!table.has("dtype")) return work;
  const auto type = product_type_of(table.text(row, "dtype"));
  if (!type) {
    table.wrong(row, fmt::format("dtype: {} is not known. Write bf16, fp8, fp4, int8 or int4.",
                                 shown(table.text(row, "dtype"))));
  }
  work.type = *type;
  return work;
}

KernelKind attention_kind(const NamedColumns& table, std::size_t row) {
  const auto& kind = table.text(row, "kind");
  if (kind == "prefill") return KernelKind::prefill;
  if (kind == "decode") return KernelKind::decode;
  table.wrong(row, fmt::format("kind: {} is not known. Write prefill or decode.", shown(kind)));
}

AttentionWork attention_of(const NamedColumns& table, std::size_t row) {
  AttentionWork work;
  work.batch = above_zero(table, row, "batch");
  work.new_tokens = table.has("new_tokens") ? table.number(row, "new_tokens") : 1;
  work.cached_tokens = table.has("cached_tokens") ? table.number(row, "cached_tokens") : 0;
  work.heads = above_zero(table, row, "heads");
  work.key_value_heads = above_zero(table, row, "key_value_heads");
  if (table.has("head_size")) work.head_size = above_zero(table, row, "head_size");
  if (work.new_tokens + work.cached_tokens > 0) return work;
  table.wrong(row, "new_tokens and cached_tokens are both 0: nothing is looked at.");
}

model::Collective collective_of(const NamedColumns& table, std::size_t row) {
  if (!table.has("collective")) return model::Collective::all_reduce;
  const auto& name = table.text(row, "collective");
  if (name == "alltoall") return model::Collective::all_to_all;
  for (const auto one : {model::Collective::all_reduce, model::Collective::all_gather,
                         model::Collective::reduce_scatter, model::Collective::all_to_all}) {
    if (name == name_of(one)) return one;
  }
  table.wrong(row,
              fmt::format("collective: {} is not known. Write all_reduce, all_gather, reduce_scatter or all_to_all.",
                          shown(name)));
}

CollectiveWork collective_work_of(const NamedColumns& table, std::size_t row) {
  CollectiveWork work{collective_of(table, row), above_zero(table, row, "devices"), 0};
  if (work.devices < 2) table.wrong(row, "devices is below 2: nothing travels.");
  work.bytes = table.has("message_bytes") ? above_zero(table, row, "message_bytes")
                                          : kElementBytes * above_zero(table, row, "elements");
  return work;
}

KernelRow row_of(const NamedColumns& table, std::size_t row) {
  KernelRow found;
  if (table.has("gpu")) found.device = table.text(row, "gpu");
  found.source = table.has("source") ? table.text(row, "source") : table.file();
  if (table.has("m") && table.has("n") && table.has("k")) {
    found.product = product_of(table, row);
  } else if (table.has("kind")) {
    found.kind = attention_kind(table, row);
    found.attention = attention_of(table, row);
  } else {
    found.kind = KernelKind::collective;
    found.collective = collective_work_of(table, row);
  }
  found.seconds = table.has("out_of_place_us") ? 1e-6 * above_zero(table, row, "out_of_place_us") : time_of(table, row);
  return found;
}

}  // namespace

std::optional<ProductType> product_type_of(std::string_view name) {
  if (name == "bf16" || name == "bfloat16" || name == "fp16" || name == "float16") return ProductType::bf16;
  if (name == "fp8" || name == "fp8_block" || name == "fp8_static" || name == "mxfp8") return ProductType::fp8;
  if (name == "fp4" || name == "nvfp4" || name == "mxfp4") return ProductType::fp4;
  if (name == "int8" || name == "int8_wo") return ProductType::int8;
  if (name == "int4" || name == "int4_wo") return ProductType::int4;
  return std::nullopt;
}

std::vector<KernelRow> parse_kernel_table(std::string_view csv, const std::string& file) {
  const NamedColumns table(csv, file, kKernelColumns);
  std::vector<KernelRow> rows;
  rows.reserve(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) rows.push_back(row_of(table, row));
  return rows;
}

std::vector<KernelRow> read_kernel_table(const std::string& path) {
  return parse_kernel_table(read_file(path, kMostTableBytes), path);
}

}  // namespace assay::predict
