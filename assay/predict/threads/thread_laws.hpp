#pragma once

#include <cstdint>
#include <optional>

#include "assay/core/text/json.hpp"

namespace assay::predict {

/// How the time of an operator falls with its threads: t1 (serial + (1 - serial) / threads) + fork_seconds, the last
/// where there are several (Amdahl's law and the cost of starting them).
struct OperatorLaw {
  double serial = 0;  ///< share of its time on one core that more threads do not shorten
  double fork_seconds = 0;

  /// On a number of threads that need not be whole: pools may share threads. Below 1 counts as 1.
  double seconds(double alone, double threads) const;
  /// Of CPUs, all threads together, without what they spin.
  double cpu_seconds(double alone, double threads) const;
};

template <typename V>
void describe(V& v, OperatorLaw& l) {
  required(v, "serial", l.serial);
  required(v, "fork_seconds", l.fork_seconds);
}

/// Whose the threads within operators are.
enum class ThreadSharing {
  own,     ///< each pool has intra_op threads: inter_op x intra_op in all
  shared,  ///< one pool of intra_op - 1 threads helps all that run at once: inter_op + intra_op - 1 in all
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::ThreadSharing> {
  static constexpr std::array<const char*, 2> names{"own", "shared"};
};

namespace assay::predict {

/// What the pools of a framework cost on a machine.
struct ThreadLaws {
  OperatorLaw heavy;            ///< convolutions and matrix products
  OperatorLaw light;            ///< all others: they mostly wait for memory
  double dispatch_seconds = 0;  ///< before every operator
  double handover_seconds = 0;  ///< besides, to hand it to one of several pools
  /// The framework never runs more operators at once, whatever inter_op says; null: as many as there are pools.
  std::optional<std::int64_t> most_at_once;
  ThreadSharing sharing = ThreadSharing::own;
  double thread_spin = 0;  ///< share of their idle time that threads within operators keep a CPU
  double pool_spin = 0;    ///< the same of a pool that has no operator
  /// Where threads want more cores than there are, an operator on several of them waits for the one that gets least: it
  /// takes this power of what it would take if all of them got even shares.
  double crowding = 1;
};

template <typename V>
void describe(V& v, ThreadLaws& l) {
  required(v, "heavy", l.heavy);
  required(v, "light", l.light);
  required(v, "dispatch_seconds", l.dispatch_seconds);
  required(v, "handover_seconds", l.handover_seconds);
  v("most_at_once", l.most_at_once);
  required(v, "sharing", l.sharing);
  required(v, "thread_spin", l.thread_spin);
  required(v, "pool_spin", l.pool_spin);
  required(v, "crowding", l.crowding);
}

/// Throws Error{usage} that names what is outside its range.
void check(const ThreadLaws& laws);

}  // namespace assay::predict
