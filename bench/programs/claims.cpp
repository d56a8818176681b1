// Seeded schedules of leases, pauses, drops, plans, restored backups, failovers, clock jumps and spooled results,
// through the real stores; an oracle that sees only the calls says what must be stored in the end.
//   claims sqlite FOLDER FIRST COUNT | claims postgres URL FOLDER FIRST COUNT
// FOLDER is for the spools and the file. Schedules FIRST, FIRST + 1, … are the same wherever they are run, but for the
// claims, which are drawn. Prints one line of JSON.
#include <chrono>
#include <iostream>
#include <optional>
#include <random>
#include <set>

#include "assay/store/spool.hpp"
#include "bench/programs/claims_places.hpp"

namespace assay::bench {
namespace {

namespace fs = std::filesystem;
using store::Completion;
using store::Finished;
using store::Lease;
using store::LeaseRequest;

constexpr std::int64_t kSeed = 20'261'115;
constexpr std::int64_t kTogether = 50;  // schedules after which the store is empty again, so that it stays small
constexpr std::size_t kNotes = 5;

/// What has happened, over all schedules.
struct Tally {
  std::int64_t operations = 0;
  std::int64_t leases = 0;
  std::int64_t finished = 0;
  std::int64_t accepted = 0;
  std::int64_t stale = 0;
  std::int64_t repeated = 0;
  std::int64_t faults = 0;
  std::int64_t drops = 0;
  std::int64_t restores = 0;
  std::int64_t failovers = 0;
  std::int64_t jumps = 0;
};

/// When a call fails as it does where the store is away.
enum class Fault { none, before, after };

/// A store that the oracle watches, and that can be away for one call.
class Watched : public store::RunQueue {
 public:
  Watched(Place& place, std::size_t agent, Oracle& oracle, Clock& clock, std::set<std::int64_t>& dead, Tally& tally)
      : place_(place), agent_(agent), oracle_(oracle), clock_(clock), dead_(dead), tally_(tally) {}

  void fail_next(Fault fault) { fault_ = fault; }

  std::string uuid() override { return real().uuid(); }

  std::optional<Lease> lease(const LeaseRequest& request) override {
    const auto after = begin();
    const auto lease = real().lease(request);
    oracle_.leases_end(clock_);
    if (lease) oracle_.leased(*lease, request, clock_, dead_);
    if (lease) ++tally_.leases;
    end(after);
    return lease;
  }

  store::Renewal renew(const Lease& lease, double seconds) override {
    const auto after = begin();
    const auto answer = real().renew(lease, seconds);
    oracle_.renewed(lease, seconds, answer, clock_);
    end(after);
    return answer;
  }

  Completion complete(const Lease& lease, const std::vector<Finished>& finished) override {
    const auto after = begin();
    const auto answer = real().complete(lease, finished);
    oracle_.completed(lease, finished, answer);
    ++(answer == Completion::accepted ? tally_.accepted : answer == Completion::stale ? tally_.stale : tally_.repeated);
    end(after);
    return answer;
  }

  void release(const Lease& lease) override {
    const auto after = begin();
    real().release(lease);
    oracle_.released(lease);
    end(after);
  }

  void put_platform(const std::string& id, const json& platform) override { real().put_platform(id, platform); }
  std::vector<store::CampaignRow> campaigns() override { return real().campaigns(); }
  store::Progress progress(const std::string& campaign) override { return real().progress(campaign); }

 private:
  store::Store& real() { return place_.store(agent_); }

  bool begin() {
    const auto fault = std::exchange(fault_, Fault::none);
    if (fault != Fault::none) ++tally_.faults;
    if (fault == Fault::before) fail(ErrorKind::away, "away before the call");
    return fault == Fault::after;
  }

  static void end(bool after) {
    if (after) fail(ErrorKind::away, "away before the answer");
  }

  Place& place_;
  std::size_t agent_;
  Oracle& oracle_;
  Clock& clock_;
  std::set<std::int64_t>& dead_;
  Tally& tally_;
  Fault fault_ = Fault::none;
};

plan::Campaign campaign_of(std::int64_t number, std::int64_t runs, bool lockstep) {
  plan::Campaign campaign;
  campaign.name = fmt::format("s{}", number);
  campaign.seed = number;
  campaign.runs = runs;
  campaign.lockstep = lockstep;
  for (std::int64_t batch = 1; batch <= 2; ++batch) {
    Trial trial;
    trial.workload.network = "toy";
    trial.workload.batch = batch;
    trial.worker = {"fake", "1.0.0"};
    campaign.trials.push_back(trial);
  }
  return campaign;
}

class Schedule {
 public:
  Schedule(Place& place, const fs::path& folder, std::int64_t number, Tally& tally)
      : place_(place),
        folder_(folder),
        tally_(tally),
        random_(static_cast<std::uint64_t>(kSeed + number)),
        number_(number),
        oracle_(place.lasting()),
        campaign_(campaign_of(number, pick(1, 2), pick(0, 3) == 0)) {
    clock_.boot = place_.lasting() ? fmt::format("boot-{}", number) : place_.clock().boot;
    place_.set(clock_);
    const auto agents = pick(2, 3);
    for (std::int64_t i = 0; i < agents; ++i) agents_.push_back(std::make_unique<Agent>(*this, agents_.size()));
    plan();
  }

