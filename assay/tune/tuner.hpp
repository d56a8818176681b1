#pragma once

#include <string>
#include <vector>

#include "assay/tune/guides.hpp"
#include "assay/tune/measured.hpp"
#include "assay/tune/results.hpp"
#include "assay/tune/space.hpp"

namespace assay::tune {

/// A baseline as one of the candidates.
struct Rival {
  Baseline baseline;
  std::size_t candidate = 0;
};

/// What a tuning is going to look at, before anything is measured.
struct Candidates {
  std::vector<Trial> trials;       ///< the space, then what guides add to it
  std::vector<Rival> rivals;       ///< every baseline; the first is framework-default
  std::vector<std::size_t> seeds;  ///< distinct: rivals, then the paper's rule shared out among instances
};

/// The space with every guide in it. `base` is what a guide's settings are put into.
Candidates candidates_of(const Space& space, const Trial& base, const plan::WorkerInfo& worker,
                         const GuideInput& situation, GoalMetric metric);

struct TuneOptions {
  Budget budget;
  std::int64_t pairs = 6;  ///< lock-step pairs of the best with each baseline, afterwards
  bool split = true;       ///< the gain over framework-default by kinds of settings, which takes more of them
};

struct Answer {
  Trial best;
  Results results;
};

/// The place of the gain that says that a baseline is faster than what the search chose: proved by its interval, and by
/// more than 1 %. Of several the fastest; null where there is none.
std::optional<std::size_t> faster_baseline(const std::vector<Gain>& gains);

/// Searches, then measures the winner again against every baseline and on the way from framework-default to it. A
/// baseline that turns out faster is the answer: a search among noisy runs may have been lucky.
Answer tune(const Candidates& candidates, const Resources& resources, const TuneOptions& options,
            MeasuredObjective& objective);

/// The steps from one trial to another, one kind of settings at a time; the last one is `to`.
struct FactorStep {
  std::string name;
  std::string settings;
  Trial trial;
};
std::vector<FactorStep> steps_between(const Trial& from, const Trial& to, const Resources& resources);

}  // namespace assay::tune
