#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/load/queries/request.hpp"

namespace assay::load {

/// A limit on a quantile of a time: 'ttft p99<500ms'.
struct Limit {
  Metric metric = Metric::latency;
  double quantile = 0.99;
  double limit_ns = 0;
};

/// Reads "ttft p99<500ms". Throws Error{usage} with examples.
Limit parse_limit(const std::string& text);

/// What a run says of a limit.
enum class LimitVerdict {
  holds,
  broken,
  undecided,          ///< too near to the limit for so many requests
  too_few,            ///< fewer requests than any verdict on this quantile needs
  generator_starved,  ///< the client was too late too often: nothing is said of the server
  no_times,           ///< no request has such a time, as a server without `usage` has no tpot
};

}  // namespace assay::load

template <>
struct assay::EnumNames<assay::load::LimitVerdict> {
  static constexpr std::array<const char*, 6> names{"holds",   "broken", "undecided", "too_few", "generator_starved",
                                                    "no_times"};
};

namespace assay::load {

/// A limit and what a run says of it, at 99 %.
struct JudgedLimit {
  Metric metric = Metric::latency;
  double quantile = 0.99;
  double limit_ns = 0;
  LimitVerdict verdict = LimitVerdict::undecided;
  std::int64_t requests = 0;  ///< judged: those due in windows in which the client was not starved
  std::int64_t over = 0;      ///< of them, slower than the limit; those that failed or were not answered are
  std::int64_t needed = 0;    ///< fewer allow no verdict
  double design_effect = 1;   ///< as many requests count as one: waits of neighbours are alike
};

template <typename V>
void describe(V& v, JudgedLimit& l) {
  required(v, "metric", l.metric);
  required(v, "quantile", l.quantile);
  required(v, "limit_ns", l.limit_ns);
  required(v, "verdict", l.verdict);
  v("requests", l.requests);
  v("over", l.over);
  v("needed", l.needed);
  v("design_effect", l.design_effect);
}

/// How many neighbours of a series count as one independent value, by means of batches: 1 for independent ones. The
/// largest of three lengths of batches.
double design_effect(const std::vector<bool>& series);

/// Times of requests in the order of the schedule; those that failed or were not answered are infinite, and those that
/// went well without such a time are left out.
std::vector<double> times_with_failures(const std::vector<const Request*>& requests, Metric metric, Since since);

/// Judges times with failures in them (see above).
JudgedLimit judge(const Limit& limit, const std::vector<double>& times_ns);

}  // namespace assay::load
