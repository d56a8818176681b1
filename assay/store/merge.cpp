#include "assay/store/merge.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "assay/core/text/hash.hpp"
#include "assay/store/records/receipt.hpp"
#include "assay/store/records/record_columns.hpp"
#include "assay/store/store.hpp"
#include "assay/store/stores/postgres/connection.hpp"
#include "assay/store/stores/sqlite/record_table.hpp"

namespace assay::store {
namespace {

using sqlite::Blob;
using sqlite::Statement;

constexpr const char* kReading = "reading what is to be merged";
constexpr const char* kMerging = "merging";

/// A file that is read, at one moment. SQL is the same for both kinds of stores: $1, $2, … in this order.
class FileReader {
 public:
  explicit FileReader(const std::string& path) : database_(path, Access::read) { database_.execute("BEGIN", kReading); }

  template <typename... Values>
  Statement ask(const char* sql, const Values&... values) {
    Statement rows(database_, sql, kReading);
    rows.bind(values...);
    return rows;
  }
  /// The columns as its receipt has hashed them.
  static RecordColumns as_kept(const RecordColumns& columns) { return columns; }

 private:
  sqlite::Database database_;
};

/// The same of a server.
class ServerReader {
 public:
  explicit ServerReader(const Location& location) : connection_(location, true) {}

  template <typename... Values>
  postgres::Result ask(const char* sql, const Values&... values) {
    return connection_.read(sql, kReading, values...);
  }
  static RecordColumns as_kept(RecordColumns columns) {
    each_column(columns, []<typename T>(const char*, T& value) {
      if constexpr (std::is_same_v<T, std::string>) value = postgres::to_server(value);
    });
    return columns;
  }

 private:
  postgres::Connection connection_;
};

/// A run by what names it in every store.
struct RunName {
  std::string campaign;
  std::string trial;
  std::int64_t index = 0;
};

struct FoundRun {
  std::int64_t key = 0;
  std::int64_t state = 0;
};

/// A record with all that is known of where it came from.
struct Brought {
  RunName run;
  RecordColumns columns;
  std::optional<std::string> claim;  ///< null where it is older than receipts
  std::optional<std::string> hash;
  Writer writer;
};

constexpr const char* kRecord =
    "SELECT campaign.id, trial.id, run.idx, receipt.claim, receipt.hash, writer.role, writer.host, writer.agent, "
    "{record} "
    "FROM record JOIN run ON run.key = record.run JOIN trial ON trial.key = run.trial JOIN "
    "campaign ON campaign.key = run.campaign LEFT JOIN receipt ON receipt.record = record.key LEFT JOIN writer ON "
    "writer.key = receipt.writer WHERE record.key = $1";

template <typename Rows>
Brought read_brought(const Rows& row) {
  const auto text = [&](int column) { return row.template get<std::string>(column); };
  const auto known = [&](int column) { return row.template get<std::optional<std::string>>(column); };
  Brought out;
  out.run = {text(0), text(1), row.template get<std::int64_t>(2)};
  out.claim = known(3);
  out.hash = known(4);
  out.writer = Writer{known(5).value_or(""), known(6).value_or(""), known(7).value_or("")};
  out.columns = read_record_columns(row, 8);
  out.columns.trial = out.run.trial;
  out.columns.index = out.run.index;
  return out;
}

/// The store that is written.
class Target {
 public:
  Target(sqlite::Database& database, Merged& merged) : database_(database), merged_(merged) {}

  template <typename Rows>
  void put_campaign(const Rows& row) {
    const auto text = [&](int column) { return row.template get<std::string>(column); };
    const auto integer = [&](int column) { return row.template get<std::int64_t>(column); };
    merged_.campaigns += changed(
        "INSERT INTO campaign(id, family, round, name, seed, lockstep, runs, measure, created_utc) VALUES (?1, ?2, ?3, "
        "?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT(id) DO NOTHING",
        text(0), text(1), integer(2), text(3), integer(4), integer(5), integer(6), text(7), text(8));
    changed("UPDATE campaign SET runs = max(runs, ?2) WHERE id = ?1", text(0), integer(6));
  }

