#pragma once

#include <string>
#include <vector>

#include "assay/predict/serving/stacks/stack_group.hpp"

namespace assay::predict {

/// A software stack whose constants are part of the program.
struct KnownStack {
  std::string server;
  ProductType weights = ProductType::bf16;
  FittedStack fitted;
  std::string source;
};

/// Constants that were fitted to published measurements, for those who have no points of their own.
const std::vector<KnownStack>& known_stacks();

/// That of a server and a type of weights: bf16 also stands for int8 and int4, whose products are those of bf16, and
/// fp8 for fp4. Throws Error{usage} that lists the servers.
const KnownStack& known_stack(const std::string& server, ProductType weights);

}  // namespace assay::predict
