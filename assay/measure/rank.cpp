#include "assay/measure/rank.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <numeric>

#include "assay/core/clock.hpp"
#include "assay/core/hash.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/host_energy.hpp"
#include "assay/measure/session.hpp"
#include "assay/measure/spawn.hpp"
#include "assay/platform/counters.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/memory.hpp"
#include "assay/platform/probe.hpp"
#include "assay/platform/process.hpp"
#include "assay/stats/steady.hpp"

namespace assay::measure {
namespace {

constexpr double kMostExitSeconds = 30;
constexpr double kGraceSeconds = 1;
constexpr std::int64_t kProbeEveryNs = 50'000'000;
constexpr std::int64_t kDetailSamples = 50;  // enough for a median of every phase or layer
// Phases are timed in every run that can, so they must not make runs noticeably longer; layers only on request.
constexpr double kPhasesShare = 0.1;
constexpr double kLayersShare = 0.5;
// Steps that are counted and not timed have no end of their own.
constexpr double kForever = 1e6;
constexpr double kStoppedSeconds = 3;
// mpirun starts all ranks at once, and they have nothing to load before they meet.
constexpr double kMostMeetSeconds = 8;

/// The state of one process being measured.
class Rank {
 public:
  Rank(const Order& order, std::size_t number, const Surroundings& surroundings)
      : order_(order),
        measure_(order.measure),
        process_(order.processes.at(number)),
        part_(order.parts.at(static_cast<std::size_t>(process_.part))),
        number_(static_cast<std::int64_t>(number)),
        sync_(surroundings.sync),
        stop_(surroundings.stop),
        directory_(surroundings.directory),
        memory_limit_(measure_.memory_limit_bytes.value_or(platform::total_memory_bytes() / 20 * 19)) {
    result_.rank = process_.rank;
    result_.cpus = process_.cpus;
    if (order.meeting) {
      result_.host = hash_hex(platform::boot_id()).substr(0, 8);
      gang_.emplace(*order.meeting, surroundings.directory, process_.rank,
                    static_cast<std::int64_t>(order.processes.size()));
    }
    oom_kills_ = platform::oom_kills();
  }

  RankResult run() {
    try {
      place();
      prepare();
      if (gang_) {
        gang_->barrier([this] { attend(); });
        measure_with_others();
      } else {
        sync_.start_together(static_cast<std::int64_t>(order_.processes.size()), [this] { attend(); });
        order_.lockstep ? measure_in_turns() : measure_alone();
      }
      leave();
    } catch (const WorkerFailure& failure) {
      take_failure(failure.outcome);
    } catch (const Error& error) {
      take_failure({OutcomeKind::interrupted, error.what(), {}, {}, {}, {}});
    }
    if (!end_tree(session_ ? session_->pid() : 0, result_.outcome.kind == OutcomeKind::ok ? 0 : kGraceSeconds)) {
      result_.notes.emplace_back("a process of the worker could not be ended within 5 s");
    }
    return std::move(result_);
  }

 private:
  void place() {
    stage_ = "start";
    cpus_ = platform::allowed_cpus();
    if (!process_.cpus.empty()) {
      if (!platform::pin_to(process_.cpus)) worker_failed(OutcomeKind::refused, "the CPUs chosen are not allowed here");
      cpus_ = process_.cpus;
    }
    const auto& settings = part_.trial.settings;
    if (settings.memory_bind && !platform::bind_memory(*settings.memory_bind)) {
      result_.notes.push_back(fmt::format("memory_bind {} was refused by the kernel", name_of(*settings.memory_bind)));
    }
    environment_ = as_list(part_.environment);
    if (gang_) append_launcher_variables(environment_);
    if (settings.allocator && *settings.allocator != Allocator::system) {
      const auto library = find_allocator(*settings.allocator);
      if (!library) {
        worker_failed(OutcomeKind::refused,
                      fmt::format("allocator {} is not installed here", name_of(*settings.allocator)));
      }
      environment_.push_back("LD_PRELOAD=" + library->string());
    }
  }

