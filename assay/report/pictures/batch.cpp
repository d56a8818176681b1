#include <algorithm>
#include <map>
#include <set>

#include "assay/core/text/units.hpp"
#include "assay/report/markup.hpp"
#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostNetworks = 3;
constexpr std::size_t kMostSweeps = 6;
constexpr std::size_t kMostDots = 300;       // of each sweep
constexpr std::size_t kMostCategories = 16;  // beyond that batches lie on a scale

/// Results that differ in their batch alone, by batch.
using BatchSweep = std::map<std::int64_t, const Result*>;

/// Of each network and mode: its sweeps, the longest first.
std::vector<std::vector<BatchSweep>> batch_sweeps(const Evidence& evidence) {
  std::map<std::string, BatchSweep> by_key;
  std::vector<std::string> order;
  for (const auto* result : good_results(evidence)) {
    auto key = key_without(result->trial, result->platform, {"batch"});
    auto [it, is_new] = by_key.try_emplace(std::move(key));
    it->second[result->trial.workload.batch] = result;
    if (is_new) order.push_back(it->first);
  }
  std::vector<std::vector<BatchSweep>> networks;
  std::map<std::string, std::size_t> places;
  for (const auto& key : order) {
    const auto& sweep = by_key[key];
    if (sweep.size() < 2) continue;
    const auto& workload = sweep.begin()->second->trial.workload;
    const auto [it, is_new] = places.try_emplace(workload.network + name_of(workload.mode), networks.size());
    if (is_new) networks.emplace_back();
    networks[it->second].push_back(sweep);
  }
  for (auto& sweeps : networks) {
    std::stable_sort(sweeps.begin(), sweeps.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    if (sweeps.size() > kMostSweeps) sweeps.resize(kMostSweeps);
  }
  if (networks.size() > kMostNetworks) networks.resize(kMostNetworks);
  return networks;
}

/// Where batches lie on the x axis.
class BatchAxis {
 public:
  explicit BatchAxis(const std::vector<BatchSweep>& sweeps) {
    for (const auto& sweep : sweeps) {
      for (const auto& [batch, result] : sweep) batches_.insert(batch);
    }
  }
  PictureAxis axis() const {
    PictureAxis axis{.title = "batch"};
    if (batches_.size() > kMostCategories) return axis;
    axis.kind = PictureAxisKind::category;
    for (const auto batch : batches_) axis.categories.push_back(std::to_string(batch));
    return axis;
  }
  double place(std::int64_t batch) const {
    if (batches_.size() > kMostCategories) return static_cast<double>(batch);
    return static_cast<double>(std::distance(batches_.begin(), batches_.find(batch)));
  }

 private:
  std::set<std::int64_t> batches_;
};

/// The smallest batch with at least 95 % of the best throughput.
std::string batch_answer(const std::vector<BatchSweep>& sweeps, const std::vector<std::string>& names) {
  std::size_t best = 0;
  const auto rate = [](const BatchSweep& sweep) {
    double most = 0;
    for (const auto& [batch, result] : sweep) most = std::max(most, *result->samples_per_second);
    return most;
  };
  for (std::size_t i = 1; i < sweeps.size(); ++i) {
    if (rate(sweeps[i]) > rate(sweeps[best])) best = i;
  }
  const auto& sweep = sweeps[best];
  const auto most = rate(sweep);
  const auto enough = std::find_if(sweep.begin(), sweep.end(),
                                   [&](const auto& one) { return *one.second->samples_per_second >= 0.95 * most; });
  const auto& first = *sweep.begin();
  return fmt::format(
      "{}Batch {} reaches {} samples/s, at least 95 % of the most that was measured; batch {} gives {}. A step of "
      "batch {} takes {}.",
      sweeps.size() > 1 ? names[best] + " is fastest. " : "", enough->first,
      short_number(*enough->second->samples_per_second), first.first, short_number(*first.second->samples_per_second),
      enough->first, format_duration(*enough->second->median_ns));
}

/// What one of the two pictures shows of results and runs.
struct BatchView {
  double (*value)(const Result& result);
  std::optional<double> (*low)(const Result& result);
  std::optional<double> (*high)(const Result& result);
  std::optional<double> (*of_run)(const store::RunRow& row);
};

/// A rate is inverse to a time, so that its interval is that of the time turned round.
constexpr BatchView kThroughput{
    [](const Result& r) { return *r.samples_per_second; },
    [](const Result& r) {
      return r.median_interval ? std::optional(*r.samples_per_second * *r.median_ns / r.median_interval->high)
                               : std::nullopt;
    },
    [](const Result& r) {
      return r.median_interval ? std::optional(*r.samples_per_second * *r.median_ns / r.median_interval->low)
                               : std::nullopt;
    },
    [](const store::RunRow& row) { return row.summary.samples_per_second; }};

constexpr BatchView kLatency{
    [](const Result& r) { return *r.median_ns * 1e-6; },
    [](const Result& r) { return r.median_interval ? std::optional(r.median_interval->low * 1e-6) : std::nullopt; },
    [](const Result& r) { return r.median_interval ? std::optional(r.median_interval->high * 1e-6) : std::nullopt; },
    [](const store::RunRow& row) -> std::optional<double> {
      if (!row.summary.median_ns) return {};
      return static_cast<double>(*row.summary.median_ns) * 1e-6;
    }};

using RunsOf = std::map<std::pair<std::string, std::string>, std::vector<const store::RunRow*>>;

void add_sweep(Picture& picture, const BatchSweep& sweep, const std::string& name, const BatchAxis& axis,
               const BatchView& view, const RunsOf& runs) {
  const auto colour = static_cast<std::int64_t>(picture.series.size() / 2);
  Series line{.name = name, .kind = SeriesKind::line, .colour = colour};
  Series dots{.name = "", .kind = SeriesKind::dots, .colour = colour};
  for (const auto& [batch, result] : sweep) {
    const double x = axis.place(batch);
    line.marks.push_back({.x = x,
                          .y = view.value(*result),
                          .low = view.low(*result),
                          .high = view.high(*result),
                          .note = fmt::format("{} runs", result->ok)});
    const auto found = runs.find({result->trial_id, result->platform});
    if (found == runs.end()) continue;
    for (const auto* row : found->second) {
      const auto value = view.of_run(*row);
      if (value) dots.marks.push_back({.x = x, .y = *value, .note = fmt::format("run {}", row->index)});
    }
  }
  if (dots.marks.size() > kMostDots) {
    std::vector<Mark> some;
    for (const auto i : spread(dots.marks.size(), kMostDots)) some.push_back(dots.marks[i]);
    dots.marks = std::move(some);
  }
  picture.series.push_back(std::move(line));
  picture.series.push_back(std::move(dots));
}

RunsOf runs_by_trial(const Evidence& evidence) {
  RunsOf runs;
  for (const auto& row : evidence.runs) {
    if (row.counted && row.outcome == OutcomeKind::ok) runs[{row.trial, row.platform}].push_back(&row);
  }
  return runs;
}

}  // namespace

