#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/core/workload.hpp"

namespace assay {

/// What one option of a primitive may be: one of `choices`, the first being the default; or, where there are none, an
/// integer from `least` on.
struct PrimitiveOption {
  std::string name;
  std::int64_t standard = 0;
  std::int64_t least = 1;
  std::vector<std::string> choices = {};
};

/// What a worker may know by name besides networks: one operation that is the whole step. The same name and options
/// are the same operation on every worker; what it costs is in assay/network/step_cost.hpp.
struct Primitive {
  std::string name;
  std::string description;
  std::vector<PrimitiveOption> options;
  bool has_samples = false;  ///< the workload's batch is the number of them; else it must be 1
  bool exchanges = false;    ///< between ranks: a collective, whose options are the worker's own
};

/// Every primitive that means the same for all workers.
const std::vector<Primitive>& all_primitives();

/// Null where there is none of that name.
const Primitive* find_primitive(const std::string& name);

/// Options of a primitive with the defaults filled in.
struct PrimitiveOptions {
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, std::string> choices;

  std::int64_t at(const std::string& name) const { return integers.at(name); }
};

/// Throws Error{usage} by name for an option that there is not, a value out of range, sizes of a convolution that leave
/// no output or cannot be dealt out to its groups, and a batch where there are no samples.
PrimitiveOptions primitive_options(const Primitive& primitive, const Workload& workload);

/// Sizes of the axes along which a convolution slides: "width", before it "height", before that "depth". Empty where
/// the options are those of no convolution.
std::vector<std::int64_t> convolution_sizes(const PrimitiveOptions& options);

/// How often a window of a convolution fits along an axis of `size`.
std::int64_t windows_along(const PrimitiveOptions& options, std::int64_t size);

}  // namespace assay
