#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/core/settings.hpp"
#include "assay/core/workload.hpp"

namespace assay {

/// A program that knows one framework, at one release.
struct Worker {
  std::string name;  ///< the worker's folder
  std::string release;
};

template <typename V>
void describe(V& v, Worker& w) {
  required(v, "name", w.name);
  v("release", w.release);
}

/// *Where* a workload runs.
struct Placement {
  std::string device = "cpu";
  std::int64_t ranks = 1;
  std::optional<std::int64_t> ranks_per_node;
  std::optional<std::string> links;  ///< hash of a cluster file
};

template <typename V>
void describe(V& v, Placement& p) {
  v("device", p.device);
  v("ranks", p.ranks);
  v("ranks_per_node", p.ranks_per_node);
  v("links", p.links);
}

/// What is compared. Numbers are pooled only within one (trial, platform).
struct Trial {
  Workload workload;
  Worker worker;
  Settings settings;
  Placement placement;
};

template <typename V>
void describe(V& v, Trial& t) {
  required(v, "workload", t.workload);
  required(v, "worker", t.worker);
  v("settings", t.settings);
  v("placement", t.placement);
}

/// Throws Error{usage} naming the field that is out of range.
void check(const Trial& trial);

/// 128 bits of SHA-256 over the canonical JSON of the trial, as 32 hexadecimal digits.
std::string trial_id(const Trial& trial);

/// "4 ranks, cuda, intra_op=2": settings and placement, for a person. What tells trials apart best stands in front,
/// because tables cut the end.
std::string conditions(const Trial& trial);

/// "toy train b8 on fake 1.0, intra_op=2": one line for a person.
std::string title(const Trial& trial);

/// When a trial has runs enough: at the first of a few looks that are set beforehand, where its interval is narrow.
struct Stop {
  double half_width = 0.01;       ///< of the interval, as a share of the median
  std::int64_t most_runs = 20;    ///< of a trial
  std::optional<double> seconds;  ///< of measuring the campaign; no look is begun after it
};

template <typename V>
void describe(V& v, Stop& s) {
  v("half_width", s.half_width);
  v("most_runs", s.most_runs);
  v("seconds", s.seconds);
}

/// How a run of a campaign is measured: part of the campaign, not of the trial.
struct Measure {
  double warmup_seconds = 0.5;  ///< measured and kept, but not summarised
  std::optional<double>
      warmup_cap_seconds;             ///< a run that still gets faster warms up for longer, up to this; null: 10 x
  double seconds = 2;                 ///< of steps, after the warm-up
  std::int64_t max_samples = 10'000;  ///< a run stops early when it has these, warm-up apart
  double slice_seconds = 0.5;         ///< the speed probe runs between slices of this length
  std::int64_t pair_steps = 2;        ///< steps that count in one slice of a lock-step group; one before them does not
  std::optional<bool> phases;         ///< also measure the phases, in passes of their own; null: where a worker can
  bool layers = false;                ///< also measure the layers, in passes of their own
  double prepare_limit_seconds = 600;
  double limit_seconds = 300;  ///< beyond the asked-for time, a silent worker counts as hung after this
  std::optional<std::int64_t> memory_limit_bytes;  ///< resident memory of the worker and its children
  std::int64_t retries = 2;                        ///< how often a disturbed run is measured again
  std::optional<std::string> meter;                ///< program that tells the energy used so far; see docs/measuring.md
  std::optional<Stop> stop;                        ///< null: as many runs as are asked for
  std::optional<std::string> platform;             ///< only there: its id, or the first digits; null: anywhere
};

template <typename V>
void describe(V& v, Measure& m) {
  v("warmup_seconds", m.warmup_seconds);
  v("warmup_cap_seconds", m.warmup_cap_seconds);
  v("seconds", m.seconds);
  v("max_samples", m.max_samples);
  v("slice_seconds", m.slice_seconds);
  v("pair_steps", m.pair_steps);
  v("phases", m.phases);
  v("layers", m.layers);
  v("prepare_limit_seconds", m.prepare_limit_seconds);
  v("limit_seconds", m.limit_seconds);
  v("memory_limit_bytes", m.memory_limit_bytes);
  v("retries", m.retries);
  v("meter", m.meter);
  v("stop", m.stop);
  v("platform", m.platform);
}

/// Throws Error{usage} naming the field that is out of range.
void check(const Measure& measure);

// Instantiated once, in the source: the mapping is what costs most to compile.
extern template json to_json_value<Trial>(const Trial&);
extern template void from_json_value<Trial>(const json&, const std::string&, Trial&);
extern template json to_json_value<Measure>(const Measure&);
extern template void from_json_value<Measure>(const json&, const std::string&, Measure&);

}  // namespace assay
