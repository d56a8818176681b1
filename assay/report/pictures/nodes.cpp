#include <algorithm>
#include <map>
#include <set>

#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostCurves = 4;

std::int64_t processes_of(const Trial& trial) {
  return trial.placement.ranks * trial.settings.instances.value_or(1);
}

/// Results that differ in their number of processes alone, by that number; each process keeps its batch.
using ProcessSweep = std::map<std::int64_t, const Result*>;

std::vector<ProcessSweep> process_sweeps(const Evidence& evidence) {
  std::map<std::string, ProcessSweep> by_key;
  for (const auto* result : good_results(evidence)) {
    by_key[key_without(result->trial, result->platform, {"ranks", "ranks_per_node", "instances"})]
          [processes_of(result->trial)] = result;
  }
  std::vector<ProcessSweep> sweeps;
  for (auto& [key, sweep] : by_key) {
    if (sweep.size() > 1 && sweep.begin()->first == 1) sweeps.push_back(std::move(sweep));
  }
  std::stable_sort(sweeps.begin(), sweeps.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (sweeps.size() > kMostCurves) sweeps.resize(kMostCurves);
  return sweeps;
}

/// Newest predictions of different networks and clusters.
std::vector<const predict::ScalingPrediction*> newest_predictions(const Evidence& evidence) {
  std::vector<const predict::ScalingPrediction*> newest;
  std::set<std::pair<std::string, std::string>> seen;
  for (auto it = evidence.predictions.rbegin(); it != evidence.predictions.rend(); ++it) {
    if (newest.size() == kMostCurves || it->points.size() < 2) continue;
    if (seen.emplace(it->network, it->cluster).second) newest.push_back(&*it);
  }
  return newest;
}

class CountAxis {
 public:
  void add(std::int64_t count) { counts_.insert(count); }
  double place(std::int64_t count) const {
    return static_cast<double>(std::distance(counts_.begin(), counts_.find(count)));
  }
  PictureAxis axis() const {
    PictureAxis axis{.title = "devices or processes", .kind = PictureAxisKind::category};
    for (const auto count : counts_) axis.categories.push_back(std::to_string(count));
    return axis;
  }

 private:
  std::set<std::int64_t> counts_;
};

/// The ends of an efficiency: what is assumed of compute makes one device as fast or slow as it makes many, so that
/// each end of the range is held to the same end of one device. Nothing where that is not known.
void add_band(Mark& mark, const predict::ScalePoint& point, const predict::ScalePoint& one) {
  if (one.devices != 1 || !(point.low_seconds > 0) || !(point.high_seconds > point.low_seconds)) return;
  const double middle = one.step.seconds / point.step.seconds;
  const double best = mark.y * (one.low_seconds / point.low_seconds) / middle;
  const double worst = mark.y * (one.high_seconds / point.high_seconds) / middle;
  mark.low = std::min({best, worst, mark.y});
  mark.high = std::max({best, worst, mark.y});
}

Series predicted_curve(const predict::ScalingPrediction& said, const CountAxis& axis, std::int64_t colour) {
  const char* band = said.range == predict::RangeKind::interval  ? "90 % band"
                     : said.range == predict::RangeKind::what_if ? "band: what if"
                                                                 : "no band";
  Series series{.name = fmt::format("predicted: {} on {} ({})", said.network, said.cluster, band),
                .kind = SeriesKind::line,
                .colour = colour,
                .dashed = true};
  for (const auto& point : said.points) {
    Mark mark{.x = axis.place(point.devices),
              .y = 100 * point.efficiency,
              .note = fmt::format("limited by {}", name_of(point.limit))};
    add_band(mark, point, said.points.front());
    series.marks.push_back(std::move(mark));
  }
  return series;
}

Series measured_curve(const ProcessSweep& sweep, const std::string& name, const CountAxis& axis, std::int64_t colour) {
  Series series{.name = "measured: " + name, .kind = SeriesKind::dots, .colour = colour};
  const double one = *sweep.begin()->second->samples_per_second;
  for (const auto& [count, result] : sweep) {
    const double efficiency = 100 * *result->samples_per_second / (static_cast<double>(count) * one);
    Mark mark{.x = axis.place(count),
              .y = efficiency,
              .note = fmt::format("{} samples/s", short_number(*result->samples_per_second))};
    if (const auto& interval = result->median_interval) {
      mark.low = efficiency * *result->median_ns / interval->high;
      mark.high = efficiency * *result->median_ns / interval->low;
    }
    series.marks.push_back(std::move(mark));
  }
  return series;
}

std::string nodes_answer(const std::vector<const predict::ScalingPrediction*>& predictions,
                         const std::vector<ProcessSweep>& sweeps) {
  if (!predictions.empty()) {
    const auto& said = *predictions.front();
    const auto& last = said.points.back();
    return fmt::format("Predicted for {} on {}: {:.0f} % efficiency at {} devices, limited by {}.", said.network,
                       said.cluster, 100 * last.efficiency, last.devices, name_of(last.limit));
  }
  const auto& sweep = sweeps.front();
  const auto& last = *sweep.rbegin();
  return fmt::format("Measured: {} processes do {:.2f} times the work of one.", last.first,
                     *last.second->samples_per_second / *sweep.begin()->second->samples_per_second);
}

}  // namespace

std::vector<Picture> nodes_pictures(const Evidence& evidence) {
  const auto predictions = newest_predictions(evidence);
  const auto sweeps = process_sweeps(evidence);
  if (predictions.empty() && sweeps.empty()) return {};
  CountAxis axis;
  for (const auto* said : predictions) {
    for (const auto& point : said->points) axis.add(point.devices);
  }
  std::vector<Named> named;
  for (const auto& sweep : sweeps) {
    for (const auto& point : sweep) axis.add(point.first);
    named.push_back({&sweep.begin()->second->trial, sweep.begin()->second->platform});
  }
  Picture picture;
  picture.id = "nodes";
  picture.question = "How many nodes?";
  picture.title = "Efficiency: work done over that of as many alone";
  picture.answer = nodes_answer(predictions, sweeps);
  picture.command = predictions.empty() ? command_of("assay show --all", evidence) : "assay predict --help";
  picture.x = axis.axis();
  picture.y.title = "%";
  std::int64_t colour = 0;
  for (const auto* said : predictions) picture.series.push_back(predicted_curve(*said, axis, colour++));
  const auto names = distinct_names(named);
  for (std::size_t i = 0; i < sweeps.size(); ++i)
    picture.series.push_back(measured_curve(sweeps[i], names[i], axis, colour++));
  return {picture};
}

}  // namespace assay::report
