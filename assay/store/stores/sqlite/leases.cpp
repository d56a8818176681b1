#include <algorithm>
#include <cmath>

#include "assay/store/records/receipt.hpp"
#include "assay/store/records/rows.hpp"
#include "assay/store/stores/sqlite/record_table.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

// The life of a run: ready -> leased -> done, or back to ready. A random claim names one lease of it. It ends with the
// next lease, with release() and with a completion. A lease that ran out keeps its claim until somebody takes the run,
// so that a late result is neither lost nor counted twice.

namespace assay::store::sqlite {
namespace {

constexpr std::int64_t kDone = 2;

std::int64_t milliseconds(double seconds) {
  return std::llround(seconds * 1000);
}

/// Whether what an agent has is enough for a trial: ?2 and ?3 are JSON lists of workers and devices, ?4 is hosts.
constexpr const char* kMet =
    "(trial.worker || '==' || trial.release IN (SELECT value FROM json_each(?2)) "
    "AND trial.device IN (SELECT value FROM json_each(?3)) "
    "AND trial.ranks <= coalesce(json_extract(trial.json, '$.placement.ranks_per_node'), trial.ranks) * ?4)";

/// The first ready run whose needs are met; of a group, those of all.
std::string ready_met() {
  return fmt::format(
      "run.campaign = ?1 AND run.state = 0 AND {} AND NOT EXISTS (SELECT 1 FROM run AS partner JOIN trial ON trial.key "
      "= partner.trial WHERE partner.pair = run.pair AND NOT {}) ORDER BY run.idx, run.ord, run.key LIMIT 1",
      kMet, kMet);
}

constexpr const char* kReady = "run.campaign = ?1 AND run.state = 0 ORDER BY run.idx, run.ord, run.key LIMIT 1";

}  // namespace

SqliteStore::CampaignKey SqliteStore::find_campaign(const std::string& id) {
  Statement statement(database_, "SELECT key, seed, measure FROM campaign WHERE id = ?1", "looking for a campaign");
  if (!statement.bind(id).step()) {
    fail(ErrorKind::usage, "{}: there is no campaign {}. `assay show` lists those that are there.", database_.path(),
         shown(id));
  }
  return {statement.get<std::int64_t>(0), statement.get<std::int64_t>(1),
          from_json<Measure>(parse_column(statement.get<std::string>(2)), "measure")};
}

void SqliteStore::settle_clocks() {
  Statement(database_,
            "UPDATE run SET lease_clock = ?1, lease_end_ms = ?2 + lease_ms WHERE state = 1 AND lease_clock IS NOT ?1",
            "reading the clock of leases")
      .bind(clock_.boot_id, clock_.now_ms())
      .run();
}

std::optional<Lease> SqliteStore::lease(const LeaseRequest& request) {
  constexpr const char* kDoing = "taking a run";
  Transaction transaction(database_, kDoing);
  const auto campaign = find_campaign(request.campaign);
  free_leases(campaign.key, request);
  Lease lease{request.campaign, new_claim(), campaign.seed, campaign.measure, {}};
  if (!is_elsewhere(campaign.measure, request.offer)) lease.runs = next_ready(campaign.key, request.offer);
  Statement take(database_,
                 "UPDATE run SET state = 1, epoch = epoch + 1, claim = ?2, owner_host = ?3, owner_boot_id = ?4, "
                 "owner_pid = ?5, owner_start_ticks = ?6, owner_pid_namespace = ?7, lease_clock = ?8, lease_ms = ?9, "
                 "lease_end_ms = ?10 WHERE key = ?1",
                 kDoing);
  const auto& owner = request.owner;
  const auto length = milliseconds(request.seconds);
  const auto end = clock_.now_ms() + length;  // one for all of a group: they run out together
  for (auto& run : lease.runs) {
    take.bind(run.run, lease.claim, owner.host, owner.boot_id, owner.pid, owner.start_ticks, owner.pid_namespace,
              clock_.boot_id, length, end)
        .run();
    run.epoch += 1;
  }
  transaction.commit();
  if (lease.runs.empty()) return std::nullopt;
  return lease;
}

void SqliteStore::free_leases(std::int64_t campaign, const LeaseRequest& request) {
  constexpr const char* kDoing = "freeing leases";
  settle_clocks();
  Statement(database_, "UPDATE run SET state = 0 WHERE campaign = ?1 AND state = 1 AND lease_end_ms <= ?2", kDoing)
      .bind(campaign, clock_.now_ms())
      .run();
  if (!request.is_dead || request.owner.boot_id.empty()) return;

  // A process is looked up once, however many runs it holds, and only if it is one of this host.
  Statement owners(database_,
                   "SELECT DISTINCT owner_host, owner_boot_id, owner_pid, owner_start_ticks, "
                   "coalesce(owner_pid_namespace, '') FROM run "
                   "WHERE campaign = ?1 AND state = 1 AND owner_boot_id = ?2",
                   kDoing);
  owners.bind(campaign, request.owner.boot_id);
  std::vector<Owner> dead;
  while (owners.step()) {
    Owner owner{owners.get<std::string>(0), owners.get<std::string>(1), owners.get<std::int64_t>(2),
                owners.get<std::int64_t>(3), owners.get<std::string>(4)};
    if (request.is_dead(owner)) dead.push_back(std::move(owner));
  }
  if (dead.empty()) return;
  Statement free(database_,
                 "UPDATE run SET state = 0 WHERE campaign = ?1 AND state = 1 AND owner_boot_id = ?2 AND owner_pid = ?3 "
                 "AND owner_start_ticks = ?4 AND coalesce(owner_pid_namespace, '') = ?5",
                 kDoing);
  for (const auto& owner : dead) {
    free.bind(campaign, owner.boot_id, owner.pid, owner.start_ticks, owner.pid_namespace).run();
  }
}

std::vector<LeasedRun> SqliteStore::next_ready(std::int64_t campaign, const std::optional<Offer>& offer) {
  constexpr const char* kDoing = "looking for a ready run";
  const std::string columns =
      "SELECT run.key, run.epoch, run.attempt, run.idx, trial.id, trial.json, run.pair, run.side, run.state "
      "FROM run JOIN trial ON trial.key = run.trial WHERE ";
  Statement first(database_, columns + (offer ? ready_met() : kReady), kDoing);
  if (offer) {
    first.bind(campaign, json_text(offer->workers), json_text(offer->devices), offer->hosts);
  } else {
    first.bind(campaign);
  }
  if (!first.step()) return {};
  std::vector<LeasedRun> runs{read_leased(first)};
  if (!runs.front().pair) return runs;

  Statement member(database_, columns + "run.pair = ?1 ORDER BY run.side, run.key", kDoing);
  member.bind(runs.front().pair->id);
  std::vector<LeasedRun> group;
  bool ready = true;
  while (member.step()) {
    ready = ready && member.get<std::int64_t>(8) == 0;
    group.push_back(read_leased(member));
  }
  if (!ready || group.size() < 2) {
    fail(ErrorKind::failure,
         "{}: not all runs of the group of run {} are ready; the store was changed by another program.",
         database_.path(), runs.front().run);
  }
  return group;
}

bool SqliteStore::holds(const Lease& lease) {
  Statement statement(database_,
                      "SELECT 1 FROM run JOIN trial ON trial.key = run.trial JOIN campaign ON campaign.key = "
                      "run.campaign WHERE run.key = ?1 AND run.claim = ?2 AND run.state <> ?3 AND campaign.id = ?4 AND "
                      "trial.id = ?5 AND run.idx = ?6 AND run.attempt = ?7",
                      "checking a lease");
  return std::all_of(lease.runs.begin(), lease.runs.end(), [&](const LeasedRun& run) {
    return statement.bind(run.run, lease.claim, kDone, lease.campaign, run.trial_id, run.index, run.attempt).step();
  });
}

bool SqliteStore::is_stored(const Lease& lease) {
  Statement statement(database_, "SELECT 1 FROM receipt WHERE run = ?1 AND claim = ?2", "checking a lease");
  return std::all_of(lease.runs.begin(), lease.runs.end(),
                     [&](const LeasedRun& run) { return statement.bind(run.run, lease.claim).step(); });
}

Renewal SqliteStore::renew(const Lease& lease, double seconds) {
  constexpr const char* kDoing = "renewing a lease";
  Transaction transaction(database_, kDoing);
  if (!holds(lease)) return Renewal::lost;
  // One that ran out and was taken by nobody is held again.
  Statement extend(
      database_, "UPDATE run SET state = 1, lease_clock = ?2, lease_ms = ?3, lease_end_ms = ?4 WHERE key = ?1", kDoing);
  const auto length = milliseconds(seconds);
  const auto end = clock_.now_ms() + length;
  for (const auto& run : lease.runs) extend.bind(run.run, clock_.boot_id, length, end).run();
  transaction.commit();
  return Renewal::held;
}

Completion SqliteStore::complete(const Lease& lease, const std::vector<Finished>& finished) {
  constexpr const char* kDoing = "storing a record";
  const bool again = checked_again(lease, finished);
  Transaction transaction(database_, kDoing);
  if (!holds(lease)) return is_stored(lease) ? Completion::repeated : Completion::stale;
  Statement done(database_, "UPDATE run SET state = 2, claim = NULL WHERE key = ?1", kDoing);
  Statement ready(database_, "UPDATE run SET state = 0, attempt = attempt + 1, claim = NULL WHERE key = ?1", kDoing);
  for (std::size_t i = 0; i < finished.size(); ++i) {
    const auto& run = lease.runs[i];
    insert_record(lease, run, as_stored(finished[i], run, again));
    (again ? ready : done).bind(run.run).run();
  }
  transaction.commit();
  return Completion::accepted;
}

void SqliteStore::insert_record(const Lease& lease, const LeasedRun& run, const Record& record) {
  constexpr const char* kDoing = "storing a record";
  const auto body = fold(record);
  Statement content(database_, "INSERT INTO content(hash, json) VALUES (?1, ?2) ON CONFLICT(hash) DO NOTHING", kDoing);
  for (const auto& [hash, text] : body.contents) content.bind(hash, text).run();
  const auto columns = columns_of(record, body);
  const auto key = insert_columns(database_, run.run, columns, kDoing);
  insert_receipt(lease, run, key, record_hash(columns));
}

std::int64_t SqliteStore::writer_of(const LeasedRun& run) {
  constexpr const char* kDoing = "noting who wrote a record";
  Statement owner(database_, "SELECT owner_host, owner_boot_id, owner_pid, owner_start_ticks FROM run WHERE key = ?1",
                  kDoing);
  ASSAY_CHECK(owner.bind(run.run).step());
  const Owner took{owner.get<std::string>(0), owner.get<std::string>(1), owner.get<std::int64_t>(2),
                   owner.get<std::int64_t>(3)};
  const auto user = this_user();
  const auto agent = agent_of(took);
  Statement(database_, "INSERT INTO writer(role, host, agent) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", kDoing)
      .bind(user, took.host, agent)
      .run();
  Statement writer(database_, "SELECT key FROM writer WHERE role = ?1 AND host = ?2 AND agent = ?3", kDoing);
  ASSAY_CHECK(writer.bind(user, took.host, agent).step());
  return writer.get<std::int64_t>(0);
}

void SqliteStore::insert_receipt(const Lease& lease, const LeasedRun& run, std::int64_t record,
                                 const std::string& hash) {
  constexpr const char* kDoing = "noting who wrote a record";
  const auto writer = writer_of(run);
  Statement last(database_, "SELECT seq, link FROM receipt WHERE writer = ?1 ORDER BY seq DESC LIMIT 1", kDoing);
  const bool first = !last.bind(writer).step();
  const auto previous = first ? std::string() : last.get<std::string>(1);
  Statement(database_,
            "INSERT INTO receipt(writer, seq, record, run, claim, hash, link) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            kDoing)
      .bind(writer, first ? 1 : last.get<std::int64_t>(0) + 1, record, run.run, lease.claim, hash,
            link_of(previous, hash))
      .run();
}

void SqliteStore::release(const Lease& lease) {
  constexpr const char* kDoing = "giving back a run";
  Transaction transaction(database_, kDoing);
  if (!holds(lease)) return;
  Statement free(database_, "UPDATE run SET state = 0, claim = NULL WHERE key = ?1", kDoing);
  for (const auto& run : lease.runs) free.bind(run.run).run();
  transaction.commit();
}

}  // namespace assay::store::sqlite
