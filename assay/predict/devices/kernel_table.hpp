#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/predict/devices/attention_law.hpp"
#include "assay/predict/devices/collective_law.hpp"
#include "assay/predict/devices/product_law.hpp"

namespace assay::predict {

/// Which law a measured call belongs to.
enum class KernelKind { product, prefill, decode, collective };

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::KernelKind> {
  static constexpr std::array<const char*, 4> names{"product", "prefill", "decode", "collective"};
};

namespace assay::predict {

/// A call of a kernel as somebody measured it. Of the three kinds of work the one that `kind` says counts.
struct KernelRow {
  std::string device;  ///< as the table writes it; empty where it has no such column
  KernelKind kind = KernelKind::product;
  ProductWork product;
  AttentionWork attention;
  CollectiveWork collective;
  double seconds = 0;
  std::string source;
};

/// Rows of a CSV table, which is told by its columns: m, n, k are products; kind, batch, new_tokens, cached_tokens,
/// heads, key_value_heads, head_size attention; collective, devices, elements (of 2 bytes) or message_bytes
/// collectives; devices, message_bytes and out_of_place_us what nccl-tests print of an all-reduce. A column `us`, or
/// time_seconds, time_ms, time_us, has the time. Throws Error{bad_input} that names the file and the row.
std::vector<KernelRow> parse_kernel_table(std::string_view csv, const std::string& file);

/// The same from a file of at most 64 MiB.
std::vector<KernelRow> read_kernel_table(const std::string& path);

/// "bfloat16", "fp8_block", "nvfp4" and the like; null for a type that is not known.
std::optional<ProductType> product_type_of(std::string_view name);

}  // namespace assay::predict
