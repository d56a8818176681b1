#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/model/tables/table.hpp"

namespace assay::bench {

/// Measurements of a law that is known, as if made on a machine: the truth that fits are held against.
struct PlantedLaw {
  std::string family;
  model::Table train;                       ///< 300 points
  model::Table beyond;                      ///< 60 points at twice and four times the largest scale of one factor
  std::string scale;                        ///< that factor
  std::map<std::string, double> constants;  ///< the truth, by the names that the family gives its constants
};

/// A random law of a family (generic, ssgd, ernest or terms) with noise of 1 to 3 %. Written as formulas of its own,
/// not through the code under test.
PlantedLaw plant(const std::string& family, std::uint64_t seed);

}  // namespace assay::bench
