#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/report/document.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

/// An agent and the run that it is at.
struct AtWork {
  std::string host;
  std::int64_t pid = 0;
  std::string trial;  ///< id
  std::string title;
  std::int64_t index = 0;
  std::int64_t attempt = 0;
  double lease_seconds = 0;  ///< until its lease ends, on the store's clock; below 0: it ran out
};

/// Runs that failed in the same way.
struct FailedRuns {
  std::string outcome;
  std::string message;
  std::int64_t runs = 0;
};

/// Agents that a scheduler was asked to start.
struct Submission {
  std::string id;  ///< our own; the jobs' name is assay-ID
  std::int64_t agents = 0;
  std::int64_t nodes = 1;  ///< of each
  std::string submitted_utc;
  std::string logs;  ///< folder with what the agents say
  // What the scheduler says of them now; null where it cannot be asked.
  std::optional<std::int64_t> pending;  ///< jobs that wait; null where Slurm cannot be asked
  std::optional<std::int64_t> running;
  std::optional<std::string> why_pending;  ///< in Slurm's words
};

/// Where a campaign stands now, and who is at it.
struct Fleet {
  std::string campaign;  ///< id
  std::string name;
  std::int64_t runs = 0;
  std::int64_t ready = 0;  ///< that no agent has taken
  std::int64_t done = 0;   ///< failed ones included
  std::int64_t failed = 0;
  std::int64_t set_aside = 0;           ///< records of earlier attempts
  std::vector<AtWork> at_work;          ///< by host and process
  std::vector<FailedRuns> failures;     ///< the most frequent first
  std::vector<Submission> submissions;  ///< oldest first
  /// By the median duration of its runs and the agents at work; null where either is missing.
  std::optional<double> seconds_left;
};

template <typename V>
void describe(V& v, AtWork& a) {
  required(v, "host", a.host);
  required(v, "pid", a.pid);
  required(v, "trial", a.trial);
  required(v, "title", a.title);
  required(v, "index", a.index);
  required(v, "attempt", a.attempt);
  required(v, "lease_seconds", a.lease_seconds);
}

template <typename V>
void describe(V& v, FailedRuns& f) {
  required(v, "outcome", f.outcome);
  required(v, "message", f.message);
  required(v, "runs", f.runs);
}

template <typename V>
void describe(V& v, Submission& s) {
  required(v, "id", s.id);
  required(v, "agents", s.agents);
  required(v, "nodes", s.nodes);
  required(v, "submitted_utc", s.submitted_utc);
  required(v, "logs", s.logs);
  v("pending", s.pending);
  v("running", s.running);
  v("why_pending", s.why_pending);
}

template <typename V>
void describe(V& v, Fleet& f) {
  required(v, "campaign", f.campaign);
  required(v, "name", f.name);
  required(v, "runs", f.runs);
  required(v, "ready", f.ready);
  required(v, "done", f.done);
  required(v, "failed", f.failed);
  required(v, "set_aside", f.set_aside);
  required(v, "at_work", f.at_work);
  required(v, "failures", f.failures);
  required(v, "submissions", f.submissions);
  v("seconds_left", f.seconds_left);
}

/// From what a store holds of one campaign. The time that is left is the median duration of its runs, for those that
/// are not done, shared by the agents that are at work.
Fleet fleet_of(const store::CampaignRow& campaign, const std::vector<store::HeldRun>& held,
               const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& rows);

Document fleet_document(const Fleet& fleet);

}  // namespace assay::report
