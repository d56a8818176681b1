#include <algorithm>
#include <array>

#include "assay/core/text/units.hpp"
#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostBars = 14;
constexpr std::size_t kMostLayerBars = 20;
/// The step of the optimiser, which is timed beside the layers and is none.
constexpr std::string_view kUpdate = "update";

constexpr std::array<const char*, 6> kPhaseOrder{"load", "transfer", "forward", "backward", "communicate", "update"};

/// Names of phases in the order of a step; others behind.
std::vector<std::string> phase_names(const std::vector<const Result*>& results) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const char* name : kPhaseOrder) {
    for (const auto* result : results) {
      if (result->details.phases->seconds.count(name) > 0) add(name);
    }
  }
  for (const auto* result : results) {
    for (const auto& phase : result->details.phases->seconds) add(phase.first);
  }
  return names;
}

double sum_of(const Phases& phases) {
  double sum = 0;
  for (const auto& [name, seconds] : phases.seconds) sum += seconds;
  return sum;
}

/// Results with more than one phase: one alone says nothing.
std::vector<const Result*> with_phases(const Evidence& evidence) {
  std::vector<const Result*> all;
  for (const auto* result : good_results(evidence)) {
    const auto& phases = result->details.phases;
    if (phases && phases->seconds.size() > 1 && sum_of(*phases) > 0) all.push_back(result);
  }
  std::vector<const Result*> some;
  for (const auto i : spread(all.size(), kMostBars)) some.push_back(all[i]);
  return some;
}

std::string phases_answer(const Result& result) {
  const auto& phases = *result.details.phases;
  const auto most = std::max_element(phases.seconds.begin(), phases.seconds.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("The phase {} takes {:.0f} % of a step of {}: {} of {}.", most->first,
                     100 * most->second / sum_of(phases), title(result.trial.workload),
                     format_duration(most->second * 1e9), format_duration(sum_of(phases) * 1e9));
}

}  // namespace

std::vector<Picture> phase_pictures(const Evidence& evidence) {
  const auto results = with_phases(evidence);
  if (results.empty()) return {};
  std::vector<Named> named;
  for (const auto* result : results) named.push_back({&result->trial, result->platform});
  Picture picture;
  picture.id = "phases";
  picture.question = "Where does the time go?";
  picture.title = "Phases of a step: " + common_name(named);
  const auto* first = headline(evidence);
  const auto shown_first = std::find(results.begin(), results.end(), first);
  picture.answer = phases_answer(shown_first == results.end() ? *results.back() : *first);
  picture.command = command_of("assay show --all --json", evidence);
  picture.x.title = "% of the step";
  picture.y.kind = PictureAxisKind::category;
  picture.y.categories = distinct_names(named);
  std::vector<double> ends(results.size(), 0);
  std::int64_t colour = 0;
  for (const auto& phase : phase_names(results)) {
    Series series{.name = phase, .kind = SeriesKind::bars, .colour = colour++};
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto& phases = *results[i]->details.phases;
      const auto it = phases.seconds.find(phase);
      if (it == phases.seconds.end()) continue;
      const double share = 100 * it->second / sum_of(phases);
      series.marks.push_back({.y = static_cast<double>(i),
                              .low = ends[i],
                              .high = ends[i] + share,
                              .text = fmt::format("{:.0f}", share),
                              .note = format_duration(it->second * 1e9)});
      ends[i] += share;
    }
    picture.series.push_back(std::move(series));
  }
  return {picture};
}

std::vector<Picture> layer_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  for (const auto& of_trial : evidence.layers) {
    auto layers = of_trial.layers;
    const auto total = [](const NodeTime& layer) { return layer.forward_ns + layer.backward_ns; };
    std::stable_sort(layers.begin(), layers.end(), [&](const auto& a, const auto& b) { return total(a) > total(b); });
    double sum = 0;
    for (const auto& layer : layers) sum += total(layer);
    if (layers.empty() || sum <= 0) continue;
    const auto shown_layers = std::min(layers.size(), kMostLayerBars);
    Picture picture;
    picture.id = fmt::format("layers-{}", pictures.size() + 1);
    picture.question = "Where does the time go?";
    picture.title = fmt::format("The slowest layers: {} on {}", title(of_trial.trial.trial.workload),
                                of_trial.trial.trial.worker.name);
    picture.command = command_of("assay show --layers --trial " + of_trial.trial.id.substr(0, 12), evidence);
    picture.x.title = "ms";
    picture.y.kind = PictureAxisKind::category;
    Series forward{.name = "forward", .kind = SeriesKind::bars, .colour = 0};
    Series backward{.name = "backward", .kind = SeriesKind::bars, .colour = 1};
    Series update{.name = "update", .kind = SeriesKind::bars, .colour = 3};
    double covered = 0;
    for (std::size_t i = 0; i < shown_layers; ++i) {
      const auto& layer = layers[i];
      covered += total(layer);
      picture.y.categories.push_back(layer.node);
      const double middle = layer.forward_ns * 1e-6;
      const auto note = fmt::format("{:.1f} % of all layers", 100 * total(layer) / sum);
      auto& first = layer.node == kUpdate ? update : forward;
      first.marks.push_back({.y = static_cast<double>(i), .low = 0, .high = middle, .note = note});
      if (layer.backward_ns <= 0) continue;
      backward.marks.push_back({.y = static_cast<double>(i), .low = middle, .high = total(layer) * 1e-6, .note = note});
    }
    picture.answer =
        fmt::format("{} takes {:.0f} % of the time of all layers, the {} slowest of {} together {:.0f} %.",
                    layers[0].node, 100 * total(layers[0]) / sum, shown_layers, layers.size(), 100 * covered / sum);
    picture.series.push_back(std::move(forward));
    if (!backward.marks.empty()) picture.series.push_back(std::move(backward));
    if (!update.marks.empty()) picture.series.push_back(std::move(update));
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

}  // namespace assay::report
