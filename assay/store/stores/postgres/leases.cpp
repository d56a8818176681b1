#include <map>

#include "assay/store/records/rows.hpp"
#include "assay/store/stores/postgres/postgres.hpp"

// What a lease is and when it ends is said by functions of the server, in functions.sql.

namespace assay::store::postgres {
namespace {

Encoded runs_of(const Lease& lease) {
  std::vector<std::int64_t> runs;
  for (const auto& run : lease.runs) runs.push_back(run.run);
  return array_of(runs);
}

std::string hex_of(const std::string& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

struct JsonColumn {
  json operator()(const std::string& text) const { return to_server(text); }
  json operator()(const PackedSamples& samples) const { return hex_of(samples.bytes); }
  template <typename T>
  json operator()(const T& value) const {
    return to_json_value(value);
  }
};

/// A record as a row for the function complete(), and what it shares with others. What a server knows better it leaves
/// out.
json row_of(const LeasedRun& run, const Record& record, std::map<std::string, std::string>& contents) {
  auto body = fold(record);
  contents.merge(body.contents);
  json out = {{"run", run.run}, {"trial", run.trial_id}, {"index", run.index}};
  const auto columns = columns_of(record, body);
  each_column(columns, [&](const char* name, const auto& value) { out[name] = JsonColumn()(value); });
  out["attempt"] = run.attempt;
  return out;
}

Encoded rows_of(const std::map<std::string, std::string>& contents) {
  json rows = json::array();
  for (const auto& [hash, text] : contents) rows.push_back({{"hash", hash}, {"json", to_server(text)}});
  return {json_text(rows)};
}

Encoded list_of(const std::vector<std::string>& texts) {
  return array_of(std::vector<std::optional<std::string>>(texts.begin(), texts.end()));
}

}  // namespace

std::optional<Lease> PostgresStore::lease(const LeaseRequest& request) {
  if (auto lease = take(request, {})) return lease;
  // Only an agent that finds nothing else to do looks for what the dead have left.
  const auto dead = dead_owners(request);
  if (dead.empty()) return std::nullopt;
  return take(request, dead);
}

/// Frees what `dead` owners of this host hold, and takes a run.
std::optional<Lease> PostgresStore::take(const LeaseRequest& request, const std::vector<Owner>& dead) {
  if (!asked_ || asked_->campaign != request.campaign) asked_ = Asked{request.campaign, new_claim()};
  std::vector<std::int64_t> pids;
  std::vector<std::int64_t> ticks;
  for (const auto& owner : dead) {
    pids.push_back(owner.pid);
    ticks.push_back(owner.start_ticks);
  }
  const auto& owner = request.owner;
  const auto& offer = request.offer;
  auto row = connection_.once("SELECT * FROM assay.lease($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
                              "taking a run", request.campaign, asked_->claim, request.seconds, owner.host,
                              owner.boot_id, owner.pid, owner.start_ticks, owner.pid_namespace, array_of(pids),
                              array_of(ticks), offer ? std::optional(offer->platform) : std::nullopt,
                              offer ? std::optional(list_of(offer->workers)) : std::nullopt,
                              offer ? std::optional(list_of(offer->devices)) : std::nullopt,
                              offer ? std::optional(offer->hosts) : std::nullopt);
  Lease lease;
  lease.campaign = request.campaign;
  lease.claim = asked_->claim;
  asked_.reset();  // it answered
  while (row.step()) {
    lease.runs.push_back(read_leased(row));
    lease.seed = row.get<std::int64_t>(8);
    lease.measure = from_json<Measure>(parse_column(row.get<std::string>(9)), "measure");
  }
  if (lease.runs.empty()) return std::nullopt;
  return lease;
}

std::vector<Owner> PostgresStore::dead_owners(const LeaseRequest& request) {
  std::vector<Owner> dead;
  if (!request.is_dead || request.owner.boot_id.empty()) return dead;
  auto row = connection_.query("SELECT * FROM assay.owners($1, $2)", "looking for dead owners", request.campaign,
                               request.owner.boot_id);
  while (row.step()) {
    Owner owner{row.get<std::string>(0), row.get<std::string>(1), row.get<std::int64_t>(2), row.get<std::int64_t>(3),
                row.get<std::string>(4)};
    if (request.is_dead(owner)) dead.push_back(std::move(owner));
  }
  return dead;
}

Renewal PostgresStore::renew(const Lease& lease, double seconds) {
  const auto held = connection_.integer("SELECT assay.renew($1, $2, $3, $4)", "renewing a lease", lease.campaign,
                                        lease.claim, runs_of(lease), seconds);
  return held != 0 ? Renewal::held : Renewal::lost;
}

Completion PostgresStore::complete(const Lease& lease, const std::vector<Finished>& finished) {
  const bool again = checked_again(lease, finished);
  json rows = json::array();
  std::map<std::string, std::string> contents;
  for (std::size_t i = 0; i < finished.size(); ++i) {
    rows.push_back(row_of(lease.runs[i], as_stored(finished[i], lease.runs[i], again), contents));
  }
  // May be sent twice: the claim sees to it that it is stored once.
  auto row = connection_.query("SELECT assay.complete($1, $2, $3, $4, $5, $6)", "storing a record", lease.campaign,
                               lease.claim, runs_of(lease), again ? 1 : 0, Encoded{json_text(rows)}, rows_of(contents));
  ASSAY_CHECK(row.step());
  const auto answer = row.get<std::string>(0);
  if (answer == "accepted") return Completion::accepted;
  return answer == "repeated" ? Completion::repeated : Completion::stale;
}

void PostgresStore::release(const Lease& lease) {
  connection_.query("SELECT assay.give_back($1, $2, $3)", "giving back a run", lease.campaign, lease.claim,
                    runs_of(lease));
}

}  // namespace assay::store::postgres
