#pragma once

#include <string>

#include "assay/load/queries/queries.hpp"
#include "assay/load/rate_search.hpp"

namespace assay::load {

/// The key that a point has besides its own where its rate was looked for: a FoundRate.
constexpr const char* kFoundKey = "found";

/// How much a search for the highest rate of a server in process may take.
struct SearchEffort {
  double pace_per_second = 1;  ///< samples a second of full steps, by the warm-up: no rate above it is tried
  double seconds = 0;          ///< of one try, at that pace
  std::int64_t most = 0;       ///< queries of one try
};

/// The highest rate within the limit, and the queries of one more run at that rate; at the lowest that was tried where
/// none keeps the limit.
struct FoundQueries {
  FoundRate found;
  Arrivals arrivals;
  Sent sent;
};

/// Queries of a try near the edge: what the effort allows, not fewer than the limit's quantile needs and not more than
/// leave 50 beyond it.
std::int64_t queries_of_try(const TailLimit& limit, const SearchEffort& effort);

/// Serves queries at one rate after the other. Precondition: seeks_rate(scenario).
FoundQueries seek_rate(const Scenario& scenario, std::int64_t batch, const SearchEffort& effort, std::int64_t seed,
                       StepServer& server);

/// The rate that a search gives its scenario; null where no rate keeps the limit.
std::optional<double> rate_within(const FoundRate& found);

/// One line for a person: the rate, its interval, and why where there is none.
std::string search_line(const Scenario& scenario, const FoundRate& found);

}  // namespace assay::load