std::vector<Picture> batch_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  const auto networks = batch_sweeps(evidence);
  if (networks.empty()) return pictures;
  const auto runs = runs_by_trial(evidence);
  for (const auto& sweeps : networks) {
    // Names are those of the first results: batches differ within a sweep, not between them.
    std::vector<Trial> trials;
    for (const auto& sweep : sweeps) {
      trials.push_back(sweep.begin()->second->trial);
      trials.back().workload.batch = 1;
    }
    std::vector<Named> named;
    for (std::size_t i = 0; i < sweeps.size(); ++i) named.push_back({&trials[i], sweeps[i].begin()->second->platform});
    const auto names = distinct_names(named);
    const auto& workload = trials.front().workload;
    const BatchAxis axis(sweeps);
    for (const bool rate : {true, false}) {
      Picture picture;
      picture.id = fmt::format("{}-{}", rate ? "throughput" : "latency", pictures.size() / 2 + 1);
      picture.question = "Which batch?";
      picture.title = fmt::format("{} of {} {} by batch", rate ? "Throughput" : "Time of a step", workload.network,
                                  name_of(workload.mode));
      picture.answer =
          rate ? batch_answer(sweeps, names)
               : fmt::format("The line joins medians over fresh processes, the band is their 95 % interval{}",
                             runs.empty() ? "." : ", each dot is one process.");
      picture.command = command_of("assay show --all", evidence);
      picture.x = axis.axis();
      picture.y.title = rate ? "samples/s" : "ms";
      for (std::size_t i = 0; i < sweeps.size(); ++i) {
        add_sweep(picture, sweeps[i], names[i], axis, rate ? kThroughput : kLatency, runs);
      }
      pictures.push_back(std::move(picture));
    }
  }
  return pictures;
}

}  // namespace assay::report
