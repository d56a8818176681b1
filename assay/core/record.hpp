#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/core/trial.hpp"

namespace assay {

constexpr std::int64_t kRecordVersion = 1;

/// How a run ended. Everything but `interrupted` is final unless the run is measured again for its validity.
enum class OutcomeKind {
  ok,
  refused,        ///< the worker cannot do this workload or these settings, and said so
  failed,         ///< the worker reported an error of the framework
  crashed,        ///< the worker ended without a result
  out_of_memory,  ///< the worker passed its memory limit, or the kernel ended it for memory
  timed_out,      ///< the worker said nothing within the limit
  bad_output,     ///< the worker broke the protocol
  not_started,    ///< the worker's program could not be started
  interrupted,    ///< a process of Assay's own was lost; the run is measured again
};

template <>
struct EnumNames<OutcomeKind> {
  static constexpr std::array<const char*, 9> names{
      "ok", "refused", "failed", "crashed", "out_of_memory", "timed_out", "bad_output", "not_started", "interrupted"};
};

/// How a run or one of its processes ended.
struct Outcome {
  OutcomeKind kind = OutcomeKind::ok;
  std::string message;               ///< for a person; empty when ok
  std::optional<std::string> stage;  ///< start, prepare, measure or exit
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::optional<std::string> stderr_tail;  ///< the last lines the worker wrote, when it did not end well
};

template <typename V>
void describe(V& v, Outcome& o) {
  required(v, "kind", o.kind);
  v("message", o.message);
  v("stage", o.stage);
  v("exit_code", o.exit_code);
  v("signal", o.signal);
  v("stderr_tail", o.stderr_tail);
}

/// What else went on while the worker was timed. Null: could not be read, never 0.
struct Disturbance {
  std::optional<std::int64_t> window_ns;  ///< the time these counters cover
  /// Of it, while this process itself ran steps; the partner's slices of a pair are left out.
  std::optional<std::int64_t> measured_ns;
  std::optional<std::int64_t> cpus;                  ///< how many CPUs they cover: those the worker may use
  std::optional<std::int64_t> steal_ns;              ///< taken by the hypervisor from the CPUs allowed
  std::optional<std::int64_t> cpu_pressure_ns;       ///< somebody waited for a CPU (/proc/pressure/cpu, some)
  std::optional<std::int64_t> involuntary_switches;  ///< of the worker's threads
  std::optional<std::int64_t> cpu_ns;  ///< used by the worker's tree, also by threads and children that have ended
  std::optional<std::int64_t> assay_cpu_ns;  ///< used by assay-rank itself: its speed probe
  std::optional<std::int64_t> threads;       ///< of the worker's tree, alive at the end
  /// Of them, those that ran for 20 % of measured_ns, or ran or waited for a CPU for 50 % of it. Null where threads
  /// that have ended did much of the work.
  std::optional<std::int64_t> active_threads;
  std::optional<double> quota_cpus;           ///< CPUs that a cgroup quota leaves the worker; null: no quota
  std::optional<std::int64_t> wait_ns;        ///< the worker's threads were runnable but not running
  std::optional<std::int64_t> other_cpu_ns;   ///< used by everybody else on the CPUs allowed
  std::optional<std::int64_t> throttled_ns;   ///< lost to a cgroup quota
  std::optional<std::int64_t> swap_bytes;     ///< swapped in or out
  std::optional<std::int64_t> major_faults;   ///< of the worker's tree: pages that had to be read from a disk
  std::optional<std::int64_t> frequency_khz;  ///< of the first CPU allowed, at the end
};

template <typename V>
void describe(V& v, Disturbance& d) {
  v("window_ns", d.window_ns);
  v("measured_ns", d.measured_ns);
  v("cpus", d.cpus);
  v("steal_ns", d.steal_ns);
  v("cpu_pressure_ns", d.cpu_pressure_ns);
  v("involuntary_switches", d.involuntary_switches);
  v("cpu_ns", d.cpu_ns);
  v("assay_cpu_ns", d.assay_cpu_ns);
  v("threads", d.threads);
  v("active_threads", d.active_threads);
  v("quota_cpus", d.quota_cpus);
  v("wait_ns", d.wait_ns);
  v("other_cpu_ns", d.other_cpu_ns);
  v("throttled_ns", d.throttled_ns);
  v("swap_bytes", d.swap_bytes);
  v("major_faults", d.major_faults);
  v("frequency_khz", d.frequency_khz);
}

/// Consecutive samples that one `measure` gave.
struct Slice {
  std::int64_t turn = 0;      ///< position among all slices of a lock-step group, or of the run
  std::int64_t begin_ns = 0;  ///< monotonic, on the worker's host
  std::int64_t end_ns = 0;
  std::int64_t samples = 0;
  bool warmup = false;
  std::optional<std::int64_t> probe_ns;  ///< the speed probe just before it; null where the last was a moment ago
};

template <typename V>
void describe(V& v, Slice& s) {
  v("turn", s.turn);
  v("begin_ns", s.begin_ns);
  v("end_ns", s.end_ns);
  v("samples", s.samples);
  v("warmup", s.warmup);
  v("probe_ns", s.probe_ns);
}

/// Times of one node of the graph, one value a step.
struct Layer {
  std::string node;
  std::vector<std::int64_t> forward_ns;
  std::vector<std::int64_t> backward_ns;  ///< empty when inferring
};

template <typename V>
void describe(V& v, Layer& l) {
  required(v, "node", l.node);
  v("forward_ns", l.forward_ns);
  v("backward_ns", l.backward_ns);
}

/// A piece of the gradients that ranks exchange at once, in the passes that timed phases.
struct Bucket {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> ns;         ///< of its exchange, one value a step
  std::vector<std::int64_t> hidden_ns;  ///< of that, during the backward pass
};

template <typename V>
void describe(V& v, Bucket& b) {
  required(v, "bytes", b.bytes);
  v("ns", b.ns);
  v("hidden_ns", b.hidden_ns);
}

/// Energy of a whole host while steps were timed: warm-up, speed probes and details apart.
struct Energy {
  std::string source;  ///< rapl, nvml, rapl+nvml, or meter: a program of the user's
  double joules = 0;
  std::int64_t ns = 0;                ///< of time that it covers
  std::vector<std::string> counters;  ///< what was added up
};

template <typename V>
void describe(V& v, Energy& e) {
  required(v, "source", e.source);
  required(v, "joules", e.joules);
  required(v, "ns", e.ns);
  v("counters", e.counters);
}

/// What one process of a run leaves, an instance or a rank: assay-rank writes it as rank-N.json.
struct RankResult {
  std::int64_t rank = 0;
  std::optional<std::string> host;  ///< the same for all ranks that ran on one host; null where there was only one
  Outcome outcome;
  std::map<std::string, std::string> versions;  ///< of the framework and what it stands on
  std::optional<std::int64_t> parameters_built;
  json effective = json::object();       ///< settings that took effect, read back by the worker
  std::vector<std::int64_t> samples_ns;  ///< every step, warm-up included, in order
  std::vector<Slice> slices;             ///< cover samples_ns in order
  /// Where text is generated: for every step of samples_ns, sequence after sequence, when each token was there, counted
  /// from the beginning of the step.
  std::vector<std::int64_t> tokens_ns;
  std::optional<std::int64_t> weights_bytes;  ///< of the model as the engine holds it
  std::optional<std::int64_t> cache_bytes;    ///< of keys and values, for all sequences
  std::map<std::string, std::vector<std::int64_t>>
      phases_ns;                            ///< per phase, one value a step, from passes of their own
  std::vector<std::int64_t> phase_step_ns;  ///< the whole step of the same passes
  std::vector<Bucket> buckets;              ///< exchange of gradients in the same passes
  std::vector<Layer> layers;
  std::vector<std::int64_t> layer_step_ns;     ///< the whole step of the passes that timed layers
  std::optional<std::int64_t> probe_after_ns;  ///< the speed probe after the last slice
  std::optional<std::int64_t> peak_memory_bytes;
  std::optional<std::int64_t> prepare_ns;  ///< from start of the worker to `prepared`
  Disturbance disturbance;
  std::optional<Energy> energy;  ///< of its host; only the first process of a host tells, and null where nothing counts
  std::vector<std::int64_t> cpus;  ///< CPUs it was pinned to; empty when not pinned
  std::vector<std::string> notes;  ///< what a person should know, such as a refused memory policy
  std::optional<LoadRun> load;     ///< of requests to a server
};

template <typename V>
void describe(V& v, RankResult& r) {
  v("rank", r.rank);
  v("host", r.host);
  required(v, "outcome", r.outcome);
  v("versions", r.versions);
  v("parameters_built", r.parameters_built);
  v("effective", r.effective);
  v("samples_ns", r.samples_ns);
  v("slices", r.slices);
  v("tokens_ns", r.tokens_ns);
  v("weights_bytes", r.weights_bytes);
  v("cache_bytes", r.cache_bytes);
  v("phases_ns", r.phases_ns);
  v("phase_step_ns", r.phase_step_ns);
  v("buckets", r.buckets);
  v("layers", r.layers);
  v("layer_step_ns", r.layer_step_ns);
  v("probe_after_ns", r.probe_after_ns);
  v("peak_memory_bytes", r.peak_memory_bytes);
  v("prepare_ns", r.prepare_ns);
  v("disturbance", r.disturbance);
  v("energy", r.energy);
  v("cpus", r.cpus);
  v("notes", r.notes);
  v("load", r.load);
}

/// What stood in the way of a run.
struct Reason {
  std::string code;     ///< steal, neighbours, swap, probe: they pass; throttled, oversubscribed: they stay
  std::string message;  ///< with the figures, and what to do
  bool passing =
      true;  ///< false: it is in the settings or in limits of the machine, and measuring again shows it again
};

template <typename V>
void describe(V& v, Reason& r) {
  required(v, "code", r.code);
  v("message", r.message);
  v("passing", r.passing);
}

/// Whether a run's numbers say what its trial does on its platform.
struct Validity {
  bool trusted = true;  ///< false where a passing reason spoiled them: such a run is measured again
  std::vector<Reason> reasons;
};

template <typename V>
void describe(V& v, Validity& x) {
  v("trusted", x.trusted);
  v("reasons", x.reasons);
}

/// Order statistics around a quantile of a run's samples. Each end holds with 99 % confidence where samples are
/// independent.
struct QuantileInterval {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
};

template <typename V>
void describe(V& v, QuantileInterval& i) {
  required(v, "low_ns", i.low_ns);
  required(v, "high_ns", i.high_ns);
}

/// Figures of a run's samples after the warm-up, kept beside them so that readers decode nothing.
struct Summary {
  std::int64_t n = 0;            ///< samples in all, warm-up included
  std::int64_t steady_from = 0;  ///< index of the first sample that is summarised
  std::optional<std::int64_t> median_ns;
  std::optional<std::int64_t> p90_ns;          ///< null below 64 samples that are summarised
  std::optional<std::int64_t> p99_ns;          ///< null below 662
  std::optional<std::int64_t> steady_samples;  ///< that are summarised; null in records of older versions
  std::optional<QuantileInterval> p90_interval;
  std::optional<QuantileInterval> p99_interval;
  std::optional<double> samples_per_second;  ///< of the whole run: batch x steps of all instances over time
  std::optional<double> watts;  ///< power of all hosts while steps were timed; null where one of them does not tell
  std::optional<double> samples_per_joule;
  std::optional<GeneratedSummary> generated;  ///< where text is generated
  std::int64_t summary_version = 1;
};

/// The run's time of this; null where it has none.
std::optional<std::int64_t> time_of(const Summary& summary, TimeOf what);

template <typename V>
void describe(V& v, Summary& s) {
  v("n", s.n);
  v("steady_from", s.steady_from);
  v("median_ns", s.median_ns);
  v("p90_ns", s.p90_ns);
  v("p99_ns", s.p99_ns);
  v("steady_samples", s.steady_samples);
  v("p90_interval", s.p90_interval);
  v("p99_interval", s.p99_interval);
  v("samples_per_second", s.samples_per_second);
  v("watts", s.watts);
  v("samples_per_joule", s.samples_per_joule);
  v("generated", s.generated);
  v("summary_version", s.summary_version);
}

/// How a run's samples came to their steady state.
enum class SteadyKind {
  flat,             ///< there from the first sample on
  warm_up,          ///< slower before
  slow_down,        ///< faster before
  no_steady_state,  ///< still changing in the last third; nothing is cut off then
};

template <>
struct EnumNames<SteadyKind> {
  static constexpr std::array<const char*, 4> names{"flat", "warm_up", "slow_down", "no_steady_state"};
};

/// The steady state of a run's samples, warm-up included.
struct Steady {
  SteadyKind kind = SteadyKind::flat;     ///< of several processes the last in the list above
  std::optional<double> autocorrelation;  ///< of neighbouring samples that are summarised; near 0: independent
};

template <typename V>
void describe(V& v, Steady& s) {
  required(v, "kind", s.kind);
  v("autocorrelation", s.autocorrelation);
}

enum class PairSide { a, b };  ///< the reference of a lock-step group, and each of the others

template <>
struct EnumNames<PairSide> {
  static constexpr std::array<const char*, 2> names{"a", "b"};
};

/// Set on the records of runs measured in lock-step: a group of two or more.
struct Pair {
  std::string id;
  PairSide side = PairSide::a;
};

template <typename V>
void describe(V& v, Pair& p) {
  required(v, "id", p.id);
  required(v, "side", p.side);
}

/// Who brought a record to its store.
struct Writer {
  std::string role;   ///< of the database, or the user where the store is a file
  std::string host;   ///< of the process that took the run
  std::string agent;  ///< that process: boot id, pid and start time
};

template <typename V>
void describe(V& v, Writer& w) {
  required(v, "role", w.role);
  required(v, "host", w.host);
  required(v, "agent", w.agent);
}

/// What a run leaves.
struct Record {
  std::int64_t record_version = kRecordVersion;
  std::string campaign;  ///< id of the campaign
  std::string trial;     ///< id of the trial
  std::int64_t index = 0;
  std::int64_t attempt = 0;
  bool counted = true;  ///< false for an attempt that was measured again
  Outcome outcome;
  Validity validity;
  Summary summary;
  std::optional<Steady> steady;  ///< null where there are too few samples to tell
  std::optional<Pair> pair;
  /// Natural logarithm of this side's step over that of side a of its group: the median over the rounds. Null on side
  /// a, but in older records of pairs, which have their partner's there.
  std::optional<double> pair_log_ratio;
  std::string platform;          ///< id of the machine
  json state = json::object();   ///< of the machine when this run began: MachineState of doctor.schema.json
  std::string started_utc;       ///< RFC 3339, UTC
  std::int64_t duration_ns = 0;  ///< from taking the run to having its result
  std::string assay_version;
  std::optional<Writer> writer;  ///< as the store noted it; null in records that are older than that
  std::vector<RankResult> ranks;
};

template <typename V>
void describe(V& v, Record& r) {
  required(v, "record_version", r.record_version);
  required(v, "campaign", r.campaign);
  required(v, "trial", r.trial);
  required(v, "index", r.index);
  v("attempt", r.attempt);
  v("counted", r.counted);
  required(v, "outcome", r.outcome);
  v("validity", r.validity);
  v("summary", r.summary);
  v("steady", r.steady);
  v("pair", r.pair);
  v("pair_log_ratio", r.pair_log_ratio);
  v("platform", r.platform);
  v("state", r.state);
  v("started_utc", r.started_utc);
  v("duration_ns", r.duration_ns);
  v("assay_version", r.assay_version);
  v("writer", r.writer);
  v("ranks", r.ranks);
}

/// Throws Error{bad_input} where parts contradict each other: slices that do not cover the samples, a negative sample,
/// tokens that cannot be dealt out to the steps, a version newer than this program knows.
void check(const Record& record);
void check(const RankResult& rank);

/// Samples as a little-endian int64 blob, the form every store keeps.
std::string pack_samples(const std::vector<std::int64_t>& samples);
/// Throws Error{bad_input} when the length is no multiple of 8.
std::vector<std::int64_t> unpack_samples(const void* bytes, std::size_t size);

// Instantiated once, in the source: the mapping is what costs most to compile.
extern template json to_json_value<RankResult>(const RankResult&);
extern template void from_json_value<RankResult>(const json&, const std::string&, RankResult&);
extern template json to_json_value<Record>(const Record&);
extern template void from_json_value<Record>(const json&, const std::string&, Record&);

}  // namespace assay