  template <typename Rows>
  void put_trial(const Rows& row) {
    const auto text = [&](int column) { return row.template get<std::string>(column); };
    const auto integer = [&](int column) { return row.template get<std::int64_t>(column); };
    merged_.trials += changed(
        "INSERT INTO trial(id, network, mode, batch, precision, worker, release, device, ranks, settings, json) VALUES "
        "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT(id) DO NOTHING",
        text(1), text(2), text(3), integer(4), text(5), text(6), text(7), text(8), integer(9), text(10), text(11));
    changed(
        "INSERT INTO campaign_trial(campaign, position, trial) SELECT campaign.key, (SELECT count(*) FROM "
        "campaign_trial AS linked WHERE linked.campaign = campaign.key), trial.key FROM campaign, trial WHERE "
        "campaign.id = ?1 AND trial.id = ?2 AND NOT EXISTS (SELECT 1 FROM campaign_trial AS linked WHERE "
        "linked.campaign = campaign.key AND linked.trial = trial.key)",
        text(0), text(1));
  }

  template <typename Rows>
  void put_run(const Rows& row) {
    const RunName name{row.template get<std::string>(0), row.template get<std::string>(1),
                       row.template get<std::int64_t>(2)};
    if (find(name)) return;
    changed(
        "INSERT INTO run(key, campaign, trial, idx, ord, pair, side) SELECT store.next_run, campaign.key, trial.key, "
        "?3, ?4, ?5, ?6 FROM store, campaign, trial WHERE campaign.id = ?1 AND trial.id = ?2",
        name.campaign, name.trial, name.index, row.template get<std::int64_t>(3),
        row.template get<std::optional<std::string>>(4), row.template get<std::optional<std::string>>(5));
    changed("UPDATE store SET next_run = next_run + 1");
    changed(
        "UPDATE progress SET runs = runs + 1, ready = ready + 1 WHERE campaign = (SELECT key FROM campaign WHERE id = "
        "?1)",
        name.campaign);
    ++merged_.runs;
  }

  void put_content(const std::string& hash, const std::string& json) {
    changed("INSERT INTO content(hash, json) VALUES (?1, ?2) ON CONFLICT(hash) DO NOTHING", hash, json);
  }

  void put_platform(const std::string& id, const std::string& json) {
    merged_.platforms += changed("INSERT INTO platform(id, json) VALUES (?1, ?2) ON CONFLICT(id) DO NOTHING", id, json);
  }

  void put_artifact(const std::string& kind, const std::string& hash, const std::string& utc, const std::string& json) {
    merged_.artifacts += changed(
        "INSERT INTO artifact(kind, inputs_hash, created_utc, json) VALUES (?1, ?2, ?3, ?4) ON CONFLICT(kind, "
        "inputs_hash) DO UPDATE SET created_utc = excluded.created_utc, json = excluded.json WHERE "
        "excluded.created_utc > artifact.created_utc",
        kind, hash, utc, json);
  }

  /// `place` is the record's key in the store that it comes from.
  void put_record(Brought brought, std::int64_t place) {
    const auto run = find(brought.run);
    ASSAY_CHECK(run);
    if (is_there(brought, run->key)) {
      ++merged_.repeated;
      return;
    }
    auto& columns = brought.columns;
    const bool counts = columns.counted == 1;
    if (counts && run->state == 1) {
      fail(ErrorKind::usage,
           "{}: an agent is at run {} of trial {}, which is done in the other store. Merge when that agent has ended.",
           database_.path(), columns.index, columns.trial.substr(0, 8));
    }
    if (counts && run->state == 2) {
      columns.counted = 0;
      columns.message +=
          fmt::format("{}set aside by a merge: this run was done in both stores", columns.message.empty() ? "" : "; ");
      ++merged_.set_aside;
    }
    columns.attempt = free_attempt(run->key, columns.attempt);
    insert(brought, run->key, place);
    if (columns.counted == 1) {
      changed("UPDATE run SET state = 2, claim = NULL, attempt = ?2 WHERE key = ?1", run->key, columns.attempt);
    } else if (run->state != 2) {
      changed("UPDATE run SET attempt = max(attempt, ?2) WHERE key = ?1", run->key, columns.attempt + 1);
    }
    ++merged_.records;
  }

