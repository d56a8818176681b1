#pragma once

#include "assay/predict/devices/kernel_law.hpp"

namespace assay::predict {

/// Attention of one layer on one device. Prefill: every sequence has `new_tokens` that look at themselves and at what
/// is cached. Decode: one new token a sequence.
struct AttentionWork {
  double batch = 0;
  double new_tokens = 0;
  double cached_tokens = 0;
  double heads = 0;
  double key_value_heads = 0;
  double head_size = 128;
  double cache_element_bytes = 2;
};

const std::vector<LawConstantSpec>& prefill_constants();
const std::vector<LawConstantSpec>& decode_constants();

/// A fixed time and a norm of FLOPs over all multiprocessors, of the longest block, and of bytes.
double prefill_seconds(const AttentionWork& work, const DeviceSheet& sheet, const std::vector<double>& constants);

/// A fixed time and a norm of the cache's bytes, FLOPs of padded groups of heads, a cost for each block, and the walk
/// along the keys that is left after they are split over multiprocessors.
double decode_seconds(const AttentionWork& work, const DeviceSheet& sheet, const std::vector<double>& constants);

double prefill_roofline(const AttentionWork& work, const DeviceSheet& sheet);
double decode_roofline(const AttentionWork& work, const DeviceSheet& sheet);

KernelLaw fit_prefill(const std::vector<AttentionWork>& works, const std::vector<double>& seconds,
                      const DeviceSheet& sheet, const std::string& source);
KernelLaw fit_decode(const std::vector<AttentionWork>& works, const std::vector<double>& seconds,
                     const DeviceSheet& sheet, const std::string& source);

KernelLaw data_sheet_prefill_law();
KernelLaw data_sheet_decode_law();

}  // namespace assay::predict
