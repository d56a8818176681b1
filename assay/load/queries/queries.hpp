#pragma once

#include "assay/core/workloads/scenario.hpp"
#include "assay/load/queries/point.hpp"
#include "assay/load/queries/schedule.hpp"
#include "assay/load/sent.hpp"

namespace assay::load {

/// What carries steps out, one at a time: a worker, or virtual time. Times are nanoseconds since the run began.
class StepServer {
 public:
  struct Step {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  virtual ~StepServer() = default;
  virtual std::int64_t now_ns() = 0;
  /// Returns at this time or later.
  virtual void wait_until(std::int64_t ns) = 0;
  /// One step, of a full batch.
  virtual Step step() = 0;
};

/// How many queries a run has.
struct QueryCount {
  double seconds = 0;            ///< of the schedule, or until which one query follows the other
  std::int64_t most = 0;         ///< queries
  std::int64_t all_at_once = 0;  ///< queries of the scenario offline
};

/// Of what the queries of a scenario are drawn. One query after the other is a closed loop with one client; all at once
/// is one burst.
Arrivals arrivals_of(const Scenario& scenario, const QueryCount& count, std::int64_t seed);

/// Serves the queries of a scenario: they wait in one queue, in order; as soon as the worker is free, a step takes as
/// many as fit a batch, which is in samples. Where the scenario has a wait, a step that would not be full begins when
/// its oldest query has waited that long since it was due. A query that is due while a step is under way is in the
/// queue from then on, whenever this process looks.
Sent serve_queries(const Scenario& scenario, std::int64_t batch, const Arrivals& arrivals, StepServer& server);

/// The quantile that a scenario is judged by: that of its limit, or MLPerf's, which is p90 of single-stream, p99 of
/// multi-stream and of server; null for offline, which has a throughput.
std::optional<double> judged_quantile(const Scenario& scenario);

/// The limit of a scenario, as runs are judged by it; empty where it has none.
std::vector<Limit> limits_of(const Scenario& scenario);

/// What a scenario gave. Where one query follows the other the quantile by which it is judged has its early-stopping
/// bound.
LoadPoint summarise_queries(const Scenario& scenario, const Arrivals& arrivals, const Sent& sent);

/// One line for a person: the figure that MLPerf has for this scenario, whether its limit is kept, and what it lacks.
std::string verdict_line(const Scenario& scenario, const LoadPoint& point);

}  // namespace assay::load