 private:
  /// Runs it; how many rows it changed.
  template <typename... Values>
  std::int64_t changed(const char* sql, const Values&... values) {
    Statement(database_, sql, kMerging).bind(values...).run();
    return sqlite3_changes64(database_.handle());
  }

  std::optional<FoundRun> find(const RunName& name) {
    Statement row(database_,
                  "SELECT run.key, run.state FROM run JOIN campaign ON campaign.key = run.campaign JOIN trial ON "
                  "trial.key = run.trial WHERE campaign.id = ?1 AND trial.id = ?2 AND run.idx = ?3",
                  kMerging);
    if (!row.bind(name.campaign, name.trial, name.index).step()) return std::nullopt;
    return FoundRun{row.get<std::int64_t>(0), row.get<std::int64_t>(1)};
  }

  /// Whether the record is in the store, by its claim or, without one, by what was measured when.
  bool is_there(const Brought& brought, std::int64_t run) {
    if (brought.claim) {
      Statement row(database_, "SELECT 1 FROM receipt WHERE run = ?1 AND claim = ?2", kMerging);
      return row.bind(run, *brought.claim).step();
    }
    Statement row(database_,
                  "SELECT 1 FROM record WHERE run = ?1 AND started_utc = ?2 AND duration_ns = ?3 AND samples = ?4",
                  kMerging);
    const auto& columns = brought.columns;
    return row.bind(run, columns.started_utc, columns.duration_ns, Blob{columns.samples.bytes}).step();
  }

  std::int64_t free_attempt(std::int64_t run, std::int64_t wanted) {
    Statement row(database_,
                  "SELECT CASE WHEN EXISTS (SELECT 1 FROM record WHERE run = ?1 AND attempt = ?2) THEN (SELECT "
                  "max(attempt) + 1 FROM record WHERE run = ?1) ELSE ?2 END",
                  kMerging);
    ASSAY_CHECK(row.bind(run, wanted).step());
    return row.get<std::int64_t>(0);
  }

  void insert(const Brought& brought, std::int64_t run, std::int64_t place) {
    const auto record = sqlite::insert_columns(database_, run, brought.columns, kMerging);
    // One from before there were receipts says that nobody knows who wrote it.
    const auto from = fmt::format("record {} of store {}", place, merged_.uuid);
    const auto writer = brought.claim ? brought.writer : Writer{"unknown", "", "store " + merged_.uuid};
    put_receipt(writer, record, run, brought.claim.value_or(from), record_hash(brought.columns));
  }

  void put_receipt(const Writer& writer, std::int64_t record, std::int64_t run, const std::string& claim,
                   const std::string& hash) {
    changed("INSERT INTO writer(role, host, agent) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING", writer.role,
            writer.host, writer.agent);
    Statement known(database_, "SELECT key FROM writer WHERE role = ?1 AND host = ?2 AND agent = ?3", kMerging);
    ASSAY_CHECK(known.bind(writer.role, writer.host, writer.agent).step());
    const auto key = known.get<std::int64_t>(0);
    Statement last(database_, "SELECT seq, link FROM receipt WHERE writer = ?1 ORDER BY seq DESC LIMIT 1", kMerging);
    const bool first = !last.bind(key).step();
    changed("INSERT INTO receipt(writer, seq, record, run, claim, hash, link) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", key,
            first ? std::int64_t{1} : last.get<std::int64_t>(0) + 1, record, run, claim, hash,
            link_of(first ? std::string() : last.get<std::string>(1), hash));
  }

