#include "assay/store/sql.hpp"
#include "assay/store/stores/postgres/postgres.hpp"

namespace assay::store::postgres {

Verification PostgresStore::verify() {
  constexpr const char* kDoing = "verifying it";
  Verification out;
  auto row = connection_.read(sql::kPostgresVerify, kDoing);
  while (row.step()) {
    FoundFault finding;
    from_json_value(json(row.get<std::string>(0)), "fault", finding.fault);
    finding.record = row.get<std::optional<std::int64_t>>(1);
    finding.trial = row.get<std::optional<std::string>>(2);
    finding.index = row.get<std::optional<std::int64_t>>(3);
    finding.attempt = row.get<std::optional<std::int64_t>>(4);
    finding.receipt = row.get<std::optional<std::int64_t>>(5);
    finding.content = row.get<std::optional<std::string>>(6);
    if (const auto role = row.get<std::optional<std::string>>(7)) {
      finding.writer = Writer{*role, row.get<std::string>(8), row.get<std::string>(9)};
    }
    out.findings.push_back(std::move(finding));
  }
  out.records = Connection::integer_of(connection_.read("SELECT count(*) FROM record", kDoing));
  out.receipts = Connection::integer_of(connection_.read("SELECT count(*) FROM receipt", kDoing));
  out.writers = Connection::integer_of(connection_.read("SELECT count(DISTINCT writer) FROM receipt", kDoing));
  const auto unnamed = Connection::integer_of(connection_.read(
      "SELECT count(*) FROM record WHERE NOT EXISTS (SELECT FROM receipt WHERE receipt.record = record.key)", kDoing));
  out.older = unnamed - count_of(out.findings, Fault::slipped_in);
  return out;
}

}  // namespace assay::store::postgres