  void prepare() {
    const std::int64_t begin = monotonic_ns();
    std::vector<std::string> peers;
    const double meet_seconds = std::min(measure_.prepare_limit_seconds, kMostMeetSeconds);
    if (gang_) peers = gang_->meet(meet_seconds, [this] { check_stop(); });
    session_.emplace(part_.argv, environment_, [this] { tick(); });
    probe_.emplace();  // touches its memory while the worker's program is being loaded
    stage_ = "prepare";
    const json request = prepare_request(part_, process_.rank, process_.instance, peers);
    auto prepared = session_->prepare(request, measure_.prepare_limit_seconds);
    result_.prepare_ns = monotonic_ns() - begin;
    result_.versions = std::move(prepared.versions);
    result_.parameters_built = prepared.parameters;
    result_.effective = std::move(prepared.effective);
    check_network();
    if (is_first_on_host(process_.rank, process_.instance)) energy_.emplace(order_, part_);
    stage_ = "measure";
  }

  /// The same workload is the same network everywhere.
  void check_network() const {
    if (part_.graph.is_null()) return;
    const auto wanted = part_.graph.value("parameters", std::int64_t{0});
    if (result_.parameters_built == wanted) return;
    worker_failed(
        OutcomeKind::bad_output,
        fmt::format("it built {} parameters where {} has {}",
                    result_.parameters_built ? std::to_string(*result_.parameters_built) : "an unknown number of",
                    part_.trial.workload.network, wanted));
  }

  void measure_alone() {
    const auto before = read_counters();
    double done_seconds = 0;
    std::int64_t done_samples = 0;
    std::int64_t turn = 0;
    if (measure_.warmup_seconds > 0) {
      do {
        take_slice(turn++, {measure_.warmup_seconds, measure_.max_samples}, true);
      } while (needs_more_warmup());
    }
    while (done_seconds < measure_.seconds && done_samples < measure_.max_samples) {
      const double seconds = std::min(measure_.slice_seconds, measure_.seconds - done_seconds);
      done_seconds += take_slice(turn++, {seconds, measure_.max_samples - done_samples}, false);
      done_samples += result_.slices.back().samples;
    }
    finish_steps(before);
    measure_details();
  }

  /// A run that still gets faster goes on warming up, within limits.
  bool needs_more_warmup() const {
    double seconds = 0;
    for (const auto ns : result_.samples_ns) seconds += static_cast<double>(ns) / 1e9;
    const double cap = measure_.warmup_cap_seconds.value_or(10 * measure_.warmup_seconds);
    return seconds + measure_.warmup_seconds <= cap &&
           stats::still_warming({result_.samples_ns.begin(), result_.samples_ns.end()});
  }

  /// Partners in alternating slices. The first round is the warm-up; two turns after the last are the details of either
  /// side.
  void measure_in_turns() {
    const auto tick = [this] { attend(); };
    const auto members = static_cast<std::int64_t>(std::count_if(
        order_.processes.begin(), order_.processes.end(), [&](const auto& p) { return p.part == process_.part; }));
    const auto before = read_counters();
    double done_seconds = 0;
    std::int64_t done_samples = 0;
    std::int64_t turn = 0;
    rest();
    for (;; ++turn) {
      if (side_of_turn(turn) != process_.part) continue;
      if (!sync_.wait_turn(turn, tick)) break;
      go_on();
      if (turn < 2) {
        if (measure_.warmup_seconds > 0) take_slice(turn, {measure_.warmup_seconds, measure_.max_samples}, true);
      } else {
        const std::int64_t steps = std::min(measure_.pair_steps, measure_.max_samples - done_samples);
        done_seconds += take_slice(turn, {kForever, steps}, false);
        done_samples += result_.slices.back().samples;
      }
      rest();
      sync_.end_turn(turn, members, [&] {
        return turn >= 2 && turn % 2 == 1 && (done_seconds >= measure_.seconds || done_samples >= measure_.max_samples);
      });
    }
    finish_steps(before);
    const std::int64_t detail_turn = sync_.stopped_at() + process_.part;
    const bool details = measure_.phases != false || measure_.layers;  // both sides of a pair decide the same
    if (details) sync_.wait_last_turn(detail_turn, tick);
    go_on();
    if (!details) return;
    measure_details();
    sync_.end_turn(detail_turn, members, [] { return false; });
  }

