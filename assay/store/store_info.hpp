#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/core/text/json.hpp"

namespace assay::store {

/// Runs of a store by their state.
struct RunCounts {
  std::int64_t ready = 0;
  std::int64_t leased = 0;  ///< that an agent is at, or was
  std::int64_t done = 0;    ///< with a counted record, failed ones included
  std::int64_t failed = 0;  ///< of done: outcome other than ok
};

template <typename V>
void describe(V& v, RunCounts& c) {
  required(v, "ready", c.ready);
  required(v, "leased", c.leased);
  required(v, "done", c.done);
  required(v, "failed", c.failed);
}

/// Finished results on this host that no store has acknowledged.
struct SpoolInfo {
  std::string folder;
  std::int64_t waiting = 0;             ///< for this store
  std::int64_t waiting_for_others = 0;  ///< for stores that had this location before, or will have it again
};

template <typename V>
void describe(V& v, SpoolInfo& s) {
  required(v, "folder", s.folder);
  required(v, "waiting", s.waiting);
  required(v, "waiting_for_others", s.waiting_for_others);
}

/// What is at a location.
struct StoreInfo {
  std::string location;  ///< path or URL, without secrets
  std::string kind;      ///< sqlite, postgresql
  std::string uuid;      ///< names the store wherever it is moved to
  std::int64_t schema_version = 0;
  std::string program_version;  ///< of the program that looked
  std::int64_t size_bytes = 0;  ///< on the disk, with the log of a file
  std::int64_t campaigns = 0;
  std::int64_t trials = 0;
  RunCounts runs;
  std::int64_t records = 0;
  std::int64_t writers = 0;
  std::optional<std::string> first_utc;  ///< when the run of the first record that was stored began
  std::optional<std::string> last_utc;   ///< the same of the last
  std::optional<SpoolInfo> spool;        ///< of this user on this host; null where there cannot be one
};

template <typename V>
void describe(V& v, StoreInfo& i) {
  required(v, "location", i.location);
  required(v, "kind", i.kind);
  required(v, "uuid", i.uuid);
  required(v, "schema_version", i.schema_version);
  required(v, "program_version", i.program_version);
  required(v, "size_bytes", i.size_bytes);
  required(v, "campaigns", i.campaigns);
  required(v, "trials", i.trials);
  required(v, "runs", i.runs);
  required(v, "records", i.records);
  required(v, "writers", i.writers);
  v("first_utc", i.first_utc);
  v("last_utc", i.last_utc);
  v("spool", i.spool);
}

}  // namespace assay::store