  /// Carries it out, brings what waits, and has it judged.
  void go() {
    const auto operations = pick(5, 15);
    for (std::int64_t i = 0; i < operations; ++i) attempt([&] { one(); });
    tally_.operations += operations;
    for (auto& agent : agents_) {
      agent->watched.fail_next(Fault::none);
      attempt([&] { agent->queue->deliver(); });
    }
    oracle_.judge(place_.records(id_), waiting());
    for (const auto& agent : agents_) fs::remove_all(agent->spool);
  }

  const Oracle& oracle() const { return oracle_; }

 private:
  struct Agent {
    /// The first two are on one host and share their spool.
    Agent(Schedule& schedule, std::size_t i)
        : watched(schedule.place_, i, schedule.oracle_, schedule.clock_, schedule.dead_, schedule.tally_),
          spool(schedule.folder_ / (i < 2 ? "spool-a" : "spool-b")),
          pid(static_cast<std::int64_t>(i) + 1) {
      start();
    }
    void start() { queue = std::make_unique<store::SpooledQueue>(watched, spool); }

    Watched watched;
    fs::path spool;
    std::int64_t pid;
    std::unique_ptr<store::SpooledQueue> queue;
    std::vector<Lease> held;                                        ///< in its eyes
    std::vector<std::pair<Lease, std::vector<Finished>>> finished;  ///< which it may bring once more
  };

  std::int64_t pick(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }

  /// A store that is away, and a campaign that is dropped, are no failures.
  template <typename Work>
  void attempt(Work work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::away && error.kind() != ErrorKind::usage) oracle_.failed(error.what());
    }
  }