  /// Threads that spin while they wait for work would take the partner's CPUs: they stand still while it is its turn.
  void rest() { session_->signal(SIGSTOP); }
  void go_on() { session_->signal(SIGCONT); }

  /// Ranks work together only if all take the same number of steps: rank 0 decides it, the others follow.
  void measure_with_others() {
    const auto before = read_counters();
    if (process_.rank == 0) {
      lead_steps();
      finish_steps(before);
      lead_details();
      gang_->lead({});
    } else {
      bool stepping = true;
      for (Turn turn = next_turn(); !turn.detail.empty(); turn = next_turn()) {
        if (stepping && turn.detail != "step") finish_steps(before);
        stepping = turn.detail == "step";
        take_turn(turn);
      }
      if (stepping) finish_steps(before);
    }
    gang_->leave();
  }

  Turn next_turn() {
    return gang_->follow([this] { attend(); });
  }

  void lead(const Turn& turn) {
    gang_->lead(turn);
    take_turn(turn);
  }

  /// One step tells how long they take; then as many at once as fit a slice.
  void lead_steps() {
    double warm_seconds = 0;
    do {
      const double left = measure_.warmup_seconds - warm_seconds;
      lead({"step", steps_in(left > 0 ? left : measure_.warmup_seconds, measure_.max_samples), true});
      warm_seconds += last_slice_seconds();
    } while (warm_seconds < measure_.warmup_seconds || (measure_.warmup_seconds > 0 && needs_more_warmup()));
    double done_seconds = 0;
    std::int64_t done_samples = 0;
    while (done_seconds < measure_.seconds && done_samples < measure_.max_samples) {
      const double seconds = std::min(measure_.slice_seconds, measure_.seconds - done_seconds);
      lead({"step", steps_in(seconds, measure_.max_samples - done_samples), false});
      done_seconds += last_slice_seconds();
      done_samples += result_.slices.back().samples;
    }
  }

  void lead_details() {
    if (measure_.layers) lead({"layers", steps_in(measure_.seconds * kLayersShare, kDetailSamples), false});
    if (wants_phases()) lead({"phases", steps_in(measure_.seconds * kPhasesShare, kDetailSamples), false});
  }

  void take_turn(const Turn& turn) {
    if (turn.detail == "step") {
      take_slice(static_cast<std::int64_t>(result_.slices.size()), {kForever, turn.samples}, turn.warmup);
    } else if (turn.detail == "layers") {
      measure_layers({kForever, turn.samples});
    } else {
      try_phases({kForever, turn.samples});
    }
  }

  double last_slice_seconds() const {
    const auto& slice = result_.slices.back();
    return std::max(1e-9, static_cast<double>(slice.end_ns - slice.begin_ns) / 1e9);
  }

  /// How many steps of the last slice's pace fit; at least one, and one before anything is known.
  std::int64_t steps_in(double seconds, std::int64_t most) const {
    if (result_.slices.empty()) return 1;
    const double pace = last_slice_seconds() / static_cast<double>(result_.slices.back().samples);
    return static_cast<std::int64_t>(std::clamp(seconds / pace, 1.0, static_cast<double>(most)));
  }

  /// What one `measure` is asked for.
  struct Amount {
    double seconds;
    std::int64_t max_samples;
  };

  /// Steps that are counted take what they take; those before tell how long that should be.
  double patience(const Amount& amount) const {
    if (amount.seconds < kForever) return amount.seconds + measure_.limit_seconds;
    double step = 0;
    for (const auto ns : result_.samples_ns) {
      step += static_cast<double>(ns) / 1e9 / static_cast<double>(result_.samples_ns.size());
    }
    return 3 * step * static_cast<double>(amount.max_samples) + measure_.limit_seconds;
  }

