#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/workload.hpp"

namespace assay::network {

/// What a worker may know by name besides networks: one operation that is the whole step.
struct Primitive {
  std::string name;
  bool exchanges = false;  ///< between ranks: a collective
};

/// Every primitive that means the same for all workers.
std::vector<Primitive> all_primitives();

/// FLOPs of one sample of a workload's step: of a network of Assay's, or of the primitive `gemm` (m x k times k x n,
/// each 1024 where no option says otherwise). Of a user's ONNX file, where it still is the one that
/// was measured. Null where neither tells: another file of a user's, a command, or a network that is another one in
/// this release.
std::optional<double> sample_flops(const Workload& workload);

/// Bytes that one step of the primitive `triad` moves: two arrays read, one written. Null for anything else.
std::optional<double> triad_bytes(const Workload& workload);

}  // namespace assay::network
