#include "assay/core/text/hash.hpp"
#include "assay/store/records/receipt.hpp"
#include "assay/store/records/record_columns.hpp"
#include "assay/store/sql.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::store::sqlite {
namespace {

constexpr const char* kVerifying = "verifying it";

/// One moment of the store, while others write.
class Moment {
 public:
  explicit Moment(Database& database) : database_(database) { database.execute("SAVEPOINT moment", kVerifying); }
  ~Moment() { sqlite3_exec(database_.handle(), "RELEASE moment", nullptr, nullptr, nullptr); }
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;

 private:
  Database& database_;
};

/// Columns 9 and 10 and those from 12 on of verify_receipts.sql.
RecordColumns kept_columns(const Statement& row) {
  auto kept = read_record_columns(row, 12);
  kept.trial = row.get<std::string>(9);
  kept.index = row.get<std::int64_t>(10);
  return kept;
}

/// What a row of verify_receipts.sql is about.
FoundFault place_of(const Statement& row) {
  FoundFault finding;
  finding.record = row.get<std::optional<std::int64_t>>(2);
  finding.trial = row.get<std::optional<std::string>>(9);
  finding.index = row.get<std::optional<std::int64_t>>(10);
  finding.attempt = row.get<std::optional<std::int64_t>>(12);
  finding.writer = Writer{row.get<std::string>(5), row.get<std::string>(6), row.get<std::string>(7)};
  finding.receipt = row.get<std::int64_t>(1);
  return finding;
}

/// What is wrong with the record of a receipt.
std::optional<Fault> fault_of(const Statement& row) {
  const bool there = row.get<std::optional<std::int64_t>>(12).has_value();
  if (!there) {
    const bool dropped = !row.get<std::optional<std::int64_t>>(2) && !row.get<std::optional<std::int64_t>>(8);
    return dropped ? std::nullopt : std::optional(Fault::lost);
  }
  const bool same = row.get<bool>(11) && record_hash(kept_columns(row)) == row.get<std::string>(3);
  return same ? std::nullopt : std::optional(Fault::altered);
}

void walk_chains(Database& database, Verification& out) {
  Statement row(database, with_record_columns(sql::kSqliteVerifyReceipts), kVerifying);
  row.bind();
  std::int64_t writer = 0;
  std::int64_t seq = 0;
  std::string link;
  while (row.step()) {
    ++out.receipts;
    if (row.get<std::int64_t>(0) != writer) {
      writer = row.get<std::int64_t>(0);
      seq = 0;
      link.clear();
      ++out.writers;
    }
    const auto found = [&](Fault fault) {
      out.findings.push_back(place_of(row));
      out.findings.back().fault = fault;
    };
    if (const auto fault = fault_of(row)) found(*fault);
    const bool next = row.get<std::int64_t>(1) == seq + 1;
    if (!next || row.get<std::string>(4) != link_of(link, row.get<std::string>(3))) found(Fault::broken_link);
    seq = row.get<std::int64_t>(1);
    link = row.get<std::string>(4);
  }
}

void look_at_records(Database& database, Verification& out) {
  Statement row(database, sql::kSqliteVerifyRecords, kVerifying);
  row.bind();
  while (row.step()) {
    FoundFault finding;
    finding.fault = row.get<std::string>(0) == "lost" ? Fault::lost : Fault::slipped_in;
    finding.record = row.get<std::optional<std::int64_t>>(1);
    finding.trial = row.get<std::optional<std::string>>(2);
    finding.index = row.get<std::optional<std::int64_t>>(3);
    finding.attempt = row.get<std::optional<std::int64_t>>(4);
    out.findings.push_back(std::move(finding));
  }
}

void look_at_contents(Database& database, Verification& out) {
  Statement row(database, "SELECT hash, json FROM content ORDER BY hash", kVerifying);
  row.bind();
  while (row.step()) {
    if (hash_hex(row.get<std::string>(1)) == row.get<std::string>(0)) continue;
    FoundFault finding;
    finding.fault = Fault::wrong_content;
    finding.content = row.get<std::string>(0);
    out.findings.push_back(std::move(finding));
  }
}

}  // namespace

Verification SqliteStore::verify() {
  const Moment moment(database_);
  Verification out;
  out.records = database_.integer("SELECT count(*) FROM record", kVerifying);
  const auto unnamed = database_.integer(
      "SELECT count(*) FROM record WHERE NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.record = record.key)",
      kVerifying);
  walk_chains(database_, out);
  look_at_records(database_, out);
  look_at_contents(database_, out);
  out.older = unnamed - count_of(out.findings, Fault::slipped_in);
  return out;
}

}  // namespace assay::store::sqlite