  Measured measure(const std::string& detail, const Amount& amount) {
    return session_->measure(detail, amount.seconds, amount.max_samples, patience(amount));
  }

  /// One `measure`, with the speed probe before it where the last one is a while ago; seconds of steps it took.
  double take_slice(std::int64_t turn, const Amount& amount, bool warmup) {
    Slice slice;
    slice.turn = turn;
    slice.warmup = warmup;
    // Often enough to see the host slow down, seldom enough not to outweigh slices of a few short steps.
    if (monotonic_ns() - probed_ns_ >= kProbeEveryNs) {
      slice.probe_ns = probe_->run();
      probed_ns_ = monotonic_ns();
    }
    const bool counts = energy_ && !warmup;
    if (counts) energy_->begin();
    const auto measured = measure("step", amount);
    if (counts) energy_->end();
    slice.begin_ns = measured.begin_ns;
    slice.end_ns = measured.end_ns;
    slice.samples = static_cast<std::int64_t>(measured.samples_ns.size());
    result_.slices.push_back(slice);
    result_.samples_ns.insert(result_.samples_ns.end(), measured.samples_ns.begin(), measured.samples_ns.end());
    return static_cast<double>(
               std::accumulate(measured.samples_ns.begin(), measured.samples_ns.end(), std::int64_t{0})) /
           1e9;
  }

  void finish_steps(const platform::Counters& before) {
    if (energy_) {
      result_.energy = energy_->total();
      if (const auto problem = energy_->problem()) result_.notes.push_back("no energy: " + *problem);
    }
    result_.probe_after_ns = probe_->run();
    std::int64_t measured_ns = 0;
    for (const auto& slice : result_.slices) measured_ns += slice.end_ns - slice.begin_ns;
    result_.disturbance = platform::between(before, read_counters(), cpus_, measured_ns);
  }

  void measure_details() {
    if (measure_.layers) measure_layers({measure_.seconds * kLayersShare, kDetailSamples});
    if (wants_phases()) try_phases({measure_.seconds * kPhasesShare, kDetailSamples});
  }

  bool wants_phases() const {
    const auto& offers = part_.details;
    return measure_.phases.value_or(std::find(offers.begin(), offers.end(), "phases") != offers.end());
  }

  void measure_layers(const Amount& amount) {
    auto measured = measure("layers", amount);
    result_.layer_step_ns = std::move(measured.samples_ns);
    result_.layers = std::move(measured.layers);
  }

  void try_phases(const Amount& amount) {
    try {
      auto measured = measure("phases", amount);
      result_.phase_step_ns = std::move(measured.samples_ns);
      result_.phases_ns = std::move(measured.phases_ns);
      result_.buckets = std::move(measured.buckets);
    } catch (const WorkerFailure& failure) {
      // Nobody asked for them, and the steps are there. After its refusal the worker ends, so this comes last.
      if (measure_.phases || failure.outcome.kind != OutcomeKind::refused) throw;
      result_.notes.push_back("no phases: " + failure.outcome.message);
      refused_phases_ = true;
    }
  }

  void leave() {
    stage_ = "exit";
    const double patience = std::min(measure_.limit_seconds, kMostExitSeconds);
    if (!(refused_phases_ ? session_->wait_end(patience) : session_->exit(patience))) {
      worker_failed(OutcomeKind::timed_out, fmt::format("did not end within {} s of being asked to", patience));
    }
    result_.peak_memory_bytes = session_->peak_memory_bytes();
  }

  /// The worker and what it started: descendants of this process, which starts nothing else but a meter.
  std::vector<pid_t> tree() const {
    auto tree = platform::descendants(getpid());
    if (const auto meter = energy_ ? energy_->meter_pid() : std::nullopt) std::erase(tree, *meter);
    return tree;
  }

  platform::Counters read_counters() const { return platform::read_counters(cpus_, tree()); }

  void check_stop() const {
    if (stop_ != 0) worker_failed(OutcomeKind::interrupted, "Assay was told to stop");
  }

