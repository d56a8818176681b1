#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/core/workloads/scenario.hpp"
#include "assay/load/queries/query_search.hpp"
#include "assay/measure/order.hpp"
#include "assay/measure/rank/host_energy.hpp"
#include "assay/measure/rank/session.hpp"
#include "assay/platform/counters.hpp"
#include "assay/platform/probe.hpp"

namespace assay::measure {

/// Steps that are counted and not timed have no end of their own.
constexpr double kForever = 1e6;

/// What one `measure` is asked for.
struct Amount {
  double seconds;
  std::int64_t max_samples;
};

/// Something a worker tells besides the times of its steps: `layers` or `phases`.
struct Detail {
  std::string name;
  Amount amount;
};

/// Asks a prepared worker for steps, slice by slice, and keeps in a rank's result what it says and what the machine did
/// meanwhile. Who decides how many steps it takes and when is the caller.
class Steps {
 public:
  /// All outlive this. `energy` may be null at first; what it is in `begin` counts.
  Steps(const Measure& measure, const Part& part, Session& session, std::optional<HostEnergy>& energy,
        RankResult& result);

  /// From here on, what happens on these CPUs is a disturbance.
  void begin(const std::vector<std::int64_t>& cpus);
  /// Runs the speed probe for the next slice where the last one is a while ago.
  void probe();
  /// One `measure`, with the speed probe before it where it is due; seconds of steps it took.
  double take_slice(std::int64_t turn, const Amount& amount, bool warmup);
  /// Queries of a scenario in place of slices, after at least one of the warm-up; their latencies are the samples.
  /// `attend` is called while nothing is asked of the worker.
  void take_queries(std::int64_t turn, const Scenario& scenario, const std::function<void()>& attend);
  /// An epoch of a workload that learns as a slice, and after it the score of the held-out samples, which nothing is
  /// timed of.
  void take_epoch(std::int64_t turn, const Learning& learning, Learned& learned);
  /// After the last slice.
  void finish();

  /// Whether it still gets faster and may go on warming up.
  bool needs_more_warmup() const;
  double last_slice_seconds() const;
  /// Of the samples after the warm-up; while there are none, of its last slice.
  std::int64_t median_so_far() const;
  /// How many steps of the last slice's pace fit; at least one, and one before anything is known.
  std::int64_t fitting(double seconds, std::int64_t most) const;

  /// What is to be asked for after the steps, in this order.
  std::vector<Detail> details() const;
  void take_detail(const std::string& name, const Amount& amount);
  /// Whether the worker has ended because it could not tell phases that nobody had asked for.
  bool refused_phases() const { return refused_phases_; }

 private:
  double patience(const Amount& amount) const;
  Measured measure(const std::string& detail, const Amount& amount);
  platform::Counters read_counters() const;
  void take_phases(const Amount& amount);
  /// At the scenario's rate, or at the highest that keeps its limit.
  load::FoundQueries serve(const Scenario& scenario, load::StepServer& server);

  const Measure& measure_;
  const Part& part_;
  Session& session_;
  std::optional<HostEnergy>& energy_;
  RankResult& result_;
  platform::SpeedProbe probe_;
  std::int64_t probed_ns_;
  std::optional<std::int64_t> probed_;  ///< for the next slice
  std::vector<std::int64_t> cpus_;
  platform::Counters before_;
  bool refused_phases_ = false;
  bool in_virtual_time_ = false;  ///< the worker's stamps are not of this host's clock
};

}  // namespace assay::measure
