#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/network/graph.hpp"

namespace assay::network {

/// What a tensor of a network is filled with: reals in [middle - half, middle + half), or integers below a bound.
struct Fill {
  std::string name;  ///< as in workers/PROTOCOL.md: "conv1/weight", "bn1/mean", "input/image", "target"
  Shape shape;       ///< of all of it, with the batch where it has one
  double middle = 0;
  double half = 0;
  std::int64_t below = 0;  ///< where it is of integers, else 0
};

/// Every tensor that `batch` samples of the network need: parameters, running statistics, inputs, and the target where
/// its loss has one. Scaled so that values stay of ordinary size through deep networks.
std::vector<Fill> fills_of(const Graph& graph, std::int64_t batch);

/// The value at `index` of a tensor. Counter-based (splitmix64), a stream for every name, the upper 24 bits of a
/// number: the same on every machine and for every order of drawing.
float real_at(std::uint64_t stream, std::uint64_t index, double middle, double half);
std::int64_t integer_at(std::uint64_t stream, std::uint64_t index, std::int64_t below);
std::uint64_t stream_of(std::uint64_t seed, const std::string& name);

/// Writes all of fills_of() as a safetensors file. Throws Error where that fails.
void write_values(const Graph& graph, std::int64_t batch, std::uint64_t seed, const std::filesystem::path& file);

}  // namespace assay::network
