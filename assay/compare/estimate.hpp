#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "assay/compare/compare.hpp"
#include "assay/compare/selector.hpp"

// What comparisons of two sides and of several are made of.

namespace assay::compare {

using Rows = std::vector<const store::RunRow*>;
using TrialsById = std::unordered_map<std::string, const Trial*>;

TrialsById trials_by_id(const Material& material);

/// What runs that are compared with each other have in common: their trial without what the sides say of it, and the
/// platform unless a side names one.
class CommonParts {
 public:
  CommonParts(const TrialsById& trials, const std::vector<Selector>& sides);

  std::string of(const store::RunRow& row) const;

 private:
  std::unordered_map<std::string, std::string> left_;  ///< by trial
  bool across_platforms_;
};

/// Ratio and interval of b to a, neither of them empty. By lock-step groups that hold both where there are enough, else
/// by independent processes. No verdict yet.
Comparison estimate(const Rows& a, const Rows& b, const Material& material, const TrialsById& trials);

/// Whether a run learnt up to its last epoch without the accuracy that it was to end at.
bool has_not_reached(const store::RunRow& row);

/// Compares runs of either side by their order: one that has not reached the accuracy within its epochs counts as
/// longer than any that has, and as equal to others that have not. Fills in sides, method, ranks and, where both have
/// one, the ratio of the medians. Throws Error{usage} where the runs may not take equally many epochs.
void compare_by_ranks(const Rows& a, const Rows& b, Comparison& out);

/// Gives each its verdict, at one error rate for all together (Holm).
void judge(const std::vector<Comparison*>& family);

}  // namespace assay::compare
