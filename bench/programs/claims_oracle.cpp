#include "bench/programs/claims_oracle.hpp"

#include <algorithm>
#include <cmath>

namespace assay::bench {
namespace {

std::int64_t milliseconds(double seconds) {
  return std::llround(seconds * 1000);
}

}  // namespace

void Oracle::violated(std::int64_t& count, const std::string& what) {
  ++count;
  notes_.push_back(what);
}

void Oracle::failed(const std::string& what) {
  violated(violations_.errors, "failed: " + what);
}

void Oracle::planned(const std::vector<StoredRow>& runs) {
  for (const auto& row : runs) {
    if (world_.runs.count(row.run) != 0) continue;
    Run run;
    run.id = ++given_;
    run.trial = row.trial;
    run.index = row.index;
    world_.runs[row.run] = run;
  }
}

void Oracle::dropped() {
  world_.runs.clear();
  world_.stored.clear();
}

constexpr std::int64_t kClocksDiffer = 60'000;  // milliseconds that a server allows for, as functions.sql has it

void Oracle::leases_end(const Clock& clock) {
  for (auto& [key, run] : world_.runs) {
    if (!run.leased) continue;
    if (!lasting_ && run.boot != clock.boot) {
      run.boot = clock.boot;
      run.end_ms = clock.now_ms + run.length_ms;
    }
    // A server whose clock went back sees a lease that was given later than now: it begins again, at its full length.
    if (lasting_ && run.end_ms - run.length_ms > clock.now_ms + kClocksDiffer)
      run.end_ms = clock.now_ms + run.length_ms;
    const bool up = !lasting_ || clock.up_ms + run.length_ms <= clock.now_ms;
    if (up && run.end_ms <= clock.now_ms) run.leased = false;
  }
}

void Oracle::leased(const store::Lease& lease, const store::LeaseRequest& request, const Clock& clock,
                    const std::set<std::int64_t>& dead) {
  auto& claimed = claims_[lease.claim];
  for (const auto& taken : lease.runs) {
    const auto found = world_.runs.find(taken.run);
    if (found == world_.runs.end()) return violated(violations_.wrong, "leased: a run that was never planned");
    auto& run = found->second;
    if (run.done || run.trial != taken.trial_id || run.index != taken.index || run.attempt != taken.attempt) {
      violated(violations_.wrong, fmt::format("leased: run {} is done, or another than planned", taken.run));
    }
    if (run.leased && dead.count(run.pid) == 0) {
      violated(violations_.early, fmt::format("leased: run {} is still held by another", taken.run));
    }
    run.claim = lease.claim;
    run.leased = true;
    run.pid = request.owner.pid;
    run.length_ms = milliseconds(request.seconds);
    run.end_ms = clock.now_ms + run.length_ms;
    run.boot = clock.boot;
    claimed.runs.push_back(run);
  }
}

bool Oracle::holds(const store::Lease& lease) const {
  const auto& claimed = claims_.at(lease.claim);
  for (std::size_t i = 0; i < lease.runs.size(); ++i) {
    const auto found = world_.runs.find(lease.runs[i].run);
    if (found == world_.runs.end()) return false;
    const auto& run = found->second;
    if (run.id != claimed.runs[i].id || run.claim != lease.claim || run.done) return false;
  }
  return true;
}

void Oracle::renewed(const store::Lease& lease, double seconds, store::Renewal answer, const Clock& clock) {
  const bool held = holds(lease);
  if (held != (answer == store::Renewal::held)) {
    auto& count = held ? violations_.lost : violations_.early;
    violated(count, fmt::format("renew: run {} is {}held", lease.runs[0].run, held ? "" : "not "));
  }
  if (!held) return;
  for (const auto& one : lease.runs) {
    auto& run = world_.runs.at(one.run);
    run.leased = true;
    run.length_ms = milliseconds(seconds);
    run.end_ms = clock.now_ms + run.length_ms;
    run.boot = clock.boot;
  }
}

void Oracle::released(const store::Lease& lease) {
  if (!holds(lease)) return;
  for (const auto& one : lease.runs) {
    auto& run = world_.runs.at(one.run);
    run.leased = false;
    run.claim.clear();
  }
}

void Oracle::finished(const store::Lease& lease, const std::vector<store::Finished>& results) {
  auto& claimed = claims_.at(lease.claim);
  claimed.values.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto value = results[i].record.duration_ns;
    claimed.values.push_back(value);
    measured_[value] = {lease.claim, i};
  }
}

void Oracle::completed(const store::Lease& lease, const std::vector<store::Finished>& results,
                       store::Completion answer) {
  claims_.at(lease.claim).answered = true;
  const bool held = holds(lease);
  if (answer == store::Completion::accepted && !held) {
    return violated(violations_.wrong, fmt::format("complete: run {} is not held, and taken", lease.runs[0].run));
  }
  const bool known = world_.receipts.count(lease.claim) != 0;
  if ((answer != store::Completion::accepted && held) || (answer == store::Completion::repeated && !known)) {
    return violated(violations_.lost, fmt::format("complete: run {} is held, and not taken", lease.runs[0].run));
  }
  if (!held) return;
  const bool again = std::any_of(results.begin(), results.end(), [](const auto& one) { return one.again; });
  for (std::size_t i = 0; i < lease.runs.size(); ++i) {
    auto& run = world_.runs.at(lease.runs[i].run);
    run.claim.clear();
    run.leased = false;
    run.done = !again;
    run.attempt += again ? 1 : 0;
    world_.stored[results[i].record.duration_ns] = lease.runs[i].run;
  }
  world_.receipts.insert(lease.claim);
}

/// Whether a record is of the run that it is stored for.
void Oracle::judge_record(const StoredRow& row) {
  const auto where = fmt::format("record {} of run {}", row.value, row.run);
  const auto run = world_.runs.find(row.run);
  const auto measured = measured_.find(row.value);
  if (run == world_.runs.end() || measured == measured_.end()) {
    return violated(violations_.wrong, where + ": nobody measured that for this run");
  }
  const auto& [claim, position] = measured->second;
  const auto& claimed = claims_.at(claim).runs.at(position);
  const bool same = claimed.id == run->second.id && claimed.trial == row.trial && claimed.index == row.index &&
                    claimed.attempt == row.attempt;
  if (!same) violated(violations_.wrong, where + ": measured for another run");
  if (row.samples != std::vector<std::int64_t>{row.value, row.value + 1}) {
    violated(violations_.wrong, where + ": its samples are not its own");
  }
}

void Oracle::judge(const std::vector<StoredRow>& records, const std::set<std::string>& waiting) {
  std::set<std::int64_t> values;
  std::set<std::int64_t> counted;
  for (const auto& row : records) {
    judge_record(row);
    if (!values.insert(row.value).second) violated(violations_.twice, fmt::format("value {} twice", row.value));
    if (row.counted && !counted.insert(row.run).second) {
      violated(violations_.twice, fmt::format("run {} has two counted records", row.run));
    }
  }
  for (const auto& [value, run] : world_.stored) {
    if (values.count(value) == 0) violated(violations_.lost, fmt::format("value {} of run {} is gone", value, run));
  }
  for (const auto& [claim, claimed] : claims_) {
    if (claimed.values.empty() || claimed.answered || waiting.count(claim) != 0) continue;
    violated(violations_.lost, fmt::format("value {} was finished and is nowhere", claimed.values[0]));
  }
}

}  // namespace assay::bench
