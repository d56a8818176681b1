#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/trial.hpp"
#include "assay/plan/campaign.hpp"
#include "assay/store/location.hpp"
#include "assay/store/records/digest.hpp"
#include "assay/store/records/skipped_rows.hpp"
#include "assay/store/records/verification.hpp"
#include "assay/store/run_queue.hpp"
#include "assay/store/store_info.hpp"

namespace assay::store {

/// What planning a campaign has done to a store.
struct Planned {
  std::string campaign;  ///< id
  std::int64_t round = 0;
  std::int64_t new_runs = 0;  ///< that this command has added
  std::int64_t runs = 0;      ///< in all
};

template <typename V>
void describe(V& v, Planned& p) {
  required(v, "campaign", p.campaign);
  required(v, "round", p.round);
  required(v, "new_runs", p.new_runs);
  required(v, "runs", p.runs);
}

/// A run that an agent is at.
struct HeldRun {
  std::string trial;  ///< id
  std::int64_t index = 0;
  std::int64_t attempt = 0;
  std::string host;
  std::int64_t pid = 0;
  double lease_seconds = 0;  ///< until the lease ends, on the store's clock; below 0: it ran out
};

struct TrialRow {
  std::string id;
  Trial trial;
};

/// A record without its samples: what tables and comparisons read.
struct RunRow {
  std::string campaign;
  std::string trial;
  std::int64_t index = 0;
  std::int64_t attempt = 0;
  bool counted = true;
  OutcomeKind outcome = OutcomeKind::ok;
  std::string message;
  bool trusted = true;
  std::string platform;
  std::string started_utc;
  std::int64_t duration_ns = 0;
  Summary summary;
  std::optional<Pair> pair;
  Digest digest;
};

/// Chooses records; an empty field chooses all. Written as {.trial = "ab12"}.
struct Filter {
  std::string campaign{};  ///< id
  std::string trial{};     ///< id, or the first digits of one
  bool counted_only = true;
  std::string network{};  ///< by its name
};

/// What a role of a database server may do with a store. The owner, who made it, may do everything.
enum class Right {
  agent,   ///< takes runs and reports them; sees no other campaign than those it is allowed
  reader,  ///< reads everything, changes nothing
};

struct Artifact {
  std::string kind;         ///< model, prediction, calibration, tuning
  std::string inputs_hash;  ///< identity of what it was made from
  std::string created_utc;
  json content;
};

/// What was planned and measured, for those who read it. Rows that another program has spoiled are left out;
/// open_store() is told who hears of it.
class Archive {
 public:
  virtual ~Archive() = default;

  virtual std::optional<json> platform(const std::string& id) = 0;
  virtual std::vector<HeldRun> held(const std::string& campaign) = 0;  ///< by host and process
  virtual std::vector<TrialRow> trials(const Filter& filter) = 0;      ///< in the order planned
  virtual std::vector<RunRow> runs(const Filter& filter) = 0;  ///< records, ordered by trial as planned, index, attempt
  /// Whole records with samples, in the order of runs(); memory stays that of one record. The visitor may use the
  /// store.
  virtual void records(const Filter& filter, const std::function<void(const Record&)>& visit) = 0;

  /// Keeps the newest artifact of each (kind, inputs_hash).
  virtual void put_artifact(const std::string& kind, const std::string& inputs_hash, const json& content) = 0;
  virtual std::vector<Artifact> artifacts(const std::string& kind) = 0;  ///< oldest first
  virtual void remove_artifact(const std::string& kind, const std::string& inputs_hash) = 0;
};

/// What the owner of a store does with it as a whole.
class Administration {
 public:
  virtual ~Administration() = default;

  /// Removes a campaign with its runs and records, and its trials that no other campaign has; in one transaction.
  /// Throws Error{usage} where there is none, or while agents hold runs of it.
  virtual void drop(const std::string& campaign) = 0;

  /// Gives a role of the server a right, in one campaign (id) or, where that is empty, in all that there are and will
  /// be. Throws Error{usage} where the store is a file, which has no roles, or the server has no such role.
  virtual void allow(const std::string& role, Right right, const std::string& campaign) = 0;
  /// Takes every right from a role.
  virtual void forbid(const std::string& role) = 0;

  /// Holds every record to its receipt, and the receipts of each writer to each other, at one moment. On a server the
  /// store's owner alone may.
  virtual Verification verify() = 0;

  /// What it holds; without the program's version and spools, of which a store knows nothing.
  virtual StoreInfo info() = 0;
};

/// Everything Assay knows. One writer's transaction is atomic and durable when a call returns.
/// Failures of the disk raise Error{no_space} or Error{not_durable}; nothing of the call has happened then, and the
/// store can be used again once the disk is well. A store that cannot be used now (its server does not answer, another
/// program keeps its file locked, its file was removed) raises Error{away}: whether the call has happened is not known
/// then; the next call tries again. A right that is missing raises Error{forbidden}. A store is used by one thread at a
/// time; each opens its own.
class Store : public RunQueue, public Archive, public Administration {
 public:
  /// Adds the runs that are missing for `campaign`, in one transaction; the same plan twice adds nothing.
  /// `again` starts the next round. Without it the newest round is extended or found finished. Rounds count from 0.
  virtual Planned plan(const plan::Campaign& campaign, bool again) = 0;
};

/// How a store is opened.
enum class Access {
  create,  ///< made where it is not there
  write,   ///< must be there
  read,    ///< must be there and is not changed
};

/// Opens a store by its location, see location.hpp. Throws Error{usage} where there is none to read, Error{failure}
/// where it is newer than this program or no store at all, Error{away} where its server does not answer.
/// `on_skipped` hears of rows that are left out because they cannot be read.
std::unique_ptr<Store> open_store(const std::string& location, Access access,
                                  const OnSkipped& on_skipped = skipped_to_stderr());

}  // namespace assay::store
