#include "cli/commands/predict/predict_source.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/file.hpp"
#include "assay/network/network.hpp"
#include "assay/store/selection.hpp"
#include "assay/store/store.hpp"
#include "cli/command.hpp"
#include "cli/commands/show_network.hpp"

namespace assay::cli {
namespace {

constexpr std::int64_t kUsualBatch = 32;
constexpr std::size_t kMostTableBytes = 16u << 20;
constexpr double kNormal90 = 1.645;

/// The one measured trial that is meant: training of that network on one process; where there is none, by several
/// instances at once, which is a device that shares its machine.
store::TrialRow training_trial(const PredictSource& o, const std::vector<store::TrialRow>& trials) {
  std::vector<store::TrialRow> found;
  std::vector<store::TrialRow> sharing;
  for (const auto& row : trials) {
    const auto& workload = row.trial.workload;
    if (workload.network != o.network || workload.mode != Mode::train || row.trial.placement.ranks != 1) continue;
    if (o.batch != 0 && workload.batch != o.batch) continue;
    (row.trial.settings.instances.value_or(1) == 1 ? found : sharing).push_back(row);
  }
  if (found.empty()) found = sharing;
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    fail(
        ErrorKind::usage,
        "the campaign has no training of {}{} on one process. Measure it: assay run {} --mode train --layers --name {}",
        o.network, o.batch > 0 ? fmt::format(" with batch {}", o.batch) : "", o.network, o.campaign);
  }
  std::string all;
  for (const auto& row : found) all += "\n  " + title(row.trial);
  fail(ErrorKind::usage, "{} trials of the campaign fit; choose with --batch, or a campaign that has one:{}",
       found.size(), all);
}

/// A run by its step.
struct Step {
  double ns = 0;
  std::int64_t index = 0;
};

/// Those that count, shortest first. Where all were disturbed, they are better than nothing, and a note says so.
std::vector<Step> steps_of(const std::vector<store::RunRow>& runs, const Trial& trial,
                           std::vector<std::string>& notes) {
  std::vector<Step> steps;
  std::vector<Step> disturbed;
  for (const auto& run : runs) {
    if (!run.counted || run.outcome != OutcomeKind::ok || !run.summary.median_ns) continue;
    (run.trusted ? steps : disturbed).push_back({static_cast<double>(*run.summary.median_ns), run.index});
  }
  if (steps.empty() && disturbed.empty()) {
    fail(ErrorKind::usage, "no run of {} has ended well; `assay show` says why. Measure it again.", title(trial));
  }
  if (steps.empty()) {
    notes.push_back(
        fmt::format("All {} runs that were measured were disturbed: times may be too long.", disturbed.size()));
    steps = disturbed;
  }
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.ns < b.ns; });
  return steps;
}

/// How far a run may be off, as a factor: 90 % of a normal distribution of logarithms.
double spread_of(const std::vector<Step>& steps) {
  const auto count = static_cast<double>(steps.size());
  double mean = 0;
  for (const auto& step : steps) mean += std::log(step.ns) / count;
  double variance = 0;
  for (const auto& step : steps) variance += std::pow(std::log(step.ns) - mean, 2) / (count - 1);
  return std::exp(kNormal90 * std::sqrt(variance));
}

/// What computes is scaled so that the whole is the step as it was timed in one piece.
predict::LayerTable scaled_to(const predict::LayerTable& table, double step_seconds) {
  const double input = table.load_seconds + table.transfer_seconds;
  const double split = table.forward_seconds() + table.backward_seconds() + table.update_seconds;
  return step_seconds > input ? predict::slowed(table, (step_seconds - input) / split) : table;
}

