#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::tune {

/// What measuring has cost so far, from stored records alone, so that a search that is replayed decides the same.
struct SearchCost {
  std::int64_t runs = 0;  ///< fresh processes; a lock-step pair is two
  double seconds = 0;
};

/// A function from candidates to evaluations. Measured, recorded and synthetic ones interchange.
class Objective {
 public:
  virtual ~Objective() = default;

  /// One more evaluation of each candidate, measured in turns: the logarithm of its cost (seconds per sample); null
  /// where it failed. The n-th call for a candidate gives its n-th evaluation, the same whenever it is replayed.
  virtual std::vector<std::optional<double>> measure(const std::vector<std::size_t>& candidates) = 0;

  /// Log-ratios of cost of b to a, of `pairs` more lock-step pairs; fewer where some failed.
  virtual std::vector<double> race(std::size_t a, std::size_t b, std::int64_t pairs) = 0;

  virtual SearchCost spent() const = 0;

  /// Whether the steps of a candidate so far kept the limit of the goal; true where it has none.
  virtual bool within_limit(std::size_t /*candidate*/) const { return true; }
};

/// Either or both; a search ends at the first that is reached.
struct Budget {
  std::optional<std::int64_t> runs;
  std::optional<double> seconds;
};

struct Problem {
  std::vector<std::vector<double>> candidates;  ///< features of each, of the same length
  std::vector<std::size_t> seeds;               ///< measured first, in this order: named baselines and the paper's rule
  Budget budget;
};

enum class Why { seed, grid, improvement, race };

/// One thing that the search did, and why: the journal that a person reads.
struct Step {
  Why why = Why::seed;
  std::size_t candidate = 0;
  std::optional<std::size_t> against;  ///< in a race: who was ahead before it
  std::optional<double> cost;          ///< exp of what was measured; of a race, the ratio to `against`
  std::optional<double> expected;      ///< what the model expected before, where it had chosen it
  std::string decision;                ///< in words, where something was decided; else empty
};

struct Found {
  std::size_t best = 0;
  std::vector<Step> steps;
  std::vector<std::vector<double>> measured;  ///< log costs of each candidate, in the order measured
  std::vector<std::optional<double>>
      expected;  ///< log cost of each candidate by the model at the end; null without one
};

/// Seeds first; the whole grid where it fits into three quarters of the budget; else a Gaussian process with expected
/// improvement over the candidates. In the last quarter the best four race in lock-step pairs, as soon as a pair
/// promises more per run than one more candidate; two pairs are always left for it. The one ahead stays unless the 95 %
/// interval of the log-ratio, from model and pairs together, excludes 0 and the gain exceeds 1 %. The same problem and
/// the same evaluations give the same result. Never exceeds the runs; of seconds a run that has begun is finished, and
/// the seeds are always measured. Throws Error{failure} where every candidate measured has failed, Error{usage} without
/// candidates or budget.
Found search(const Problem& problem, Objective& objective);

}  // namespace assay::tune

namespace assay {

template <>
struct EnumNames<tune::Why> {
  static constexpr std::array<const char*, 4> names{"seed", "grid", "improvement", "race"};
};

}  // namespace assay
