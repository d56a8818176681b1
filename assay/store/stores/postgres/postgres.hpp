#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/store/location.hpp"
#include "assay/store/records/planned_runs.hpp"
#include "assay/store/store.hpp"
#include "assay/store/stores/postgres/connection.hpp"
#include "assay/store/stores/postgres/schema.hpp"

namespace assay::store::postgres {

/// A store in the schema `assay` of a PostgreSQL database, for a team or a cluster. Planning, leases and queries are in
/// files of their own.
class PostgresStore : public Store {
 public:
  /// `steps` is for tests of migration; everybody else uses migrations().
  PostgresStore(const Location& location, Access access, const Migrations& steps = migrations());
  PostgresStore(const Location& location, Access access, const OnSkipped& on_skipped);

  std::string uuid() override;
  Planned plan(const plan::Campaign& campaign, bool again) override;

  [[nodiscard]] std::optional<Lease> lease(const LeaseRequest& request) override;
  [[nodiscard]] Renewal renew(const Lease& lease, double seconds) override;
  [[nodiscard]] Completion complete(const Lease& lease, const std::vector<Finished>& finished) override;
  void release(const Lease& lease) override;

  void put_platform(const std::string& id, const json& platform) override;
  std::optional<json> platform(const std::string& id) override;

  std::vector<CampaignRow> campaigns() override;
  Progress progress(const std::string& campaign) override;
  std::vector<HeldRun> held(const std::string& campaign) override;
  std::vector<TrialRow> trials(const Filter& filter) override;
  std::vector<RunRow> runs(const Filter& filter) override;
  void records(const Filter& filter, const std::function<void(const Record&)>& visit) override;

  void put_artifact(const std::string& kind, const std::string& inputs_hash, const json& content) override;
  std::vector<Artifact> artifacts(const std::string& kind) override;
  void remove_artifact(const std::string& kind, const std::string& inputs_hash) override;

  void drop(const std::string& campaign) override;
  void allow(const std::string& role, Right right, const std::string& campaign) override;
  void forbid(const std::string& role) override;

  Verification verify() override;
  StoreInfo info() override;

 private:
  std::int64_t add_campaign(const plan::Campaign& campaign, const Planned& planned, const std::string& family);
  void add_trials(std::int64_t campaign, const std::vector<Trial>& trials, const std::vector<std::string>& ids);
  std::vector<PlannedTrial> planned_trials(std::int64_t campaign);
  /// Adds what is missing; how many that was.
  std::int64_t add_runs(const plan::Campaign& campaign, const std::vector<std::string>& ids, std::int64_t key,
                        const std::string& id);

  /// Throws where the role that is connected does not own the store: only functions of the store are for it, which run
  /// with the rights of the owner.
  void check_ours(const char* doing) const;
  [[noreturn]] void no_campaign(const std::string& id) const;
  std::optional<Lease> take(const LeaseRequest& request, const std::vector<Owner>& dead);
  std::vector<Owner> dead_owners(const LeaseRequest& request);
  std::string content(const std::string& hash);

  Connection connection_;
  Ownership ownership_;
  SkippedRows skipped_{skipped_to_stderr()};
  /// A lease whose answer has not come: asked for again, its claim gives the same runs.
  struct Asked {
    std::string campaign;
    std::string claim;
  };
  std::optional<Asked> asked_;
};

}  // namespace assay::store::postgres
