#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/compare/compare.hpp"

namespace assay::compare {

/// How one side of several stands to the reference. Ratios are of time: above 1 it is slower.
struct SideStanding {
  Side side;
  std::optional<double> ratio;  ///< 1 for the reference itself
  std::optional<stats::Interval> ratio_interval;
};

/// Two sides of a family, by their numbers, and what is said of the second against the first.
struct FamilyPair {
  std::size_t first = 0;
  std::size_t second = 0;
  Comparison comparison;
};

/// Trials of several sides that are equal but for what the sides say, on one platform.
struct Family {
  std::vector<SideStanding> sides;  ///< in the order given
  std::size_t reference = 0;
  std::vector<FamilyPair> pairs;  ///< every two of them once
};

struct Families {
  std::vector<Family> all;
  std::int64_t incomplete = 0;  ///< trials that some sides have and others do not
};

enum class FamilyReference { first, fastest };

/// Compares several sides with each other. Runs of one lock-step group met the same host: where there are groups, each
/// gives one ratio of every two sides, and Student's interval is over groups. Verdicts on all pairs of all families
/// have one error rate together (Holm).
Families compare_all(const Material& material, const std::vector<Selector>& sides, FamilyReference reference);

/// A plain sentence on two sides of a family; `names` are those of its sides.
std::string sentence(const FamilyPair& pair, const std::vector<std::string>& names);

}  // namespace assay::compare

namespace assay {

template <>
struct EnumNames<compare::FamilyReference> {
  static constexpr std::array<const char*, 2> names{"first", "fastest"};
};

}  // namespace assay
