#pragma once

#include "assay/core/text/json.hpp"

namespace assay::model {

/// What a factor is to the time of a workload.
enum class Role {
  intrinsic,  ///< of the algorithm: parameters, FLOPs, depth, width, length of a sequence
  extrinsic,  ///< of how it is fed: batch, data chunks
  parallel,   ///< extrinsic too: processors that share the work, as ranks, instances, threads
};

}  // namespace assay::model

template <>
struct assay::EnumNames<assay::model::Role> {
  static constexpr std::array<const char*, 3> names{"intrinsic", "extrinsic", "parallel"};
};
