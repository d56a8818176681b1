#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/compare/calibration.hpp"
#include "assay/compare/selector.hpp"
#include "assay/stats/difference.hpp"
#include "assay/stats/ranks.hpp"
#include "assay/store/store.hpp"

namespace assay::compare {

enum class Verdict { slower, faster, no_difference, undecided };

/// One side of a comparison of two trials.
struct Side {
  std::string trial_id;
  Trial trial;
  std::string platform;
  std::int64_t runs = 0;       ///< that were used
  std::int64_t disturbed = 0;  ///< of the others: untrusted
  std::int64_t failed = 0;
  std::optional<double> median_ns;  ///< of the processes' medians
  std::int64_t not_reached = 0;     ///< of those that were used: ended without the accuracy that is compared
  bool of_disturbed = false;        ///< the median is that of disturbed runs, for want of any other
  std::map<std::string, double> phases_seconds;  ///< median over runs
};

/// How the second side stands to the first. Ratios are of time: above 1 the second is slower.
struct Comparison {
  Side a;
  Side b;
  Method method = Method::welch;
  std::int64_t pairs = 0;                         ///< where the method is lockstep
  std::optional<stats::Difference> difference;    ///< of logarithms
  std::optional<stats::RankComparison> ranks;     ///< where the method is ranks; then there is no difference
  std::optional<double> ratio;                    ///< by ranks that of the medians, where both sides have one
  std::optional<stats::Interval> ratio_interval;  ///< 95 %
  std::optional<double> p;                        ///< adjusted for the number of comparisons (Holm)
  std::optional<double> detectable;  ///< the smallest difference that would have been found in 4 of 5 cases, as a share
  double threshold = 0;              ///< below this share no verdict is given
  Verdict verdict = Verdict::undecided;
  std::string reason;  ///< why it is undecided
};

struct Comparisons {
  std::vector<Comparison> all;
  std::int64_t only_a = 0;  ///< trials that only one side has
  std::int64_t only_b = 0;
};

/// What is chosen from a store, counted runs only.
struct Material {
  std::vector<store::TrialRow> trials;
  std::vector<store::RunRow> rows;
  std::vector<Calibration> calibrations;
  bool to_accuracy = false;  ///< times are those to an accuracy, which some runs may not have reached
};

/// Trials that are equal but for what the sides say are compared, each on one platform (or across two, where the sides
/// say so). Pairs are used where the sides are partners, and independent processes elsewhere.
Comparisons compare(const Material& material, const Selector& a, const Selector& b);

/// "4 of 6" runs have reached the accuracy.
std::string reached_text(const Side& side);

/// A plain sentence one can act on.
std::string sentence(const Comparison& comparison);

/// Whether this is a proved slow-down whose size is at least `gate`.
bool fails_gate(const Comparison& comparison, double gate);

/// Whether neither is known: no slow-down of `gate` is proved, and none is excluded, since the interval reaches that
/// far or there is no verdict at all.
bool leaves_gate_open(const Comparison& comparison, double gate);

}  // namespace assay::compare

namespace assay {

template <>
struct EnumNames<compare::Verdict> {
  static constexpr std::array<const char*, 4> names{"slower", "faster", "no_difference", "undecided"};
};

}  // namespace assay
