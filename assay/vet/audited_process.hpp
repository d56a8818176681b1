#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "assay/measure/rank/session.hpp"
#include "assay/vet/audit_observation.hpp"
#include "assay/vet/tensor.hpp"

namespace assay::vet {

/// A worker that stands ready, with our clock and the kernel's count of CPU time around every command.
class AuditedProcess {
 public:
  /// Starts it and prepares a stack of `layers` linear layers on `batch` samples, with values drawn from `seed`.
  AuditedProcess(const AuditRequest& request, std::int64_t batch, std::int64_t layers, std::int64_t seed);
  ~AuditedProcess();
  AuditedProcess(const AuditedProcess&) = delete;
  AuditedProcess& operator=(const AuditedProcess&) = delete;

  SeenSteps measure(double seconds, std::int64_t max_samples);
  /// The same with the output of the last step, in output().
  SeenSteps measure_with_output(std::int64_t max_samples);
  /// The same, with all of the worker's processes stopped once for kPauseNs, after `after_ns`. The longest sample; null
  /// where it was over before.
  std::optional<std::int64_t> measure_with_pause(double seconds, std::int64_t after_ns);

  /// CPU time of an evaluate, whose output is in output().
  std::int64_t evaluate();

  /// CPU time used within kIdleNs from now on, in which nothing is asked.
  std::int64_t idle_cpu_ns();

  /// The file that was written last. Throws Error{bad_input} where there is none.
  Tensor output() const;

  void exit();

 private:
  struct Use {
    std::int64_t cpu_ns = 0;
    std::int64_t wait_ns = 0;
  };
  std::vector<pid_t> processes() const;
  Use use_of_tree() const;
  SeenSteps seen(double seconds, std::int64_t max_samples, const std::optional<std::string>& output);
  void tick();
  void forget_output() const;

  std::filesystem::path values_;
  std::filesystem::path output_;
  std::optional<std::int64_t> pause_at_ns_;
  std::optional<measure::WorkerSession> session_;
};

/// Layers of the whole network, and numbers that each takes and gives. Weights are 2 MiB in all; activations of one
/// layer fit a cache; with 1024 samples it is 1 GFLOP, about 20 ms on a core.
constexpr std::int64_t kLayers = 8;
constexpr std::int64_t kWidth = 256;

}  // namespace assay::vet
