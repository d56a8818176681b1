// A finished run whose store fails in every way that the list has, one after the other: what became of its result.
//   finished sqlite FOLDER | finished postgres URL FOLDER
// FOLDER is for the spools and the file. The faults below SQLite are failed system calls of its file alone; those of
// the server are raised by a trigger on the table of records. Prints one line of JSON.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <functional>
#include <iostream>

#include "assay/store/spool.hpp"
#include "assay/store/stores/postgres/connection.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace {

std::atomic<int> sync_errno = 0;
std::atomic<int> call_errno = 0;
std::string store_file;  // whose syncs fail, and not those of the spool

bool is_of_store(int file) {
  std::array<char, PATH_MAX> name{};
  const auto link = "/proc/self/fd/" + std::to_string(file);
  return readlink(link.c_str(), name.data(), name.size() - 1) > 0 && std::string(name.data()).starts_with(store_file);
}

int sync_or_fail(long call, int file) {
  if (sync_errno != 0 && is_of_store(file)) {
    errno = sync_errno;
    return -1;
  }
  return static_cast<int>(syscall(call, file));
}

long fail_call(...) {
  errno = call_errno;
  return -1;
}

}  // namespace

extern "C" int fdatasync(int file) {
  return sync_or_fail(SYS_fdatasync, file);
}
extern "C" int fsync(int file) {
  return sync_or_fail(SYS_fsync, file);
}

namespace assay::bench {
namespace {

namespace fs = std::filesystem;
using store::Completion;

struct Fault {
  std::string name;
  std::function<void()> begin;
  std::function<void()> end;
};

/// What became of the results of all faults.
struct Tally {
  std::int64_t faults = 0;
  std::int64_t met = 0;      ///< that the store failed under
  std::int64_t kept = 0;     ///< of these: the agent goes on and delivers
  std::int64_t refused = 0;  ///< of these: the agent ends, and the next one delivers
  std::int64_t dropped = 0;  ///< never stored
  std::int64_t twice = 0;
  json notes = json::array();
};

plan::Campaign campaign_of(const std::string& name) {
  plan::Campaign campaign;
  campaign.name = name;
  campaign.runs = 2;
  Trial trial;
  trial.workload.network = "toy";
  trial.worker = {"fake", "1.0.0"};
  campaign.trials.push_back(trial);
  return campaign;
}

store::LeaseRequest request_of(const std::string& campaign) {
  store::LeaseRequest request;
  request.campaign = campaign;
  request.owner = {"host", "boot", 1, 5, "pid:[1]"};
  request.seconds = 3600;
  return request;
}

std::vector<store::Finished> measured(const store::Lease& lease, std::int64_t value) {
  const auto& run = lease.runs.at(0);
  Record record;
  record.campaign = lease.campaign;
  record.trial = run.trial_id;
  record.index = run.index;
  record.attempt = run.attempt;
  record.platform = "p";
  record.started_utc = "2026-01-02T03:04:05.678Z";
  record.assay_version = "0";
  record.duration_ns = value;
  RankResult rank;
  rank.samples_ns = {value};
  record.ranks = {rank};
  return {{record, false}};
}

class Sweep {
 public:
  Sweep(std::string location, fs::path folder) : location_(std::move(location)), folder_(std::move(folder)) {}

  /// One run is finished while the store fails; then all is well, and the agent goes on, or the next one does.
  void meet(const Fault& fault, bool agent_ends) {
    const auto name = fmt::format("{}, {}", fault.name, agent_ends ? "agent ends" : "agent goes on");
    const auto spool = folder_ / fmt::format("spool-{}", ++tally_.faults);
    auto real = store::open_store(location_, store::Access::create);
    const auto campaign = real->plan(campaign_of(name), false).campaign;
    {
      store::SpooledQueue queue(*real, spool);
      const auto lease = queue.lease(request_of(campaign));
      ASSAY_CHECK(lease);
      fault.begin();
      complete(queue, *lease);
      if (!agent_ends) fault.end();
      if (!agent_ends) (void)queue.lease(request_of(campaign));
    }
    real.reset();
    fault.end();
    judge(name, campaign, spool);
  }

  const Tally& tally() const { return tally_; }

 private:
  void complete(store::SpooledQueue& queue, const store::Lease& lease) {
    try {
      if (queue.complete(lease, measured(lease, 1000 + tally_.faults)) != Completion::kept) return;
      ++tally_.kept;
    } catch (const Error&) {
      ++tally_.refused;
    }
    ++tally_.met;
  }

  void judge(const std::string& name, const std::string& campaign, const fs::path& spool) {
    const auto real = store::open_store(location_, store::Access::write);
    store::SpooledQueue next(*real, spool);
    next.deliver();
    std::int64_t found = 0;
    for (const auto& row : real->runs({.campaign = campaign})) found += row.duration_ns == 1000 + tally_.faults ? 1 : 0;
    tally_.dropped += found == 0 ? 1 : 0;
    tally_.twice += found > 1 ? 1 : 0;
    if (found != 1 && tally_.notes.size() < 5) tally_.notes.push_back(fmt::format("{}: stored {} times", name, found));
  }