  sqlite::Database& database_;
  Merged& merged_;
};

template <typename Reader>
void copy_plans(Reader& reader, Target& target) {
  auto campaigns = reader.ask(
      "SELECT id, family, round, name, seed, lockstep, runs, measure, created_utc FROM campaign ORDER BY key");
  while (campaigns.step()) target.put_campaign(campaigns);
  auto trials = reader.ask(
      "SELECT campaign.id, trial.id, network, mode, batch, precision, worker, release, device, ranks, settings, json "
      "FROM campaign_trial JOIN campaign ON campaign.key = campaign_trial.campaign JOIN trial ON trial.key = "
      "campaign_trial.trial ORDER BY campaign.key, position");
  while (trials.step()) target.put_trial(trials);
  auto runs = reader.ask(
      "SELECT campaign.id, trial.id, idx, ord, pair, side FROM run JOIN campaign ON campaign.key = run.campaign JOIN "
      "trial ON trial.key = run.trial ORDER BY run.key");
  while (runs.step()) target.put_run(runs);
}

template <typename Reader>
void copy_contents(Reader& reader, Target& target, const std::string& shown) {
  auto contents = reader.ask("SELECT hash, json FROM content");
  while (contents.step()) {
    const auto hash = contents.template get<std::string>(0);
    const auto json = contents.template get<std::string>(1);
    if (hash_hex(json) != hash) {
      fail(ErrorKind::failure,
           "{}: the content {} does not fit its hash. `assay store verify` says what else is wrong.", shown, hash);
    }
    target.put_content(hash, json);
  }
  auto platforms = reader.ask("SELECT id, json FROM platform");
  while (platforms.step()) {
    target.put_platform(platforms.template get<std::string>(0), platforms.template get<std::string>(1));
  }
  auto artifacts = reader.ask("SELECT kind, inputs_hash, created_utc, json FROM artifact ORDER BY key");
  while (artifacts.step()) {
    target.put_artifact(artifacts.template get<std::string>(0), artifacts.template get<std::string>(1),
                        artifacts.template get<std::string>(2), artifacts.template get<std::string>(3));
  }
}

template <typename Reader>
void copy_records(Reader& reader, Target& target, const std::string& shown) {
  // Those alone that were there when the plans were read have their runs.
  std::vector<std::int64_t> keys;
  auto listed = reader.ask("SELECT key FROM record ORDER BY key");
  while (listed.step()) keys.push_back(listed.template get<std::int64_t>(0));
  const auto sql = with_record_columns(kRecord);
  for (const auto key : keys) {
    auto row = reader.ask(sql.c_str(), key);
    if (!row.step()) continue;  // its campaign was dropped meanwhile
    auto brought = read_brought(row);
    if (brought.hash && record_hash(Reader::as_kept(brought.columns)) != *brought.hash) {
      fail(ErrorKind::failure,
           "{}: record {} was altered after it was stored, so that nothing was merged. `assay store verify` says what "
           "else is wrong.",
           shown, key);
    }
    target.put_record(std::move(brought), key);
  }
}

template <typename Reader>
void copy_all(Reader& reader, Target& target, const std::string& shown) {
  copy_plans(reader, target);
  copy_contents(reader, target, shown);
  copy_records(reader, target, shown);
}

}  // namespace

Merged merge(const std::string& other, const std::string& into) {
  const auto from = locate(other);
  const auto to = locate(into);
  if (!to.is_file) {
    fail(ErrorKind::usage,
         "{}: only a store in a file takes in others. Merge into a file: --store FILE, with this one as an argument.",
         to.shown);
  }
  Merged merged;
  merged.uuid = open_store(other, Access::read)->uuid();  // also says where its version is not ours
  (void)open_store(into, Access::write)->uuid();
  sqlite::Database database(to.place, Access::write);
  sqlite::Transaction transaction(database, kMerging);
  Target target(database, merged);
  if (from.is_file) {
    FileReader reader(from.place);
    copy_all(reader, target, from.shown);
  } else {
    ServerReader reader(from);
    copy_all(reader, target, from.shown);
  }
  transaction.commit();
  return merged;
}

}  // namespace assay::store
