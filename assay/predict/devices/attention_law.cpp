#include "assay/predict/devices/attention_law.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

struct PrefillAt {
  enum : std::size_t { efficiency, fixed, longest, bandwidth, norm, ramp };
};
struct DecodeAt {
  enum : std::size_t { bandwidth, fixed, efficiency, norm, block, walk };
};

constexpr double kQueryTile = 64;   // rows of a tile of scores
constexpr double kBlockRows = 128;  // queries that a block walks the keys with
constexpr double kGroupTile = 16;   // heads that share keys are padded to it
constexpr double kLeastWalk = 256;  // keys below which a walk is not split

/// (sum of parts^q)^(1/q) without leaving the range of doubles.
template <std::size_t N>
double norm_of(const std::array<double, N>& parts, double q) {
  const double largest = *std::max_element(parts.begin(), parts.end());
  if (!(largest > 0)) return 0;
  double sum = 0;
  for (const double one : parts) sum += std::pow(one / largest, q);
  return largest * std::pow(sum, 1 / q);
}

/// Pairs of a query and a key it looks at, for one sequence and head.
double pairs_of(const AttentionWork& work, double queries, double ramp) {
  return queries * work.cached_tokens + queries * (queries + ramp) / 2;
}

double prefill_bytes(const AttentionWork& work) {
  const double heads = 2 * work.heads + 2 * work.key_value_heads;
  const double cached = 2 * work.cached_tokens * work.key_value_heads * work.cache_element_bytes;
  return work.batch * work.head_size * (2 * work.new_tokens * heads + cached);
}

double decode_bytes(const AttentionWork& work) {
  const double cache = 2 * work.cache_element_bytes * work.key_value_heads * work.cached_tokens;
  return work.batch * work.head_size * (cache + 4 * work.heads);
}

}  // namespace

const std::vector<LawConstantSpec>& prefill_constants() {
  static const std::vector<LawConstantSpec> constants{
      {"efficiency", "share of the peak", 0.5, 0.02, 1.2},
      {"fixed_us", "microseconds that every call takes", 10, 1, 80},
      {"longest", "weight of the block that walks most keys", 1, 0.05, 20},
      {"bandwidth", "share of the memory's bandwidth", 0.8, 0.05, 3},
      {"norm", "how sharply the largest part counts", 2, 1, 12},
      {"ramp", "tokens that each row costs on top", 100, 1, 3000}};
  return constants;
}

const std::vector<LawConstantSpec>& decode_constants() {
  static const std::vector<LawConstantSpec> constants{
      {"bandwidth", "share of the memory's bandwidth", 0.8, 0.05, 3},
      {"fixed_us", "microseconds that every call takes", 8, 0.5, 80},
      {"efficiency", "share of the peak that padded groups of heads reach", 0.3, 0.01, 3},
      {"norm", "how sharply the largest part counts", 2, 1, 12},
      {"block_us", "microseconds of a block, over all multiprocessors", 1, 1e-3, 100},
      {"walk_ns", "nanoseconds for each key along one walk", 5, 0.01, 1000}};
  return constants;
}

double prefill_seconds(const AttentionWork& work, const DeviceSheet& sheet, const std::vector<double>& c) {
  const double rate = sheet.bf16_flops_per_second * c[PrefillAt::efficiency];
  const double queries = std::ceil(work.new_tokens / kQueryTile) * kQueryTile;
  const double flops = 4 * work.batch * work.heads * work.head_size * pairs_of(work, queries, c[PrefillAt::ramp]);
  const double longest = 4 * kBlockRows * work.head_size * (queries + work.cached_tokens + c[PrefillAt::ramp]) *
                         c[PrefillAt::longest] * static_cast<double>(sheet.multiprocessors);
  const double memory = sheet.memory_bytes_per_second * c[PrefillAt::bandwidth];
  return 1e-6 * c[PrefillAt::fixed] +
         norm_of<3>({flops / rate, longest / rate, prefill_bytes(work) / memory}, c[PrefillAt::norm]);
}

double decode_seconds(const AttentionWork& work, const DeviceSheet& sheet, const std::vector<double>& c) {
  const auto units = static_cast<double>(sheet.multiprocessors);
  const double padded = std::ceil(work.heads / work.key_value_heads / kGroupTile) * kGroupTile * work.key_value_heads;
  const double flops = 4 * work.batch * padded * work.head_size * work.cached_tokens;
  const double blocks = work.batch * work.key_value_heads;
  const double walks = std::clamp(units / blocks, 1.0, std::max(1.0, work.cached_tokens / kLeastWalk));
  return 1e-6 * c[DecodeAt::fixed] +
         norm_of<4>({decode_bytes(work) / (sheet.memory_bytes_per_second * c[DecodeAt::bandwidth]),
                     flops / (sheet.bf16_flops_per_second * c[DecodeAt::efficiency]),
                     1e-6 * blocks * c[DecodeAt::block] / units, 1e-9 * c[DecodeAt::walk] * work.cached_tokens / walks},
                    c[DecodeAt::norm]);
}

double prefill_roofline(const AttentionWork& work, const DeviceSheet& sheet) {
  const double flops = 4 * work.batch * work.heads * work.head_size * pairs_of(work, work.new_tokens, 1);
  return std::max(flops / sheet.bf16_flops_per_second, prefill_bytes(work) / sheet.memory_bytes_per_second);
}

double decode_roofline(const AttentionWork& work, const DeviceSheet& sheet) {
  const double flops = 4 * work.batch * work.heads * work.head_size * work.cached_tokens;
  return std::max(flops / sheet.bf16_flops_per_second, decode_bytes(work) / sheet.memory_bytes_per_second);
}

KernelLaw fit_prefill(const std::vector<AttentionWork>& works, const std::vector<double>& seconds,
                      const DeviceSheet& sheet, const std::string& source) {
  LawFit fit{prefill_constants(),
             {},
             [&](const std::vector<double>& c, std::size_t row) { return prefill_seconds(works[row], sheet, c); },
             seconds,
             source};
  for (const double norm : {1.3, 3.0}) {
    for (const double share : {0.5, 0.25}) {
      fit.starts.push_back({{PrefillAt::norm, norm}, {PrefillAt::efficiency, share}});
    }
  }
  return fit_law(fit);
}

KernelLaw fit_decode(const std::vector<AttentionWork>& works, const std::vector<double>& seconds,
                     const DeviceSheet& sheet, const std::string& source) {
  LawFit fit{decode_constants(),
             {},
             [&](const std::vector<double>& c, std::size_t row) { return decode_seconds(works[row], sheet, c); },
             seconds,
             source};
  for (const double norm : {1.3, 3.0}) {
    for (const double share : {0.8, 0.4}) {
      fit.starts.push_back({{DecodeAt::norm, norm}, {DecodeAt::bandwidth, share}});
    }
  }
  return fit_law(fit);
}

KernelLaw data_sheet_prefill_law() {
  return data_sheet_law(prefill_constants(), {1, 1e-3, 1e-3, 1, 12, 1e-3});
}

KernelLaw data_sheet_decode_law() {
  return data_sheet_law(decode_constants(), {1, 1e-3, 1, 12, 1e-3, 1e-3});
}

}  // namespace assay::predict