  std::string location_;
  fs::path folder_;
  Tally tally_;
};

/// Calls of SQLite that fail with an errno. Locks are not among them: SQLite would wait half a minute for each.
std::vector<Fault> faults_of_file() {
  const std::vector<std::pair<const char*, int>> errors = {
      {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO},       {"EROFS", EROFS},     {"EFBIG", EFBIG},
      {"EACCES", EACCES}, {"EPERM", EPERM},   {"ENOMEM", ENOMEM}, {"ENXIO", ENXIO},     {"ENODEV", ENODEV},
      {"ESTALE", ESTALE}, {"EBADF", EBADF},   {"EINVAL", EINVAL}, {"ENOLINK", ENOLINK}, {"ETIMEDOUT", ETIMEDOUT}};
  std::vector<Fault> out;
  for (const auto& [name, error] : errors) {
    for (const auto& calls : std::vector<std::vector<const char*>>{
             {"pwrite64", "pwrite", "write"}, {"pread64", "pread", "read"}, {"ftruncate"}, {"fstat"}}) {
      const auto set = [calls](sqlite3_syscall_ptr call) {
        sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
        for (const char* one : calls) vfs->xSetSystemCall(vfs, one, call);
      };
      out.push_back({fmt::format("{} at {}", name, calls[0]),
                     [set, error = error] {
                       call_errno = error;
                       set(reinterpret_cast<sqlite3_syscall_ptr>(fail_call));
                     },
                     [set] { set(nullptr); }});
    }
    out.push_back(
        {fmt::format("{} at fdatasync", name), [error = error] { sync_errno = error; }, [] { sync_errno = 0; }});
  }
  return out;
}

// In the store's own schema: a trigger that calls functions of another one is refused.
constexpr const char* kTrigger = R"(
CREATE TABLE assay.planted (code text);
CREATE FUNCTION assay.planted_fault() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE v_code text;
BEGIN
  SELECT code INTO v_code FROM assay.planted;
  IF FOUND THEN RAISE EXCEPTION 'planted' USING ERRCODE = v_code; END IF;
  RETURN new;
END $$;
CREATE TRIGGER planted BEFORE INSERT ON assay.record FOR EACH ROW EXECUTE FUNCTION assay.planted_fault();
)";

/// What PostgreSQL says where it is away, full, broken, overloaded, a replica, in the middle of a change, or wrong.
std::vector<Fault> faults_of_server(store::postgres::Connection& connection) {
  const std::vector<std::string> states = {
      "08000", "08001", "08003", "08004", "08006", "08007", "08P01", "53000", "53100", "53200",
      "53300", "53400", "54000", "54001", "55000", "55006", "55P03", "55P04", "57000", "57014",
      "57P01", "57P02", "57P03", "57P04", "57P05", "58000", "58030", "58P01", "58P02", "F0000",
      "XX000", "XX001", "XX002", "40000", "40001", "40002", "40003", "40P01", "25000", "25006",
      "25P02", "25P03", "42501", "28000", "42P01", "42883", "42704", "P0001", "P0002", "0A000"};
  std::vector<Fault> out;
  for (const auto& state : states) {
    out.push_back(
        {"SQLSTATE " + state,
         [&connection, state] { connection.query("INSERT INTO assay.planted VALUES ($1)", "planting", state); },
         [&connection] { connection.query("DELETE FROM assay.planted", "planting"); }});
  }
  return out;
}

int print(const Tally& tally) {
  std::cout << json{{"faults", tally.faults},   {"met", tally.met},         {"kept", tally.kept},
                    {"refused", tally.refused}, {"dropped", tally.dropped}, {"twice", tally.twice},
                    {"notes", tally.notes}}
                   .dump()
            << '\n';
  return 0;
}

int sweep_file(const fs::path& folder) {
  store_file = (fs::canonical(folder) / "assay.db").string();
  Sweep sweep(store_file, folder);
  for (const auto& fault : faults_of_file()) {
    for (const bool agent_ends : {false, true}) sweep.meet(fault, agent_ends);
  }
  return print(sweep.tally());
}

int sweep_server(const std::string& url, const fs::path& folder) {
  store::open_store(url, store::Access::create);
  store::postgres::Connection connection(store::locate(url), false);
  connection.execute(kTrigger, "planting");
  Sweep sweep(url, folder);
  for (const auto& fault : faults_of_server(connection)) {
    for (const bool agent_ends : {false, true}) sweep.meet(fault, agent_ends);
  }
  return print(sweep.tally());
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "sqlite" && argc == 3) return sweep_file(argv[2]);
    if (what == "postgres" && argc == 4) return sweep_server(argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::cerr << "finished: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "finished sqlite FOLDER | finished postgres URL FOLDER\n";
  return 2;
}
