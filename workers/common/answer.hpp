#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workers/common/worker.hpp"

namespace assay::worker {

enum class Detail { step, phases, layers };

/// The times of one `measure`, a row a step: the step itself, then its phases, or its nodes forward and then backward.
/// Flat and reserved up front, so that keeping a row allocates nothing.
class Samples {
 public:
  Samples(std::size_t columns, std::int64_t max_samples);

  void add(std::int64_t ns, const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second);

  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return values_.size() / columns_; }
  std::int64_t at(std::size_t row, std::size_t column) const { return values_[row * columns_ + column]; }

 private:
  std::size_t columns_;
  std::vector<std::int64_t> values_;
};

/// The most samples of one `measure` with layers: both lists of a node must fit on one line.
constexpr std::int64_t kMostLayerSamples = 50'000;

/// Sends the `samples` lines, with phases where `phases` has names, or with so many tokens of each; each line well
/// below the limit.
void send_samples(Channel& channel, const Samples& samples, const std::vector<std::string>& phases, std::size_t tokens);

/// Sends the `layers` lines: every node once, as many on a line as fit.
void send_layers(Channel& channel, const Samples& samples, const std::vector<std::string>& nodes, bool backward);

}  // namespace assay::worker
