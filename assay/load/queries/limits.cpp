#include "assay/load/queries/limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/core/text/number.hpp"
#include "assay/core/text/units.hpp"
#include "assay/stats/binomial.hpp"
#include "assay/stats/moments.hpp"

namespace assay::load {
namespace {

constexpr double kConfidence = 0.99;
constexpr std::size_t kLeastBatches = 10;

[[noreturn]] void bad_limit(const std::string& text) {
  fail(ErrorKind::usage,
       "--slo: {} is not a valid limit. Write it as 'ttft p99<500ms', 'latency p90<2s' or 'tpot p95<60ms'.",
       shown(text));
}

double effect_of_batches(const std::vector<bool>& series, std::size_t batches, double share) {
  const auto length = series.size() / batches;
  std::vector<double> means;
  for (std::size_t b = 0; b < batches; ++b) {
    const auto begin = series.begin() + static_cast<std::ptrdiff_t>(b * length);
    const auto count = std::count(begin, begin + static_cast<std::ptrdiff_t>(length), true);
    means.push_back(static_cast<double>(count) / static_cast<double>(length));
  }
  return static_cast<double>(length) * stats::variance(means).value_or(0) / (share * (1 - share));
}

/// Whether each time is above the quantile of all: a series of which the design effect is known even where none, or
/// all, are above a limit.
std::vector<bool> above_own_quantile(const std::vector<double>& times_ns, double quantile) {
  auto sorted = times_ns;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  std::vector<bool> above(times_ns.size());
  for (std::size_t i = 0; i < times_ns.size(); ++i) above[i] = times_ns[i] > *at;
  return above;
}

}  // namespace

Limit parse_limit(const std::string& text) {
  std::string word;
  for (const char c : text) {
    if (c != ' ') word += c;
  }
  Limit limit;
  const auto less = word.find('<');
  const auto p = word.rfind('p', less);
  if (less == std::string::npos || p == std::string::npos || p == 0) bad_limit(text);
  const auto name = word.substr(0, p);
  const auto& names = EnumNames<Metric>::names;
  const auto found = std::find(names.begin(), names.end(), name);
  const auto percent = parse_number<double>(word.substr(p + 1, less - p - 1));
  if (found == names.end() || !percent || !(*percent >= 1 && *percent <= 99.9)) bad_limit(text);
  limit.metric = static_cast<Metric>(found - names.begin());
  limit.quantile = *percent / 100;
  auto value = word.substr(less + 1);
  if (value.starts_with('=')) value.erase(0, 1);
  limit.limit_ns = parse_latency(value, "--slo") * 1e9;
  return limit;
}

double design_effect(const std::vector<bool>& series) {
  const auto count = std::count(series.begin(), series.end(), true);
  const auto share = static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(series.size(), 1));
  double effect = 1;
  if (count == 0 || share >= 1) return effect;
  for (const std::size_t batches : {kLeastBatches, 2 * kLeastBatches, 4 * kLeastBatches}) {
    if (series.size() >= 5 * batches) effect = std::max(effect, effect_of_batches(series, batches, share));
  }
  return effect;
}

std::vector<double> times_with_failures(const std::vector<const Request*>& requests, Metric metric, Since since) {
  std::vector<double> times;
  times.reserve(requests.size());
  for (const auto* request : requests) {
    const auto time = time_ns(*request, metric, since);
    if (time) times.push_back(*time);
    if (request->outcome != RequestOutcome::ok) times.push_back(std::numeric_limits<double>::infinity());
  }
  return times;
}

JudgedLimit judge(const Limit& limit, const std::vector<double>& times_ns) {
  JudgedLimit judged;
  judged.metric = limit.metric;
  judged.quantile = limit.quantile;
  judged.limit_ns = limit.limit_ns;
  judged.requests = static_cast<std::int64_t>(times_ns.size());
  judged.needed = static_cast<std::int64_t>(stats::least_for_quantile(limit.quantile, kConfidence));
  judged.over = std::count_if(times_ns.begin(), times_ns.end(), [&](double t) { return t > limit.limit_ns; });
  if (times_ns.empty()) {
    judged.verdict = LimitVerdict::no_times;
    return judged;
  }
  judged.design_effect = design_effect(above_own_quantile(times_ns, limit.quantile));
  if (judged.requests < judged.needed) {
    judged.verdict = LimitVerdict::too_few;
    return judged;
  }
  const auto trials = static_cast<double>(judged.requests) / judged.design_effect;
  const auto over = static_cast<double>(judged.over) / judged.design_effect;
  const auto share = 1 - limit.quantile;
  if (stats::binomial_at_most(trials, over, share) <= 1 - kConfidence) {
    judged.verdict = LimitVerdict::holds;
  } else if (over >= 1 && 1 - stats::binomial_at_most(trials, over - 1, share) <= 1 - kConfidence) {
    judged.verdict = LimitVerdict::broken;
  }
  return judged;
}

}  // namespace assay::load
