#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/platform/machine/findings/finding.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/platform/machine/readable.hpp"
#include "assay/platform/machine/state.hpp"
#include "assay/platform/machine/watch.hpp"

namespace assay::platform {

/// A worker that is installed.
struct WorkerAtHand {
  std::string name;
  std::string release;
};

/// Everything that findings are made of. Null: cannot be read.
struct Situation {
  Identity identity;
  About about;
  MachineState state;
  Watch watch;
  std::int64_t cores_shared = 0;  ///< cores allowed that have another thread which is not
  std::optional<std::int64_t> memory_limit_bytes;
  std::string store_folder;
  std::optional<std::int64_t> disk_free_bytes;  ///< where a store would be
  std::vector<std::string> missing_allocators;
  std::optional<bool> host_lock_held;
  std::vector<WorkerAtHand> workers;
  std::vector<std::string> workers_to_install;  ///< shipped, but without their environment
  std::vector<std::string> worker_problems;
};

/// What the situation means for measurements, the worst first. A pure function.
std::vector<Finding> examine(const Situation& situation);

/// What `assay doctor --json` prints.
struct Examination {
  std::int64_t doctor_version = 1;
  std::string platform;  ///< 128 bits of SHA-256 over the canonical JSON (RFC 8785) of identity, nulls left out
  Identity identity;
  About about;
  MachineState state;
  std::vector<WorkerAtHand> workers;
  std::vector<Counter> counters;
  std::vector<Finding> findings;
};

/// What `assay doctor --findings --json` prints.
struct FindingReference {
  std::int64_t findings_version = 1;
  std::vector<FindingText> findings;
  std::vector<CounterText> counters;
};

/// All that can be found on any machine, and what its counters say of a run.
FindingReference finding_reference();

template <typename V>
void describe(V& v, FindingReference& r) {
  required(v, "findings_version", r.findings_version);
  required(v, "findings", r.findings);
  required(v, "counters", r.counters);
}

template <typename V>
void describe(V& v, WorkerAtHand& w) {
  required(v, "name", w.name);
  required(v, "release", w.release);
}

template <typename V>
void describe(V& v, Examination& e) {
  required(v, "doctor_version", e.doctor_version);
  required(v, "platform", e.platform);
  required(v, "identity", e.identity);
  required(v, "about", e.about);
  required(v, "state", e.state);
  required(v, "workers", e.workers);
  required(v, "counters", e.counters);
  required(v, "findings", e.findings);
}

}  // namespace assay::platform
