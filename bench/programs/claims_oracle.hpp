#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assay/store/run_queue.hpp"

// What must be true of the runs of one campaign, known from the calls alone and not from the store.

namespace assay::bench {

/// The clock that leases follow, and how long its keeper is up.
struct Clock {
  std::int64_t now_ms = 1'000'000;
  std::int64_t up_ms = 0;       ///< when the server was started
  std::string boot = "boot-0";  ///< of the kernel whose clock it is
};

/// A run as it was planned once. Another one may have its key later, or its place in the plan.
struct Run {
  std::int64_t id = 0;  ///< given to no other run, whatever is dropped or restored
  std::string trial;
  std::int64_t index = 0;
  std::int64_t attempt = 0;
  std::string claim;  ///< of the last lease, until a result is stored or the run is given back
  bool leased = false;
  bool done = false;
  std::int64_t pid = 0;  ///< of the last owner
  std::int64_t length_ms = 0;
  std::int64_t end_ms = 0;
  std::string boot;
};

/// A record, or a run that has none yet, as it is read from the store's tables.
struct StoredRow {
  std::int64_t run = 0;
  std::string trial;
  std::int64_t index = 0;
  std::int64_t attempt = 0;
  bool counted = false;
  std::int64_t value = 0;  ///< duration_ns
  std::vector<std::int64_t> samples;
};

struct Violations {
  std::int64_t wrong = 0;   ///< stored for a run that it was not measured for, or changed
  std::int64_t lost = 0;    ///< finished, and neither stored, nor proved stale, nor in a spool
  std::int64_t twice = 0;   ///< counted more than once
  std::int64_t early = 0;   ///< given away while its lease had not ended
  std::int64_t errors = 0;  ///< calls that failed without a fault
  std::int64_t total() const { return wrong + lost + twice + early + errors; }
};

/// Everything that a restored copy of the store takes back.
struct World {
  std::map<std::int64_t, Run> runs;             ///< by key
  std::map<std::int64_t, std::int64_t> stored;  ///< value -> key of its run
  std::set<std::string> receipts;               ///< claims whose result was taken
};

class Oracle {
 public:
  /// `lasting`: a lease does not end until the server is up for its length; else one of another boot is given its full
  /// length on the clock of this one.
  explicit Oracle(bool lasting) : lasting_(lasting) {}

  void planned(const std::vector<StoredRow>& runs);
  void dropped();
  World world() const { return world_; }
  void restored(World world) { world_ = std::move(world); }

  /// Before a call that takes a run: leases end.
  void leases_end(const Clock& clock);
  void leased(const store::Lease& lease, const store::LeaseRequest& request, const Clock& clock,
              const std::set<std::int64_t>& dead);
  void renewed(const store::Lease& lease, double seconds, store::Renewal answer, const Clock& clock);
  void released(const store::Lease& lease);
  void finished(const store::Lease& lease, const std::vector<store::Finished>& results);
  void completed(const store::Lease& lease, const std::vector<store::Finished>& results, store::Completion answer);
  void failed(const std::string& what);

  /// At the end: what the store holds, and the claims that wait in spools.
  void judge(const std::vector<StoredRow>& records, const std::set<std::string>& waiting);

  const Violations& violations() const { return violations_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// What a lease was for.
  struct Claimed {
    std::vector<Run> runs;
    std::vector<std::int64_t> values;
    bool answered = false;
  };

  bool holds(const store::Lease& lease) const;
  void judge_record(const StoredRow& row);
  void violated(std::int64_t& count, const std::string& what);

  bool lasting_;
  std::int64_t given_ = 0;
  World world_;
  std::map<std::string, Claimed> claims_;
  std::map<std::int64_t, std::pair<std::string, std::size_t>> measured_;  ///< value -> claim and position in it
  Violations violations_;
  std::vector<std::string> notes_;
};

}  // namespace assay::bench