/// Layers of the run whose step is the median.
SourceTable measured_source(const PredictSource& o) {
  const auto store = store::open_store(o.store, store::Access::read);
  const auto campaign = store::choose_campaign(store->campaigns(), o.campaign, o.store).id;
  const auto trial = training_trial(o, store->trials({.campaign = campaign}));
  const store::Filter filter{.campaign = campaign, .trial = trial.id};
  SourceTable source;
  source.options = trial.trial.workload.options;
  source.precision = trial.trial.workload.precision;
  const auto steps = steps_of(store->runs(filter), trial.trial, source.notes);
  const auto& chosen = steps[steps.size() / 2];
  const auto& workload = trial.trial.workload;
  const auto graph = network::build(workload.network, workload.options);
  store->records(filter, [&](const Record& record) {
    if (record.index != chosen.index || record.ranks.empty()) return;
    const auto table = predict::measured_layers(graph, {workload.batch, workload.precision}, record.ranks.front());
    source.table = scaled_to(table, 1e-9 * chosen.ns);
  });
  if (steps.size() >= 3) {
    source.slowest = spread_of(steps);
    source.fastest = 1 / source.slowest;
    source.range = predict::RangeKind::interval;
  }
  source.notes.push_back(fmt::format("Layers: {}, the median of {} runs.", title(trial.trial), steps.size()));
  return source;
}

/// What flags say of the network.
SourceTable labelled(const PredictSource& o) {
  NetworkFlags flags;
  flags.options = o.options;
  SourceTable source;
  source.options = network_options(flags);
  source.precision = o.precision;
  return source;
}

SourceTable assumed_source(const PredictSource& o, const predict::Cluster& cluster) {
  SourceTable source = labelled(o);
  const auto graph = network::build(o.network, source.options);
  const auto& share = cluster.device.efficiency;
  source.table = predict::assumed_layers(graph, {o.batch > 0 ? o.batch : kUsualBatch, o.precision}, cluster.device,
                                         share.middle());
  source.fastest = share.middle() / share.high;
  source.slowest = share.middle() / share.low;
  source.range = predict::RangeKind::what_if;
  source.notes.push_back(fmt::format("Layers: assumed, products at {:.0f} to {:.0f} % of the peak of {}.",
                                     100 * share.low, 100 * share.high,
                                     cluster.device.name.empty() ? "the device" : cluster.device.name));
  return source;
}

SourceTable table_of_file(const PredictSource& o) {
  const auto text = read_file(o.layers, kMostTableBytes);
  SourceTable source = labelled(o);
  if (o.layers.ends_with(".json")) {
    source.table = predict::parse_layer_json(text, o.layers);
    if (o.batch > 0) source.table = at_batch(source.table, o.batch);
  } else {
    source.table = predict::parse_layers(text, o.layers, o.batch > 0 ? o.batch : kUsualBatch);
  }
  source.table.name = o.network;
  return source;
}

}  // namespace

void add_source_flags(CLI::App& command, PredictSource& source) {
  command.add_option("network", source.network, "Train this network; with --score: take only its predictions");
  command.add_option("--option", source.options, "Set an option of the network, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--batch", source.batch, "Give each device this many samples a step [as measured, or 32]")
      ->check(CLI::Range(1, 1 << 24));
  command.add_option("--precision", source.precision, "Keep parameters and gradients in this precision")
      ->capture_default_str();
  add_store_option(command, source.store);
  command.add_option("--campaign", source.campaign, "Take layers as this campaign measured them");
  command
      .add_option(
          "--layers", source.layers,
          "Take layers from a file: CSV (layer, forward_ms, backward_ms, gradient_bytes), or JSON of `assay import`")
      ->type_name("PATH");
}

SourceTable table_of(const PredictSource& source, const predict::Cluster& cluster) {
  if (!source.campaign.empty() && !source.layers.empty()) {
    fail(ErrorKind::usage, "--campaign and --layers both say how long layers take. Leave one out.");
  }
  if (!source.layers.empty()) return table_of_file(source);
  return source.campaign.empty() ? assumed_source(source, cluster) : measured_source(source);
}

}  // namespace assay::cli
