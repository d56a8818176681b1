#pragma once

#include <limits>
#include <vector>

#include "assay/measure/agent/execution.hpp"
#include "assay/measure/rank/sync.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/process/spawn.hpp"

namespace assay::measure {

enum class RanksEnd { finished, stopped, lost };

/// Waits for the assay-ranks of one lease, renewing the lease meanwhile.
class Ranks {
 public:
  struct Of {
    const RunDirectory& directory;
    const Order& order;
    const store::Lease& lease;
    const ExecutionContext& context;
    store::RunQueue& store;
    const Sync& sync;
  };

  Ranks(std::vector<process::Spawned> ranks, const Of& of);

  /// The errno with which the disk kept a rank from leaving its result; 0 where none did.
  int disk_error() const { return disk_error_; }

  /// Returns when all have ended, or are not worth waiting for any more; what is left is for process::end_tree().
  RanksEnd wait(int stop_fd);

 private:
  std::int64_t now_ns() const { return of_.context.waiting.now_ns(); }
  std::size_t alive() const;
  bool poll_once(int stop_fd);
  RanksEnd stop(RanksEnd why);
  bool renew();
  std::int64_t next_renewal() const;
  void take_exit_code(int code);
  void look_for_results();
  void tell_observer();

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::vector<process::Spawned> ranks_;
  const Of of_;
  std::int64_t deadline_ns_ = 0;
  std::int64_t renew_at_ns_ = 0;
  std::int64_t look_at_ns_ = kNever;
  std::int64_t tell_at_ns_ = kNever;
  std::int64_t launch_by_ns_ = kNever;  ///< while rank 0 is not known to be there
  std::vector<bool> seen_;              ///< whose result is there
  int disk_error_ = 0;
};

}  // namespace assay::measure
