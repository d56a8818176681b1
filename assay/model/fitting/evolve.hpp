#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace assay::model {

/// A cost over a box of numbers.
struct Box {
  std::vector<double> low;
  std::vector<double> high;
};

/// What costs least in the box, by differential evolution (pagmo2) with about `evaluations` of the cost. The same seed
/// gives the same answer.
std::vector<double> evolve(const std::function<double(const std::vector<double>&)>& cost, const Box& box,
                           std::int64_t evaluations, std::uint64_t seed);

/// How many there are in a population for a box of this many numbers.
std::int64_t population_size(std::size_t numbers);

}  // namespace assay::model
