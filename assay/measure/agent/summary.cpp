#include "assay/measure/agent/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "assay/core/workloads/scenario.hpp"
#include "assay/load/queries/query_search.hpp"
#include "assay/measure/generated.hpp"
#include "assay/stats/moments.hpp"
#include "assay/stats/quantile.hpp"
#include "assay/stats/steady.hpp"
#include "assay/stats/tail.hpp"

namespace assay::measure {
namespace {

/// The samples of one process, and from where on they are summarised.
struct Series {
  std::vector<double> samples_ns;  ///< all
  std::size_t from = 0;            ///< after the warm-up
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = 0;
  std::optional<SteadyKind> kind;

  std::vector<double> steady() const {
    return {samples_ns.begin() + static_cast<std::ptrdiff_t>(from), samples_ns.end()};
  }
};

Series series_of(const RankResult& rank) {
  Series series;
  series.samples_ns.assign(rank.samples_ns.begin(), rank.samples_ns.end());
  std::size_t at = 0;
  for (const auto& slice : rank.slices) {
    at += static_cast<std::size_t>(slice.samples);
    if (slice.warmup) {
      series.from = at;  // it comes first
    } else {
      series.begin_ns = std::min(series.begin_ns, slice.begin_ns);
      series.end_ns = std::max(series.end_ns, slice.end_ns);
    }
  }
  return series;
}

/// Behind the warm-up that was seen, where it lasted longer than the one asked for.
void cut_warmup(Series& series) {
  const auto found = stats::steady_state(series.samples_ns);
  if (!found) return;
  series.kind = found->kind;
  series.from = std::max(series.from, found->from);
}

/// Samples of one process that lie inside [from, to]; a slice that is cut counts in proportion.
double steps_within(const RankResult& rank, std::int64_t from, std::int64_t to) {
  double steps = 0;
  for (const auto& slice : rank.slices) {
    const auto length = static_cast<double>(slice.end_ns - slice.begin_ns);
    const auto inside = static_cast<double>(std::min(slice.end_ns, to) - std::max(slice.begin_ns, from));
    if (!slice.warmup && inside > 0 && length > 0)
      steps += static_cast<double>(slice.samples) * std::min(1.0, inside / length);
  }
  return steps;
}

/// Ranks that work together take every step together: it lasts as long as on the slowest of them. Their clocks are
/// never compared.
Series joint(const std::vector<Series>& ranks) {
  Series out = ranks[0];
  for (const auto& rank : ranks) {
    for (std::size_t i = 0; i < std::min(out.samples_ns.size(), rank.samples_ns.size()); ++i) {
      out.samples_ns[i] = std::max(out.samples_ns[i], rank.samples_ns[i]);
    }
  }
  return out;
}

/// Steps a second of all processes together.
std::optional<double> step_rate(const std::vector<RankResult>& ranks, const std::vector<Series>& series) {
  if (ranks.size() == 1) {
    // One process: its own samples alone, so that the speed probe between slices costs nothing.
    const auto steady = series[0].steady();
    const double sum_ns = std::accumulate(steady.begin(), steady.end(), 0.0);
    if (sum_ns <= 0) return std::nullopt;
    return static_cast<double>(steady.size()) / (sum_ns / 1e9);
  }
  std::int64_t from = 0;
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  for (const auto& part : series) {
    from = std::max(from, part.begin_ns);
    to = std::min(to, part.end_ns);
  }
  if (to <= from) return std::nullopt;
  double steps = 0;
  for (const auto& rank : ranks) steps += steps_within(rank, from, to);
  return steps / (static_cast<double>(to - from) / 1e9);
}

/// Power of all hosts together, each told by one of its processes.
std::optional<double> watts_of(const std::vector<RankResult>& ranks) {
  std::map<std::string, std::optional<double>> hosts;
  for (const auto& rank : ranks) {
    auto& watts = hosts[rank.host.value_or("")];
    if (!watts && rank.energy) watts = rank.energy->joules / (static_cast<double>(rank.energy->ns) / 1e9);
  }
  double sum = 0;
  for (const auto& [host, watts] : hosts) {
    if (!watts) return std::nullopt;
    sum += *watts;
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

/// The processes of a run, each from its steady state on; ranks that work together are one. Of queries all count: that
/// a queue grows is not a warm-up.
std::vector<Series> steady_series(const std::vector<RankResult>& ranks, bool together, bool are_queries) {
  std::vector<Series> series;
  for (const auto& rank : ranks) series.push_back(series_of(rank));
  if (together) series = {joint(series)};
  for (auto& one : series) {
    if (!are_queries) cut_warmup(one);
  }
  return series;
}

std::vector<double> sorted_samples(const std::vector<Series>& series) {
  std::vector<double> all;
  for (const auto& one : series) {
    const auto steady = one.steady();
    all.insert(all.end(), steady.begin(), steady.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool is_together(const std::vector<RankResult>& ranks, const Trial& trial) {
  return trial.placement.ranks > 1 && ranks.size() > 1;
}

/// A quantile above the median with its interval, where there are enough samples to tell it.
void summarise_quantile(const std::vector<double>& sorted, double p, std::optional<std::int64_t>& quantile,
                        std::optional<QuantileInterval>& interval) {
  const auto ends = stats::quantile_interval_sorted(sorted, p);
  if (!ends) return;
  quantile = std::llround(stats::quantile_sorted(sorted, p));
  interval = {std::llround(ends->low), std::llround(ends->high)};
}

/// Waits of neighbours are alike, which the point of the run has counted with; its rate is of all the time, or what a
/// search found.
void summarise_queries(const RankResult& rank, const Scenario& scenario, Summary& summary) {
  if (!rank.load) return;
  const auto point = from_json<load::LoadPoint>(rank.load->point, "load.point");
  load::summarise_latency(point, summary);
  summary.samples_per_second = point.answered_per_second * static_cast<double>(samples_of_query(scenario.kind));
  if (const auto found = rank.load->point.find(load::kFoundKey); found != rank.load->point.end()) {
    summary.samples_per_second = load::rate_within(from_json<load::FoundRate>(*found, "load.point.found"));
  }
  summary.watts = watts_of({rank});
  if (summary.watts && summary.samples_per_second)
    summary.samples_per_joule = *summary.samples_per_second / *summary.watts;
}

}  // namespace

std::vector<double> steady_samples(const std::vector<RankResult>& ranks, const Trial& trial) {
  return sorted_samples(steady_series(ranks, is_together(ranks, trial), scenario_of(trial.workload.load).has_value()));
}

std::vector<double> steady_first_tokens(const std::vector<RankResult>& ranks, const Trial& trial) {
  if (!trial.workload.generate) return {};
  std::vector<double> out;
  const auto series = steady_series(ranks, false, false);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto of_rank = first_tokens(ranks[i], *trial.workload.generate, series[i].from);
    out.insert(out.end(), of_rank.begin(), of_rank.end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Summarised summarise(const std::vector<RankResult>& ranks, const Trial& trial) {
  Summarised out;
  auto& summary = out.summary;
  for (const auto& rank : ranks) summary.n += static_cast<std::int64_t>(rank.samples_ns.size());
  const bool together = is_together(ranks, trial);
  const auto scenario = scenario_of(trial.workload.load);
  const auto series = steady_series(ranks, together, scenario.has_value());
  for (const auto& one : series) {
    if (one.kind && (!out.steady || *one.kind > out.steady->kind)) out.steady = {*one.kind, std::nullopt};
  }
  const auto all = sorted_samples(series);
  if (all.empty()) return out;
  if (out.steady) out.steady->autocorrelation = stats::lag1_autocorrelation(series[0].steady());
  // Samples of several processes lie one after the other; the index is that of the first process.
  summary.steady_from = static_cast<std::int64_t>(series[0].from);
  summary.steady_samples = std::ssize(all);
  summary.median_ns = std::llround(stats::quantile_sorted(all, 0.5));
  if (scenario) {
    summarise_queries(ranks[0], *scenario, summary);
    return out;
  }
  summarise_quantile(all, 0.9, summary.p90_ns, summary.p90_interval);
  summarise_quantile(all, 0.99, summary.p99_ns, summary.p99_interval);
  const auto processes = static_cast<double>(together ? ranks.size() : 1);  // each with its own batch
  if (const auto rate = step_rate(together ? std::vector{ranks[0]} : ranks, series))
    summary.samples_per_second = *rate * static_cast<double>(trial.workload.batch) * processes;
  summary.watts = watts_of(ranks);
  if (summary.watts && summary.samples_per_second)
    summary.samples_per_joule = *summary.samples_per_second / *summary.watts;
  if (trial.workload.generate) {
    std::vector<std::size_t> from;
    for (const auto& one : series) from.push_back(one.from);
    summary.generated = summarise_tokens(ranks, *trial.workload.generate, from, summary);
  }
  return out;
}

}  // namespace assay::measure
