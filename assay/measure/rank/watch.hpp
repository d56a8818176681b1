#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "assay/measure/rank/gang.hpp"
#include "assay/measure/rank/host_energy.hpp"
#include "assay/measure/rank/session.hpp"
#include "assay/measure/rank/sync.hpp"

namespace assay::measure {

/// What a process of a run stands in.
struct RankContext {
  const std::filesystem::path& directory;  ///< of the run
  Sync& sync;                              ///< with the other processes on this host
  const volatile std::sig_atomic_t& stop;  ///< becomes non-zero when the caller is told to end
  StartSession start_session = start_worker;
};

/// Looks, while a worker works, for reasons to end it. Each is thrown as WorkerFailure.
class WorkerWatch {
 public:
  /// `number` is this process in its run. All outlive this.
  WorkerWatch(const RankContext& surroundings, std::int64_t number, std::int64_t memory_limit_bytes,
              const std::optional<HostEnergy>& energy)
      : around_(surroundings), number_(number), memory_limit_(memory_limit_bytes), energy_(energy) {}

  /// Is somebody telling us to stop?
  void check_stop() const;
  /// That, and are the others there, and is the worker growing too large? `gang`: null where there is one rank alone.
  void look(pid_t worker, Gang* gang);

 private:
  void check_others(pid_t worker, Gang* gang);
  void check_stopped(pid_t worker);
  void check_directory() const;
  void check_memory(pid_t worker, bool whole_tree) const;

  const RankContext& around_;
  const std::int64_t number_;
  const std::int64_t memory_limit_;
  const std::optional<HostEnergy>& energy_;
  std::int64_t next_tree_check_ns_ = 0;
  std::int64_t stopped_since_ns_ = 0;
};

}  // namespace assay::measure