  void one() {
    auto& agent = *agents_[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(agents_.size()) - 1))];
    const auto choice = pick(0, 99);
    if (choice < 22) return lease(agent);
    if (choice < 54) return finish(agent);
    if (choice < 60) return repeat(agent);
    if (choice < 68) return jump(pick(60, 200) * 1000);  // longer than any lease: who does nothing meanwhile was paused
    if (choice < 71) return jump(pick(-200, 200) * 1000);
    if (choice < 75) return renew(agent);
    if (choice < 78) return release(agent);
    if (choice < 82) return end(agent);
    if (choice < 86) return drop();
    if (choice < 88) return replan();
    if (choice < 91) return save();
    if (choice < 95) return restore();
    if (choice < 97) return fail_over();
    agent.queue->deliver();
  }

  Fault some_fault() {
    const auto choice = pick(0, 9);
    return choice < 6 ? Fault::none : choice < 8 ? Fault::before : Fault::after;
  }

  void lease(Agent& agent) {
    LeaseRequest request;
    request.campaign = id_;
    request.owner = {"host", "boot", agent.pid, 5, "pid:[1]"};
    request.seconds = pick(0, 3) == 0 ? 0 : 60;
    request.is_dead = [this](const store::Owner& owner) { return dead_.count(owner.pid) != 0; };
    agent.watched.fail_next(pick(0, 9) == 0 ? Fault::after : Fault::none);
    if (auto lease = agent.queue->lease(request)) agent.held.push_back(std::move(*lease));
  }

  std::vector<Finished> measured(const Lease& lease) {
    const bool again = pick(0, 5) == 0;
    std::vector<Finished> out;
    for (const auto& run : lease.runs) {
      Record record;
      record.campaign = lease.campaign;
      record.trial = run.trial_id;
      record.index = run.index;
      record.attempt = run.attempt;
      record.pair = run.pair;
      record.platform = "p";
      record.started_utc = "2026-01-02T03:04:05.678Z";
      record.assay_version = "0";
      record.duration_ns = next_value_ += 10;
      RankResult rank;
      rank.samples_ns = {record.duration_ns, record.duration_ns + 1};
      record.ranks = {rank};
      out.push_back({record, again});
    }
    return out;
  }

  void finish(Agent& agent) {
    if (agent.held.empty()) return lease(agent);
    const auto which = pick(0, static_cast<std::int64_t>(agent.held.size()) - 1);
    const auto lease = agent.held[static_cast<std::size_t>(which)];
    agent.held.erase(agent.held.begin() + which);
    const auto results = measured(lease);
    oracle_.finished(lease, results);
    ++tally_.finished;
    agent.finished.emplace_back(lease, results);
    agent.watched.fail_next(some_fault());
    (void)agent.queue->complete(lease, results);
  }

  /// The same result once more, as after an answer that was lost.
  void repeat(Agent& agent) {
    if (agent.finished.empty()) return finish(agent);
    const auto& [lease, results] = agent.finished.back();
    (void)agent.queue->complete(lease, results);
  }

  void renew(Agent& agent) {
    if (!agent.held.empty()) (void)agent.queue->renew(agent.held.back(), 60);
  }

  void release(Agent& agent) {
    if (agent.held.empty()) return;
    const auto lease = agent.held.back();
    agent.held.pop_back();
    agent.watched.fail_next(some_fault());
    agent.queue->release(lease);
  }

  /// It is killed with all it holds; what is in its spool stays for the next.
  void end(Agent& agent) {
    dead_.insert(agent.pid);
    agent.pid += 10;
    agent.held.clear();
    agent.finished.clear();
    agent.start();
  }

  void jump(std::int64_t milliseconds) {
    clock_.now_ms += milliseconds;
    place_.set(clock_);
    ++tally_.jumps;
  }

  void plan() {
    id_ = place_.store(0).plan(campaign_, false).campaign;
    oracle_.planned(place_.runs(id_));
  }

  void replan() {
    campaign_.runs = std::min<std::int64_t>(campaign_.runs + pick(0, 1), 3);
    plan();
  }

  void drop() {
    if (pick(0, 1) == 0) jump(200'000);  // nobody is at a run then
    place_.store(0).drop(id_);
    oracle_.dropped();
    ++tally_.drops;
    if (pick(0, 3) != 0) plan();
  }

  void save() {
    place_.save();
    saved_ = Saved{oracle_.world(), campaign_.runs};
  }

  void restore() {
    if (!saved_) return save();
    place_.restore();
    oracle_.restored(saved_->world);
    campaign_.runs = saved_->runs;
    ++tally_.restores;
  }

  /// Another server, or the host after a new boot; it may lack what was stored last.
  void fail_over() {
    if (saved_ && pick(0, 1) == 0) restore();
    clock_.boot = fmt::format("boot-{}-{}", number_, ++boots_);
    if (!place_.lasting()) clock_.now_ms = pick(0, 100'000);
    clock_.up_ms = clock_.now_ms;
    place_.set(clock_);
    ++tally_.failovers;
  }

  std::set<std::string> waiting() {
    std::set<std::string> out;
    for (const auto& agent : agents_) {
      for (auto& claim : store::Spool(agent->spool).waiting_for(place_.store(0).uuid())) out.insert(claim);
    }
    return out;
  }

  struct Saved {
    World world;
    std::int64_t runs = 0;
  };

  Place& place_;
  fs::path folder_;
  Tally& tally_;
  std::mt19937_64 random_;
  std::int64_t number_;
  Oracle oracle_;
  plan::Campaign campaign_;
  Clock clock_;
  std::set<std::int64_t> dead_;
  std::int64_t boots_ = 0;
  std::int64_t next_value_ = 1'000;
  std::string id_;
  std::optional<Saved> saved_;
  std::vector<std::unique_ptr<Agent>> agents_;
};

int run(Place& place, const fs::path& folder, std::int64_t first, std::int64_t count) {
  Tally tally;
  Violations violations;
  json notes = json::array();
  std::int64_t violated = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t number = first; number < first + count; ++number) {
    if (number % kTogether == 0) place.empty();
    Schedule schedule(place, folder, number, tally);
    schedule.go();
    const auto& found = schedule.oracle().violations();
    violations.wrong += found.wrong;
    violations.lost += found.lost;
    violations.twice += found.twice;
    violations.early += found.early;
    violations.errors += found.errors;
    if (found.total() == 0) continue;
    ++violated;
    if (notes.size() < kNotes) notes.push_back(fmt::format("schedule {}: {}", number, schedule.oracle().notes()[0]));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout << json{{"schedules", count},           {"operations", tally.operations},
                    {"leases", tally.leases},       {"finished", tally.finished},
                    {"accepted", tally.accepted},   {"stale", tally.stale},
                    {"repeated", tally.repeated},   {"faults", tally.faults},
                    {"drops", tally.drops},         {"restores", tally.restores},
                    {"failovers", tally.failovers}, {"jumps", tally.jumps},
                    {"wrong", violations.wrong},    {"lost", violations.lost},
                    {"twice", violations.twice},    {"early", violations.early},
                    {"errors", violations.errors},  {"violated", violated},
                    {"seconds", seconds.count()},   {"notes", notes}}
                   .dump()
            << '\n';
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "sqlite" && argc == 5) {
      return run(*sqlite_place(argv[2]), argv[2], std::stoll(argv[3]), std::stoll(argv[4]));
    }
    if (what == "postgres" && argc == 6) {
      return run(*postgres_place(argv[2]), argv[3], std::stoll(argv[4]), std::stoll(argv[5]));
    }
  } catch (const std::exception& error) {
    std::cerr << "claims: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "claims sqlite FOLDER FIRST COUNT | claims postgres URL FOLDER FIRST COUNT\n";
  return 2;
}