  /// On another host than the agent nothing tells that the agent is gone or has given the run up, but this.
  void check_directory() const {
    if (std::error_code error; !std::filesystem::exists(directory_, error) && !error) {
      worker_failed(OutcomeKind::interrupted, "nobody waits for this run any more: its directory is gone");
    }
  }

  /// The other ranks would wait for it without end.
  void check_stopped_worker() {
    if (!platform::is_stopped(session_->pid())) {
      stopped_since_ns_ = 0;
      return;
    }
    if (stopped_since_ns_ == 0) stopped_since_ns_ = monotonic_ns();
    if (static_cast<double>(monotonic_ns() - stopped_since_ns_) > kStoppedSeconds * 1e9) {
      worker_failed(OutcomeKind::timed_out, fmt::format("its worker has been stopped for {} s", kStoppedSeconds));
    }
  }

  /// While the worker works: is somebody telling us to stop, are the others there, is it growing too large?
  void tick() {
    check_stop();
    if (gang_) {
      gang_->attend();
      check_stopped_worker();
    } else if (const auto culprit = sync_.aborted_by(); culprit && *culprit != number_) {
      worker_failed(OutcomeKind::interrupted, fmt::format("ended because process {} of the same run failed", *culprit));
    }
    // The worker itself at every tick, everything it started once a second: walking a tree costs CPU that is measured.
    const bool whole_tree = monotonic_ns() >= next_tree_check_ns_;
    if (whole_tree) next_tree_check_ns_ = monotonic_ns() + 1'000'000'000;
    if (whole_tree && gang_) check_directory();
    const std::int64_t resident = platform::resident_bytes(whole_tree ? tree() : std::vector<pid_t>{session_->pid()});
    if (resident <= memory_limit_) return;
    // Forked children share pages with their parent and would each count them: make sure before ending anything.
    const std::int64_t used = platform::proportional_bytes(tree()).value_or(resident);
    if (used > memory_limit_) {
      worker_failed(OutcomeKind::out_of_memory, fmt::format("{} bytes in use, the limit is {}", used, memory_limit_));
    }
  }

  /// While others work: the same, and the worker must still be there and silent.
  void attend() {
    tick();
    session_->attend();
  }

  void take_failure(Outcome outcome) {
    if (outcome.signal && *outcome.signal == SIGKILL && oom_kills_ && platform::oom_kills() > oom_kills_) {
      outcome.kind = OutcomeKind::out_of_memory;
      outcome.message = "ended by the kernel because memory ran out";
    }
    outcome.stage = stage_;
    if (session_) go_on();  // what is stopped cannot end by itself
    if (session_ && !session_->stderr_tail().empty()) outcome.stderr_tail = session_->stderr_tail();
    result_.outcome = std::move(outcome);
    gang_ ? gang_->fail(result_.outcome.message) : sync_.abort(number_);
  }

  const Order& order_;
  const Measure& measure_;
  const Process& process_;
  const Part& part_;
  const std::int64_t number_;
  Sync& sync_;
  const volatile std::sig_atomic_t& stop_;
  const std::filesystem::path& directory_;
  const std::int64_t memory_limit_;
  std::optional<std::int64_t> oom_kills_;
  std::int64_t next_tree_check_ns_ = 0;
  std::int64_t probed_ns_ = -kProbeEveryNs;
  const char* stage_ = "start";
  bool refused_phases_ = false;
  std::vector<std::int64_t> cpus_;
  std::vector<std::string> environment_;
  std::optional<platform::SpeedProbe> probe_;
  std::optional<Session> session_;
  std::optional<HostEnergy> energy_;  ///< in the first process of a host
  std::optional<Gang> gang_;          ///< where this is one of several ranks
  std::int64_t stopped_since_ns_ = 0;
  RankResult result_;
};

}  // namespace

std::int64_t side_of_turn(std::int64_t turn) {
  const std::int64_t round = turn / 2;
  return (turn % 2) ^ (round % 2);
}

RankResult run_rank(const Order& order, std::size_t number, const Surroundings& surroundings) {
  return Rank(order, number, surroundings).run();
}

}  // namespace assay::measure
