#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::measure {

/// How the processes of a run of several ranks find each other.
struct Meeting {
  std::string token;                     ///< a secret of this run, so that nobody else joins
  bool one_host = true;                  ///< they meet on the loopback device
  std::optional<std::string> interface;  ///< network device to meet on; null: the first that is up
};

template <typename V>
void describe(V& v, Meeting& m) {
  required(v, "token", m.token);
  v("one_host", m.one_host);
  v("interface", m.interface);
}

/// Where rank 0 leaves its address, in the run directory.
constexpr const char* kMeetingFile = "gang.json";

/// What all ranks do next, as rank 0 decides.
struct Turn {
  std::string detail;        ///< step, phases or layers; empty: nothing more
  std::int64_t samples = 0;  ///< exactly as many steps
  bool warmup = false;
};

/// The assay-ranks of one run, joined by TCP in a star around rank 0: they agree on what is measured, see within
/// seconds when one is gone, stopped or cut off, and end together. Nothing of a worker's own traffic passes here.
class Gang {
 public:
  /// Called now and then while waiting; may throw to stop.
  using Tick = std::function<void()>;

  /// Rank 0 leaves its address in `directory`, which all ranks must see.
  Gang(const Meeting& meeting, std::filesystem::path directory, std::int64_t rank, std::int64_t ranks);
  ~Gang();
  Gang(const Gang&) = delete;
  Gang& operator=(const Gang&) = delete;

  /// Waits for all; "address:port" of each rank's worker. The ports are free, and not of the range that the kernel
  /// takes for others. Throws WorkerFailure where the ranks do not find each other in time.
  std::vector<std::string> meet(double limit_seconds, const Tick& tick);

  /// Returns when all ranks have called it.
  void barrier(const Tick& tick);

  /// Rank 0 tells the others what to do.
  void lead(const Turn& turn);
  /// The others wait for it.
  Turn follow(const Tick& tick);

  /// Sends a sign of life and looks for those of the others. Throws WorkerFailure: timed_out where one was silent for
  /// too long, interrupted where one has ended or failed.
  void attend();

  /// Tells the others that this one failed, so that they end, too.
  void fail(const std::string& message) noexcept;

  /// This one has all it wants: what happens to the others is no failure any more.
  void leave() noexcept;

 private:
  class Wire;
  struct Member;

  Member& member(std::int64_t rank);
  void wait(const Tick& tick, const std::function<bool()>& done);
  void take(Member& from, const json& message);
  void tell_all(const json& message);
  void join(const Tick& tick, std::int64_t deadline_ns);
  void gather(const Tick& tick, std::int64_t deadline_ns);

  const Meeting meeting_;
  const std::filesystem::path directory_;
  const std::int64_t rank_;
  const std::int64_t ranks_;
  const std::string address_;
  const std::int64_t port_;
  std::vector<std::unique_ptr<Member>> members_;  ///< rank 0: all others; another: rank 0
  std::vector<std::string> peers_;
  std::int64_t barriers_ = 0;  ///< passed so far
  std::int64_t arrived_ = 0;   ///< rank 0: others at the next barrier
  std::deque<Turn> turns_;     ///< told and not yet taken
  std::int64_t told_ns_ = 0;
  bool left_ = false;
};

/// IPv4 address of this host on `interface`, or on the first that is up and no loopback. Throws Error that lists what
/// there is.
std::string address_on(const std::optional<std::string>& interface);

}  // namespace assay::measure
