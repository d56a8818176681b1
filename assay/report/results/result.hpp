#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/report/results/detail.hpp"
#include "assay/report/results/tail_quantile.hpp"
#include "assay/stats/interval.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

constexpr std::int64_t kResultVersion = 1;

/// Failed runs of one kind.
struct Failures {
  std::int64_t runs = 0;
  std::string message;  ///< of the first
};

template <typename V>
void describe(V& v, Failures& f) {
  required(v, "runs", f.runs);
  required(v, "message", f.message);
}

/// What the runs of one trial on one platform say together. Every process counts once, whatever its number of samples.
struct Result {
  std::string trial_id;
  Trial trial;
  std::string platform;
  std::int64_t runs = 0;  ///< counted, in whatever state
  std::int64_t ok = 0;
  std::int64_t untrusted = 0;  ///< of ok: disturbed and not measured again
  std::int64_t left_out = 0;   ///< of those: not in the numbers below, since enough others are
  std::map<OutcomeKind, Failures> failures;
  std::optional<double> median_ns;                 ///< median of the processes' medians
  std::optional<stats::Interval> median_interval;  ///< 95 %, over processes
  std::optional<std::string> interval_reason;      ///< why it is missing
  std::vector<double> run_medians_ns;              ///< of the good runs, in the order in which they began
  TailQuantile p90;
  TailQuantile p99;
  std::optional<double> samples_per_second;
  std::optional<double> watts;  ///< of all hosts; null where energy was not measured
  std::optional<double> samples_per_joule;
  std::optional<double> flops_per_second;     ///< achieved; null where the workload does not tell its FLOPs
  std::optional<double> bytes_per_second;     ///< the least that must cross the memory bus; null where it is not known
  std::optional<double> share_of_peak;        ///< of the best gemm on this platform at this precision; see roofline.hpp
  std::optional<std::string> peak_trial;      ///< that gemm
  std::optional<std::string> share_reason;    ///< why the share of the peak is missing
  std::optional<GeneratedSummary> generated;  ///< where text is generated: medians over the runs
  std::optional<double> share_of_roofline;  ///< the least time of a step over its own; null where no roof was measured
  Details details;
};

/// " (2 disturbed, left out)", or nothing where no run was.
std::string disturbed_text(const Result& result);

/// Groups counted rows by (trial, platform), in the order of `trials`; a trial without rows has no result. One that has
/// only rows that were set aside to be measured again has the result of those, all of them disturbed. Where a
/// measurement looked several times, `confidence` of the interval at each look is more than 95 %.
std::vector<Result> results_of(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& rows,
                               double confidence = 0.95);

/// The results of what `filter` chooses from a store.
std::vector<Result> results_of(store::Archive& store, const store::Filter& filter);

}  // namespace assay::report
