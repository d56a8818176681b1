#include "assay/store/spool.hpp"

namespace assay::store {
namespace {

// In the spool a result is an artifact of this kind, under the name of its claim on the run.
constexpr const char* kFinished = "finished";

std::string claim_of(const Lease& lease) {
  return fmt::format("{} {} {}", lease.campaign, lease.runs.front().run, lease.runs.front().epoch);
}

/// What complete() needs. The trial itself is no part of it: its id is.
json to_spool(const Lease& lease, const std::vector<Finished>& finished) {
  json runs = json::array();
  for (std::size_t i = 0; i < lease.runs.size(); ++i) {
    const auto& run = lease.runs[i];
    runs.push_back({{"run", run.run},
                    {"epoch", run.epoch},
                    {"pair", run.pair ? to_json(*run.pair) : json()},
                    {"again", finished[i].again},
                    {"record", to_json(finished[i].record)}});
  }
  return {{"campaign", lease.campaign}, {"runs", runs}};
}

struct KeptResult {
  Lease lease;
  std::vector<Finished> finished;
};

KeptResult from_spool(const json& kept) {
  KeptResult result;
  result.lease.campaign = kept.at("campaign").get<std::string>();
  for (const auto& one : kept.at("runs")) {
    const auto record = from_json<Record>(one.at("record"), "record");
    LeasedRun run;
    run.run = one.at("run").get<std::int64_t>();
    run.epoch = one.at("epoch").get<std::int64_t>();
    run.attempt = record.attempt;
    run.index = record.index;
    run.trial_id = record.trial;
    if (!one.at("pair").is_null()) run.pair = from_json<Pair>(one.at("pair"), "pair");
    result.lease.runs.push_back(run);
    result.finished.push_back({record, one.at("again").get<bool>()});
  }
  return result;
}

}  // namespace

SpooledStore::SpooledStore(std::unique_ptr<Store> store, const std::filesystem::path& spool)
    : store_(std::move(store)), spool_(open_store(spool.string(), Access::create)) {}

std::int64_t SpooledStore::waiting() {
  return static_cast<std::int64_t>(spool_->artifacts(kFinished).size());
}

std::int64_t SpooledStore::deliver() {
  std::int64_t taken = 0;
  for (const auto& kept : spool_->artifacts(kFinished)) {
    if (refused_.count(kept.inputs_hash) != 0) continue;
    try {
      const auto result = from_spool(kept.content);
      if (store_->complete(result.lease, result.finished) == Completion::accepted) ++taken;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::failure && error.kind() != ErrorKind::bad_input) throw;
      refused_.insert(kept.inputs_hash);  // a right that was taken away: one result must not stop all others
      continue;
    }
    spool_->remove_artifact(kFinished, kept.inputs_hash);
  }
  pending_ = false;
  return taken;
}

std::optional<Lease> SpooledStore::lease(const LeaseRequest& request) {
  if (pending_) deliver();
  return store_->lease(request);
}

Completion SpooledStore::complete(const Lease& lease, const std::vector<Finished>& finished) {
  try {
    return store_->complete(lease, finished);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::away) throw;
  }
  spool_->put_artifact(kFinished, claim_of(lease), to_spool(lease, finished));
  pending_ = true;
  return Completion::kept;
}

void SpooledStore::release(const Lease& lease) {
  try {
    store_->release(lease);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::away) throw;
  }
}

}  // namespace assay::store
