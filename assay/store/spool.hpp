#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "assay/store/store.hpp"

namespace assay::store {

/// A store behind a network, as an agent uses it. While its server is away, finished records are kept in a spool: a
/// SQLite store on this host, which agents of the same store share, and from which any of them delivers. The epoch of a
/// lease sees to it that a record counts once, however often it is delivered, and not at all where the server gave the
/// run to another meanwhile.
class SpooledStore : public Store {
 public:
  /// Makes the spool where it is not there. What an earlier agent has left in it is delivered by the first lease().
  SpooledStore(std::unique_ptr<Store> store, const std::filesystem::path& spool);

  /// Stores what the spool holds; how many results the store took. Throws Error{away} where the server is away again:
  /// the rest stays.
  std::int64_t deliver();
  /// Results that wait for the server.
  std::int64_t waiting();

  Planned plan(const plan::Campaign& campaign, bool again) override { return store_->plan(campaign, again); }
  /// Delivers first, so that a run that is finished here is not given away.
  [[nodiscard]] std::optional<Lease> lease(const LeaseRequest& request) override;
  [[nodiscard]] Renewal renew(const Lease& lease, double seconds) override { return store_->renew(lease, seconds); }
  /// `kept` where the server is away.
  [[nodiscard]] Completion complete(const Lease& lease, const std::vector<Finished>& finished) override;
  /// Where the server is away, the lease is left to run out.
  void release(const Lease& lease) override;

  void put_platform(const std::string& id, const json& platform) override { store_->put_platform(id, platform); }
  std::optional<json> platform(const std::string& id) override { return store_->platform(id); }
  std::vector<CampaignRow> campaigns() override { return store_->campaigns(); }
  Progress progress(const std::string& campaign) override { return store_->progress(campaign); }
  std::vector<HeldRun> held(const std::string& campaign) override { return store_->held(campaign); }
  std::vector<TrialRow> trials(const Filter& filter) override { return store_->trials(filter); }
  std::vector<RunRow> runs(const Filter& filter) override { return store_->runs(filter); }
  void records(const Filter& filter, const std::function<void(const Record&)>& visit) override {
    store_->records(filter, visit);
  }
  void put_artifact(const std::string& kind, const std::string& inputs_hash, const json& content) override {
    store_->put_artifact(kind, inputs_hash, content);
  }
  std::vector<Artifact> artifacts(const std::string& kind) override { return store_->artifacts(kind); }
  void remove_artifact(const std::string& kind, const std::string& inputs_hash) override {
    store_->remove_artifact(kind, inputs_hash);
  }
  void drop(const std::string& campaign) override { store_->drop(campaign); }
  void allow(const std::string& role, Right right, const std::string& campaign) override {
    store_->allow(role, right, campaign);
  }
  void forbid(const std::string& role) override { store_->forbid(role); }

 private:
  std::unique_ptr<Store> store_;
  std::unique_ptr<Store> spool_;
  bool pending_ = true;            ///< the spool may hold results
  std::set<std::string> refused_;  ///< results that the store does not take; they stay in the spool
};

}  // namespace assay::store
