#include "assay/measure/rank/rank.hpp"

#include <algorithm>
#include <csignal>

#include "assay/core/clock.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/rank/session.hpp"
#include "assay/measure/rank/steps.hpp"
#include "assay/measure/rank/turns.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/memory.hpp"
#include "assay/platform/process.hpp"
#include "assay/process/spawn.hpp"

namespace assay::measure {
namespace {

constexpr double kMostExitSeconds = 30;
constexpr double kGraceSeconds = 1;
constexpr double kLeastWarmupSeconds = 0.1;  // of a scenario
// mpirun starts all ranks at once, and they have nothing to load before they meet.
constexpr double kMostMeetSeconds = 8;

/// The state of one process being measured.
class Rank {
 public:
  Rank(const Order& order, std::size_t number, const RankContext& surroundings)
      : order_(order),
        measure_(order.measure),
        process_(order.processes.at(number)),
        part_(order.parts.at(static_cast<std::size_t>(process_.part))),
        number_(static_cast<std::int64_t>(number)),
        sync_(surroundings.sync),
        watch_(surroundings, number_, measure_.memory_limit_bytes.value_or(platform::total_memory_bytes() / 20 * 19),
               energy_),
        start_session_(surroundings.start_session) {
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
    if (!process::end_tree(session_ ? session_->pid() : 0,
                           result_.outcome.kind == OutcomeKind::ok ? 0 : kGraceSeconds)) {
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
    if (gang_) peers = gang_->meet(meet_seconds, [this] { watch_.check_stop(); });
    session_ = start_session_(part_.argv, environment_, [this] { tick(); });
    // Its probe touches its memory while the worker's program is being loaded.
    steps_.emplace(measure_, part_, *session_, energy_, result_);
    stage_ = "prepare";
    const json request = prepare_request(part_, process_.rank, process_.instance, peers);
    auto prepared = session_->prepare(request, measure_.prepare_limit_seconds);
    result_.prepare_ns = monotonic_ns() - begin;
    result_.versions = std::move(prepared.versions);
    result_.parameters_built = prepared.parameters;
    result_.effective = std::move(prepared.effective);
    result_.weights_bytes = prepared.weights_bytes;
    result_.cache_bytes = prepared.cache_bytes;
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

  /// Slices until it gets no faster; how many there were.
  std::int64_t warm_up(double seconds) {
    std::int64_t turn = 0;
    do {
      steps_->take_slice(turn++, {seconds, measure_.max_samples}, true);
      tell_median();
    } while (steps_->needs_more_warmup());
    return turn;
  }

  /// Queries in place of steps. The warm-up says how long a step takes, and whether it takes real time.
  void measure_scenario(const Scenario& scenario) {
    steps_->begin(cpus_);
    steps_->take_queries(warm_up(std::max(measure_.warmup_seconds, kLeastWarmupSeconds)), scenario,
                         [this] { session_->attend(); });
    tell_median();
    steps_->finish();
  }

  /// From the first weights to the accuracy, or to the last epoch: a warm-up would have learnt already.
  void measure_learning(const Learning& learning) {
    steps_->begin(cpus_);
    Learned learned;
    while (learned.epochs < learning.epochs && !learned.reached) {
      steps_->take_epoch(learned.epochs, learning, learned);
      tell_median();
    }
    steps_->finish();
    result_.effective[kLearned] = to_json(learned);
  }

  void measure_alone() {
    if (const auto scenario = scenario_of(part_.trial.workload.load)) return measure_scenario(*scenario);
    if (const auto learning = learning_of(part_.trial.workload)) return measure_learning(*learning);
    steps_->begin(cpus_);
    double done_seconds = 0;
    std::int64_t done_samples = 0;
    std::int64_t turn = measure_.warmup_seconds > 0 ? warm_up(measure_.warmup_seconds) : 0;
    while (done_seconds < measure_.seconds && done_samples < measure_.max_samples) {
      const double seconds = std::min(measure_.slice_seconds, measure_.seconds - done_seconds);
      done_seconds += steps_->take_slice(turn++, {seconds, measure_.max_samples - done_samples}, false);
      done_samples += result_.slices.back().samples;
      tell_median();
    }
    steps_->finish();
    measure_details();
  }

  /// Between slices, so that nothing of it is timed. Of the first process; of the warm-up only as long as there is
  /// nothing else.
  void tell_median() {
    if (number_ == 0) sync_.tell_median(steps_->median_so_far());
  }

  void measure_details() {
    for (const auto& [name, amount] : steps_->details()) steps_->take_detail(name, amount);
  }

  /// The sides of a group in turns, a slice each. The first round is the warm-up; a turn of each side after the last is
  /// for its details.
  void measure_in_turns() {
    const auto tick = [this] { attend(); };
    const auto sides = static_cast<std::int64_t>(order_.parts.size());
    const auto members = static_cast<std::int64_t>(std::count_if(
        order_.processes.begin(), order_.processes.end(), [&](const auto& p) { return p.part == process_.part; }));
    steps_->begin(cpus_);
    double done_seconds = 0;
    std::int64_t done_samples = 0;
    std::int64_t turn = 0;
    rest();
    for (;; ++turn) {
      if (side_of_turn(turn, sides) != process_.part) continue;
      if (!sync_.wait_turn(turn, tick)) break;
      steps_->probe();  // while the worker still stands still: a thread of it that spins would slow the probe down
      go_on();
      if (round_of_turn(turn, sides) == 0) {
        if (measure_.warmup_seconds > 0)
          steps_->take_slice(turn, {measure_.warmup_seconds, measure_.max_samples}, true);
      } else {
        const std::int64_t steps = std::min(kSettlingSteps + measure_.pair_steps, measure_.max_samples - done_samples);
        done_seconds += steps_->take_slice(turn, {kForever, steps}, false);
        done_samples += result_.slices.back().samples;
      }
      rest();
      sync_.end_turn(turn, members, [&] {
        const bool ends_round = turn % sides == sides - 1 && turn >= sides;
        return ends_round && (done_seconds >= measure_.seconds || done_samples >= measure_.max_samples);
      });
    }
    steps_->finish();
    const std::int64_t detail_turn = sync_.stopped_at() + process_.part;
    const bool details = measure_.phases != false || measure_.layers;  // all sides decide the same
    if (details) sync_.wait_last_turn(detail_turn, tick);
    go_on();
    if (!details) return;
    measure_details();
    sync_.end_turn(detail_turn, members, [] { return false; });
  }

  /// Threads that spin while they wait for work would take the CPUs of the side whose turn it is: they stand still.
  void rest() { session_->signal(SIGSTOP); }
  void go_on() { session_->signal(SIGCONT); }

  /// Ranks work together only if all take the same number of steps: rank 0 decides it, the others follow.
  void measure_with_others() {
    steps_->begin(cpus_);
    if (process_.rank == 0) {
      lead_steps();
      steps_->finish();
      lead_details();
      gang_->lead({});
    } else {
      bool stepping = true;
      for (Turn turn = next_turn(); !turn.detail.empty(); turn = next_turn()) {
        if (stepping && turn.detail != "step") steps_->finish();
        stepping = turn.detail == "step";
        take_turn(turn);
      }
      if (stepping) steps_->finish();
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
      lead({"step", steps_->fitting(left > 0 ? left : measure_.warmup_seconds, measure_.max_samples), true});
      warm_seconds += steps_->last_slice_seconds();
    } while (warm_seconds < measure_.warmup_seconds || (measure_.warmup_seconds > 0 && steps_->needs_more_warmup()));
    double done_seconds = 0;
    std::int64_t done_samples = 0;
    while (done_seconds < measure_.seconds && done_samples < measure_.max_samples) {
      const double seconds = std::min(measure_.slice_seconds, measure_.seconds - done_seconds);
      lead({"step", steps_->fitting(seconds, measure_.max_samples - done_samples), false});
      done_seconds += steps_->last_slice_seconds();
      done_samples += result_.slices.back().samples;
    }
  }

  void lead_details() {
    for (const auto& [name, amount] : steps_->details()) {
      lead({name, steps_->fitting(amount.seconds, amount.max_samples), false});
    }
  }

  void take_turn(const Turn& turn) {
    if (turn.detail == "step") {
      steps_->take_slice(static_cast<std::int64_t>(result_.slices.size()), {kForever, turn.samples}, turn.warmup);
    } else {
      steps_->take_detail(turn.detail, {kForever, turn.samples});
    }
  }

  void leave() {
    stage_ = "exit";
    const double patience = std::min(measure_.limit_seconds, kMostExitSeconds);
    if (!(steps_->refused_phases() ? session_->wait_end(patience) : session_->exit(patience))) {
      worker_failed(OutcomeKind::timed_out, fmt::format("did not end within {} s of being asked to", patience));
    }
    result_.peak_memory_bytes = session_->peak_memory_bytes();
  }

  void tick() { watch_.look(session_->pid(), gang_ ? &*gang_ : nullptr); }

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
  std::optional<std::int64_t> oom_kills_;
  const char* stage_ = "start";
  std::vector<std::int64_t> cpus_;
  std::vector<std::string> environment_;
  std::optional<HostEnergy> energy_;  ///< in the first process of a host
  std::optional<Gang> gang_;          ///< where this is one of several ranks
  WorkerWatch watch_;
  const StartSession& start_session_;
  std::unique_ptr<Session> session_;
  std::optional<Steps> steps_;
  RankResult result_;
};

}  // namespace

RankResult run_rank(const Order& order, std::size_t number, const RankContext& surroundings) {
  return Rank(order, number, surroundings).run();
}

}  // namespace assay::measure
