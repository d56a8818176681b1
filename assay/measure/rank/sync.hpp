#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace assay::measure {

/// What the processes of one lease on one host share: a small file of the run directory, mapped by every assay-rank and
/// by the agent. Waiting is by futex, so that whose turn it is passes on in microseconds.
class Sync {
 public:
  /// Maps `directory`/sync, making it where it is not there.
  explicit Sync(const std::filesystem::path& directory);
  ~Sync();
  Sync(const Sync&) = delete;
  Sync& operator=(const Sync&) = delete;

  /// Called now and then while waiting; may throw to stop.
  using Tick = std::function<void()>;

  /// Says that one process is prepared; returns when `count` are, at one deadline common to all.
  void start_together(std::int64_t count, const Tick& tick);

  /// Waits until it is turn `turn`; false where the group has been told to stop before.
  [[nodiscard]] bool wait_turn(std::int64_t turn, const Tick& tick);

  /// Turn after the last one of a group that was told to stop.
  std::int64_t stopped_at() const;
  /// Waits for a turn after the stop.
  void wait_last_turn(std::int64_t turn, const Tick& tick);

  /// One of `members` processes has done its part of `turn`. The last one runs `decide` (true: stop after this turn)
  /// and passes the turn on.
  void end_turn(std::int64_t turn, std::int64_t members, const std::function<bool()>& decide);

  /// What a step takes by the samples so far, for those who watch; null before there are any.
  void tell_median(std::int64_t ns);
  std::optional<std::int64_t> median_so_far() const;

  /// First process that failed: everybody else ends, too. Later calls change nothing.
  void abort(std::int64_t process);
  std::optional<std::int64_t> aborted_by() const;

 private:
  struct Words;
  Words* words_;
};

}  // namespace assay::measure
