#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/report/report.hpp"

namespace assay::report {

// What `assay run --json` and `assay show --json` print. It is written and never read, so that describe() may gather
// fields from several structs.

/// Where a campaign stands.
struct CampaignProgress {
  store::CampaignRow row;
  std::map<std::string, std::int64_t> set_aside;  ///< reasons for which runs were measured again, with their number
};

template <typename V>
void describe(V& v, CampaignProgress& c) {
  required(v, "id", c.row.id);
  required(v, "name", c.row.name);
  required(v, "round", c.row.round);
  required(v, "created_utc", c.row.created_utc);
  required(v, "seed", c.row.seed);
  required(v, "lockstep", c.row.lockstep);
  required(v, "measure", c.row.measure);
  required(v, "set_aside", c.set_aside);
  required(v, "progress", c.row.progress);
}

/// Distribution-free, over processes.
struct MedianInterval {
  double low_ns = 0;
  double high_ns = 0;
  double confidence = 0.95;
};

template <typename V>
void describe(V& v, MedianInterval& i) {
  required(v, "low_ns", i.low_ns);
  required(v, "high_ns", i.high_ns);
  required(v, "confidence", i.confidence);
}

inline std::optional<MedianInterval> interval_document(const std::optional<stats::Interval>& interval) {
  if (!interval) return std::nullopt;
  return MedianInterval{interval->low, interval->high};
}

template <typename V>
void describe(V& v, Result& r) {
  auto interval = interval_document(r.median_interval);
  auto p90_interval = interval_document(r.p90.interval);
  auto p99_interval = interval_document(r.p99.interval);
  required(v, "trial_id", r.trial_id);
  required(v, "trial", r.trial);
  required(v, "platform", r.platform);
  required(v, "runs", r.runs);
  required(v, "ok", r.ok);
  required(v, "untrusted", r.untrusted);
  v("left_out", r.left_out);
  required(v, "failures", r.failures);
  required(v, "median_ns", r.median_ns);
  required(v, "median_interval", interval);
  required(v, "interval_reason", r.interval_reason);
  required(v, "p90_ns", r.p90.ns);
  required(v, "p90_interval", p90_interval);
  required(v, "p90_reason", r.p90.reason);
  required(v, "p99_ns", r.p99.ns);
  required(v, "p99_interval", p99_interval);
  required(v, "p99_reason", r.p99.reason);
  required(v, "samples_per_second", r.samples_per_second);
  required(v, "watts", r.watts);
  required(v, "samples_per_joule", r.samples_per_joule);
  required(v, "flops_per_second", r.flops_per_second);
  v("bytes_per_second", r.bytes_per_second);
  required(v, "share_of_peak", r.share_of_peak);
  required(v, "peak_trial", r.peak_trial);
  required(v, "share_reason", r.share_reason);
  v("share_of_roofline", r.share_of_roofline);
  v("generated", r.generated);
  required(v, "effective", r.details.effective);
  required(v, "validity", r.details.reasons);
  required(v, "steady", r.details.steady);
  required(v, "autocorrelation", r.details.autocorrelation);
  required(v, "peak_memory_bytes", r.details.peak_memory_bytes);
  required(v, "phases", r.details.phases);
  required(v, "layers_over_step", r.details.layers_over_step);
}

/// All of it.
struct ResultDocument {
  std::int64_t result_version = kResultVersion;
  std::vector<CampaignProgress> campaigns;
  std::vector<Result> results;
};

template <typename V>
void describe(V& v, ResultDocument& d) {
  required(v, "result_version", d.result_version);
  required(v, "campaigns", d.campaigns);
  required(v, "results", d.results);
}

}  // namespace assay::report
