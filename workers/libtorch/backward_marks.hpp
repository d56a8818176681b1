#pragma once

#include "workers/libtorch/network.hpp"

namespace assay::libtorch {

/// When the backward pass came to each node of a network.
class BackwardMarks {
 public:
  /// Functions of autograd, only to be told apart.
  using Functions = std::vector<const void*>;

  /// Those behind the inputs of a node, before it is run.
  static Functions functions_of(const Network::Node& node, const Tensors& slots);

  /// `before`: functions of its inputs. A node without one of its own takes no time: it needs no gradient, or returned
  /// its input. This object must outlive the backward pass.
  void watch(std::size_t index, const Functions& before, const Tensor& output);

  /// Writes the nanoseconds of each node, then those of the loss, then 0 for the update. Throws where the pass did not
  /// run in the reverse order of forward.
  void split(std::int64_t begin_ns, std::int64_t end_ns, std::vector<std::int64_t>& backward_ns) const;

 private:
  std::vector<std::pair<std::int64_t, std::size_t>> marks_;  ///< nanoseconds and node, as they came
};

}  // namespace assay::libtorch
