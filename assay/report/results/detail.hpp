#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/store/records/digest.hpp"

namespace assay::report {

/// A setting's value, and in how many runs it took effect.
struct EffectiveValue {
  json value;
  std::int64_t runs = 0;
};

template <typename V>
void describe(V& v, EffectiveValue& e) {
  required(v, "value", e.value);
  required(v, "runs", e.runs);
}

/// One kind of reason over the runs of a trial.
struct ReasonCount {
  std::string code;
  bool passing = true;
  std::int64_t runs = 0;
  std::string message;  ///< of the first
};

template <typename V>
void describe(V& v, ReasonCount& r) {
  required(v, "code", r.code);
  required(v, "passing", r.passing);
  required(v, "runs", r.runs);
  required(v, "message", r.message);
}

/// The phases of a step, from passes of their own.
struct Phases {
  std::map<std::string, double> seconds;  ///< median over processes of each process's median
  std::optional<double> sum_over_step;    ///< their sum over the median of the plain steps
};

template <typename V>
void describe(V& v, Phases& p) {
  required(v, "seconds", p.seconds);
  required(v, "sum_over_step", p.sum_over_step);
}

/// What the runs of one trial on one platform have in common.
struct Details {
  std::map<std::string, std::vector<EffectiveValue>> effective;  ///< the most frequent value first
  std::vector<ReasonCount> reasons;                              ///< the most frequent first
  std::optional<double> peak_memory_bytes;                       ///< median over runs
  std::optional<Phases> phases;
  std::optional<double> layers_over_step;     ///< median over runs; null where layers were not timed
  std::map<SteadyKind, std::int64_t> steady;  ///< runs by how they came to their steady state, where that is known
  std::optional<double> autocorrelation;      ///< of neighbouring samples; median over runs
};

/// Over all that were measured, but for the phases.
Details summarise(const std::vector<const store::Digest*>& runs);

/// Medians of the phases of those runs, over all processes; null where none was timed. `step_ns` is the trial's median
/// step.
std::optional<Phases> phases_of(const std::vector<const store::Digest*>& runs, const std::optional<double>& step_ns);

/// "intra_op: asked 2, took effect 4 (all 6 runs)": one for each setting that did not take effect as asked.
std::vector<std::string> differences(const Settings& asked, const Details& details, std::int64_t runs);

}  // namespace assay::report
