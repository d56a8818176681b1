#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/core/primitive.hpp"

namespace assay::onednn {

using Sizes = std::vector<std::int64_t>;

/// Values of a tensor by name, the last dimension running fastest: drawn, or chosen by a test.
using Source = std::function<std::vector<float>(const std::string& name, const Sizes& shape)>;

/// A primitive, ready to run: tensors are filled and lie as oneDNN likes them best.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Computes it once; returns when all is done.
  virtual void run() = 0;
  /// What the last run computed, the last dimension running fastest.
  virtual std::vector<float> result() const = 0;
};

/// What is asked for. Throws worker::Refused by name where there is no such operation at that precision.
std::unique_ptr<Operation> make_operation(const Workload& workload, const Source& source);

/// "2.6.3", of the library that is loaded.
std::string library_release();

}  // namespace assay::onednn
