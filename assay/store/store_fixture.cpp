#include "assay/store/store_fixture.hpp"

#include <cstdlib>
#include <stdexcept>

#include "assay/store/stores/postgres/connection.hpp"
#include "assay/store/stores/sqlite/database.hpp"

namespace assay::store {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "assay-store-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder: " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path_, ignored);
}

plan::Campaign campaign_of(std::int64_t trials, std::int64_t runs, bool lockstep) {
  plan::Campaign campaign;
  campaign.name = "suite";
  campaign.seed = 7;
  campaign.runs = runs;
  campaign.lockstep = lockstep;
  campaign.measure.seconds = 0.25;
  for (std::int64_t i = 0; i < trials; ++i) {
    Trial trial;
    trial.workload.network = "toy";
    trial.workload.batch = i + 1;
    trial.workload.options["width"] = 1.0;  // a double that must not come back as an integer
    trial.worker = {"fake", "1.0.0"};
    trial.settings.intra_op = 2;
    campaign.trials.push_back(trial);
  }
  return campaign;
}

LeaseRequest request_of(const std::string& campaign, std::int64_t pid, double seconds) {
  LeaseRequest request;
  request.campaign = campaign;
  request.owner = {"here", "boot-1", pid, 5, "pid:[1]"};
  request.seconds = seconds;
  request.is_dead = [](const Owner&) { return false; };
  return request;
}

Record record_of(const Lease& lease, std::size_t i) {
  const auto& run = lease.runs.at(i);
  Record record;
  record.campaign = lease.campaign;
  record.trial = run.trial_id;
  record.index = run.index;
  record.attempt = run.attempt;
  record.pair = run.pair;
  record.platform = "p1";
  record.started_utc = "2026-01-02T03:04:05.678Z";
  record.duration_ns = 1'000'000'000;
  record.assay_version = "0.1.0";
  record.summary = {3,
                    1,
                    20,
                    30,
                    31,
                    2,
                    QuantileInterval{29, 31},
                    QuantileInterval{30, 32},
                    50.5,
                    25,
                    2.02,
                    GeneratedSummary{5, 6, {7, 8}, 9, 1.5, 2.5, 3.5, 10, 11},
                    1};
  RankResult rank;
  rank.samples_ns = {10, 20, 30};
  rank.slices = {{0, 0, 60, 3, false, std::nullopt}};
  record.ranks = {rank};
  return record;
}

Record rich_record_of(const Lease& lease, std::size_t i) {
  Record record = record_of(lease, i);
  record.outcome = {OutcomeKind::failed, "no \xc3\xa9lan", "measure", 3, std::nullopt, "last words"};
  record.validity = {false, {{"steal", "12 % of the time"}, {"probe", "slow"}}};
  record.state = {{"kernel", "6.1.0"}, {"load", 0.25}, {"absent", nullptr}, {"packages", std::string(200, 'x')}};
  record.ranks.clear();
  for (std::int64_t r = 0; r < 3; ++r) {
    RankResult rank;
    rank.rank = r;
    rank.versions = {{"torch", "2.13"}, {"glibc", "2.36"}, {"compiler", std::string(80, 'c')}};
    rank.parameters_built = 25'557'032;
    rank.effective = {{"intra_op", 2}, {"unknown", nullptr}, {"flags", std::string(90, 'f')}};
    for (std::int64_t s = 0; s < 2 + r; ++s) rank.samples_ns.push_back((r + 1) * 1000 + s);
    rank.samples_ns.push_back(std::int64_t{1} << 62);  // beyond what a double keeps
    rank.slices = {{4, 1, 2, static_cast<std::int64_t>(rank.samples_ns.size()), true, 2'000'000}};
    rank.phases_ns = {{"forward", {1, 2}}, {"backward", {3, 4}}, {"update", {}}};
    rank.phase_step_ns = {9, 9};
    rank.layers = {{"conv1", {5, 6}, {7, 8}}, {"fc", {1}, {}}};
    rank.layer_step_ns = {30};
    rank.probe_after_ns = 2'100'000;
    rank.peak_memory_bytes = 1000 + r;
    rank.prepare_ns = 77;
    rank.disturbance.steal_ns = 0;
    rank.disturbance.cpu_ns = 12;
    rank.cpus = {0, 2};
    rank.notes = {"memory policy refused"};
    record.ranks.push_back(rank);
  }
  return record;
}

std::vector<Finished> finished_of(const Lease& lease, bool again) {
  std::vector<Finished> out;
  for (std::size_t i = 0; i < lease.runs.size(); ++i) out.push_back({record_of(lease, i), again});
  return out;
}

void StoreSuite::SetUp() {
  location_ = GetParam().fresh_location(folder_.path());
  if (location_.empty()) GTEST_SKIP() << "there is no " << GetParam().name << " server here";
  store_ = connect(Access::create);
}

std::unique_ptr<Store> StoreSuite::connect(Access access) const {
  return open_store(location_, access);
}

Lease StoreSuite::take(const std::string& campaign, std::int64_t pid, double seconds) {
  auto lease = store_->lease(request_of(campaign, pid, seconds));
  if (!lease) throw std::runtime_error("no run is ready");
  return *lease;
}

std::vector<Record> StoreSuite::records(const Filter& filter) {
  std::vector<Record> out;
  store_->records(filter, [&](const Record& record) { out.push_back(record); });
  return out;
}

void StoreSuite::plant(const std::string& sql) const {
  const auto where = locate(location_);
  if (where.is_file) {
    sqlite::Database(where.place, Access::write).execute(sql.c_str(), "planting");
  } else {
    postgres::Connection(where, false).execute(sql, "planting");
  }
}

std::string text_of(const Record& record) {
  return to_json(record).dump(1);
}

std::string text_of(const Progress& p) {
  return fmt::format("runs {} ready {} leased {} done {} failed {} set_aside {}", p.runs, p.ready, p.leased, p.done,
                     p.failed, p.set_aside);
}

}  // namespace assay::store
