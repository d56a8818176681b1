#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/vet/audit.hpp"

namespace assay::vet {

/// One `measure`, as the worker tells it and as it is seen from outside.
struct SeenSteps {
  std::vector<std::int64_t> samples_ns;  ///< by the worker's word
  std::int64_t wall_ns = 0;              ///< from the command to its answer, by our clock
  std::int64_t cpu_ns = 0;               ///< of the worker and what it started
  std::int64_t busy_ns = 0;              ///< the same and what its threads waited for a CPU
};

/// One step, one whose output is asked for, many steps, and some `evaluate`s, one right after the other:
/// so the speed of the machine is the same for all. Null where the worker cannot.
struct SeenTurn {
  SeenSteps one;
  std::optional<SeenSteps> one_with_output;
  SeenSteps many;
  std::optional<std::int64_t> evaluate_cpu_ns;  ///< of one, on average
};

/// A process that was given a network of some size.
struct SeenProcess {
  std::vector<SeenTurn> turns;
  std::optional<double> output_error;  ///< of the last timed step against evaluate; infinite where it has another shape
  std::vector<float> output;           ///< that evaluate wrote
  std::int64_t idle_cpu_ns = 0;        ///< used in the kIdleNs after `done`, while nothing was asked
  std::optional<std::int64_t> longest_ns;  ///< of samples during which it was stopped for kPauseNs; null: never was
};

/// A round: the same stack of layers whole, with a quarter of the samples, and with a quarter of the layers. Each has
/// weights and inputs of its own.
struct AuditRound {
  SeenProcess whole;
  SeenProcess fewer_samples;
  SeenProcess fewer_layers;
};

constexpr std::int64_t kPauseNs = 200'000'000;
constexpr std::int64_t kIdleNs = 150'000'000;
constexpr std::int64_t kGrowth = 4;  ///< the whole has as many times the samples, or layers

/// Gives a worker networks and looks at what it does with them.
class Observer {
 public:
  /// Starts the worker once, to see how fast it is and what it can.
  explicit Observer(const AuditRequest& request);

  /// A round in fresh processes. Throws measure::WorkerFailure, and Error where a file is not as it should be.
  AuditRound observe(std::int64_t seed) const;

 private:
  struct Size;
  SeenProcess observe_process(const Size& size, std::int64_t seed) const;

  const AuditRequest& request_;
  bool evaluates_ = true;
  std::int64_t batch_ = 0;   ///< of the whole
  double many_seconds_ = 0;  ///< of the whole: for some steps, however slow they are
};

}  // namespace assay::vet
