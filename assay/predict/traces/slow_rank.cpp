#include "assay/predict/traces/slow_rank.hpp"

#include <algorithm>

#include "assay/predict/traces/trace_replay.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

constexpr double kSlower = 1.02;

/// Seconds of a step in which each kernel ran.
std::map<std::string, double> kernel_seconds(const TraceWindow& window) {
  std::map<std::string, double> seconds;
  for (const auto& one : window.works) {
    if (one.work.kind != GpuWorkKind::compute) continue;
    seconds[window.trace->name_of(one.work.name)] +=
        1e-9 * static_cast<double>(one.work.length_ns()) / static_cast<double>(window.steps);
  }
  return seconds;
}

template <typename Value>
double more_than_others(std::size_t slow, std::size_t count, const Value& value) {
  std::vector<double> others;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != slow) others.push_back(value(i));
  }
  return value(slow) - stats::median(others);
}

void find_where(SlowRank& out, std::size_t slow, const std::vector<RankBreakdown>& ranks) {
  const auto seconds_of = [&](double RankBreakdown::*share) {
    return more_than_others(slow, ranks.size(),
                            [&](std::size_t i) { return ranks[i].*share * ranks[i].device_seconds; });
  };
  for (const auto& [name, share] :
       {std::pair{"compute", &RankBreakdown::compute}, std::pair{"input", &RankBreakdown::input},
        std::pair{"host", &RankBreakdown::host_bound}, std::pair{"copies", &RankBreakdown::copies}}) {
    const double more = seconds_of(share);
    if (more <= out.more_seconds) continue;
    out.more_seconds = more;
    out.where = name;
  }
}

void find_kernel(SlowRank& out, std::size_t slow, const std::vector<TraceWindow>& windows) {
  std::vector<std::map<std::string, double>> seconds;
  for (const auto& window : windows) seconds.push_back(kernel_seconds(window));
  for (const auto& one : seconds[slow]) {
    const auto& name = one.first;
    const double more = more_than_others(slow, windows.size(), [&](std::size_t i) {
      const auto found = seconds[i].find(name);
      return found == seconds[i].end() ? 0 : found->second;
    });
    if (more <= out.kernel_seconds) continue;
    out.kernel_seconds = more;
    out.kernel = name;
  }
}

}  // namespace

std::optional<SlowRank> find_slow_rank(const std::vector<TraceWindow>& windows, const JoinedRanks& ranks,
                                       const std::vector<RankBreakdown>& breakdowns) {
  std::vector<double> alone;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto seconds = replay_trace(alone_graph(windows, ranks, i), {}).seconds;
    alone.push_back(seconds / static_cast<double>(windows[i].steps));
  }
  const auto slow = static_cast<std::size_t>(std::max_element(alone.begin(), alone.end()) - alone.begin());
  SlowRank out;
  out.rank = breakdowns[slow].rank;
  out.step_seconds = alone[slow];
  for (std::size_t i = 0; i < alone.size(); ++i) {
    if (i != slow) out.others_step_seconds = std::max(out.others_step_seconds, alone[i]);
  }
  if (out.step_seconds < kSlower * out.others_step_seconds) return std::nullopt;
  find_where(out, slow, breakdowns);
  if (out.where == "compute") find_kernel(out, slow, windows);
  return out;
}

}  // namespace assay::predict
