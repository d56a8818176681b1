#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/store/records/planned_runs.hpp"
#include "assay/store/store.hpp"
#include "assay/store/stores/sqlite/database.hpp"
#include "assay/store/stores/sqlite/schema.hpp"

namespace assay::store::sqlite {

/// The clock that leases follow, and whose it is. Readings are comparable while `boot_id` is the same.
struct LeaseClock {
  std::string boot_id;
  std::function<std::int64_t()> now_ms;
};

/// CLOCK_BOOTTIME of this kernel, which nobody can set and which goes on while the machine sleeps.
LeaseClock boot_clock();

/// A store in one file. Planning, leases and queries are in files of their own.
class SqliteStore : public Store {
 public:
  /// `clock` and `steps` are for tests; everybody else uses the defaults.
  SqliteStore(const std::filesystem::path& path, Access access, LeaseClock clock = boot_clock(),
              const Migrations& steps = migrations());
  SqliteStore(const std::filesystem::path& path, Access access, const OnSkipped& on_skipped);

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
  struct CampaignKey {
    std::int64_t key = 0;
    std::int64_t seed = 1;
    Measure measure;
  };

  std::int64_t add_campaign(const plan::Campaign& campaign, const std::string& id, const std::string& family,
                            std::int64_t round);
  /// `ids` are those of the trials. Trials that belong to the campaign already are left as they are.
  void add_trials(std::int64_t campaign, const std::vector<Trial>& trials, const std::vector<std::string>& ids);
  std::vector<PlannedTrial> planned_trials(std::int64_t campaign);
  /// Adds what is missing; how many that was.
  std::int64_t add_runs(const plan::Campaign& campaign, const std::vector<std::string>& ids, std::int64_t key,
                        const std::string& id);
  std::int64_t count_runs(std::int64_t campaign);

  /// Ties leases that were given by another boot of the kernel to this one's clock: they end after their full length.
  void settle_clocks();
  CampaignKey find_campaign(const std::string& id);
  void free_leases(std::int64_t campaign, const LeaseRequest& request);
  /// Of the runs that `offer` meets; null: of all.
  std::vector<LeasedRun> next_ready(std::int64_t campaign, const std::optional<Offer>& offer);
  /// Whether the runs are held by the lease's claim, and are those that it names.
  bool holds(const Lease& lease);
  /// Whether the result of the lease is stored already.
  bool is_stored(const Lease& lease);
  void insert_record(const Lease& lease, const LeasedRun& run, const Record& record);
  void insert_receipt(const Lease& lease, const LeasedRun& run, std::int64_t record, const std::string& hash);
  std::int64_t writer_of(const LeasedRun& run);
  std::optional<Writer> read_writer(std::int64_t record);

  Database database_;
  LeaseClock clock_;
  SkippedRows skipped_{skipped_to_stderr()};
};

}  // namespace assay::store::sqlite
