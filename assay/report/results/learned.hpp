#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/report/results/detail.hpp"
#include "assay/stats/interval.hpp"

namespace assay::report {

/// What the runs of a trial that learns say together. A run that has not reached the accuracy counts as one that takes
/// longer than any that has.
struct LearnedResult {
  std::int64_t runs = 0;
  std::int64_t reached = 0;
  std::optional<double> ns;  ///< median time to the accuracy; null where half of the runs or more have not reached it
  std::optional<stats::Interval>
      ns_interval;                ///< 95 %, over runs; null where they are too few, or one end is not known
  std::optional<double> epochs;   ///< median
  std::optional<double> samples;  ///< median
  double lowest_accuracy = 0;     ///< at the end of a run
};

/// Null where no run learnt.
std::optional<LearnedResult> learned_of(const Details& details);

/// For a person: how many runs reached the accuracy, and in what time.
std::string learned_line(const LearnedResult& learned);

}  // namespace assay::report
