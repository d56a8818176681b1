#include "assay/report/results/detail.hpp"

#include <algorithm>

#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

void count(std::vector<EffectiveValue>& values, const json& value) {
  for (auto& known : values) {
    if (known.value != value) continue;
    ++known.runs;
    return;
  }
  values.push_back({value, 1});
}

void count(std::vector<ReasonCount>& reasons, const Reason& reason) {
  for (auto& known : reasons) {
    if (known.code != reason.code) continue;
    ++known.runs;
    return;
  }
  reasons.push_back({reason.code, reason.passing, 1, reason.message});
}

template <typename T>
void most_frequent_first(std::vector<T>& values) {
  std::stable_sort(values.begin(), values.end(), [](const T& a, const T& b) { return a.runs > b.runs; });
}

}  // namespace

std::optional<Phases> phases_of(const std::vector<const store::Digest*>& runs, const std::optional<double>& step_ns) {
  std::map<std::string, std::vector<double>> by_name;
  for (const auto* run : runs) {
    for (const auto& process : run->phase_medians_ns) {
      for (const auto& [name, ns] : process) by_name[name].push_back(ns);
    }
  }
  if (by_name.empty()) return std::nullopt;
  Phases phases;
  double sum = 0;
  for (const auto& [name, values] : by_name) {
    phases.seconds[name] = stats::median(values) / 1e9;
    sum += phases.seconds[name];
  }
  if (step_ns && *step_ns > 0) phases.sum_over_step = sum / (*step_ns / 1e9);
  return phases;
}

Details summarise(const std::vector<const store::Digest*>& runs) {
  Details details;
  std::vector<double> memory;
  std::vector<double> layers;
  std::vector<double> correlations;
  for (const auto* run : runs) {
    for (const auto& [name, values] : run->effective) {
      for (const auto& value : values) count(details.effective[name], value);
    }
    for (const auto& reason : run->reasons) count(details.reasons, reason);
    if (run->peak_memory_bytes) memory.push_back(static_cast<double>(*run->peak_memory_bytes));
    if (run->layers_over_step) layers.push_back(*run->layers_over_step);
    if (!run->steady) continue;
    ++details.steady[run->steady->kind];
    if (run->steady->autocorrelation) correlations.push_back(*run->steady->autocorrelation);
  }
  if (!correlations.empty()) details.autocorrelation = stats::median(correlations);
  for (auto& [name, values] : details.effective) most_frequent_first(values);
  most_frequent_first(details.reasons);
  if (!memory.empty()) details.peak_memory_bytes = stats::median(memory);
  if (!layers.empty()) details.layers_over_step = stats::median(layers);
  return details;
}

std::vector<std::string> differences(const Settings& asked, const Details& details, std::int64_t runs) {
  std::vector<std::string> lines;
  const json settings = to_json(asked);
  for (const auto& [name, values] : details.effective) {
    const auto wanted = settings.find(name);
    if (wanted == settings.end() || wanted->is_null()) continue;
    for (const auto& [value, count] : values) {
      if (value == *wanted) continue;
      const std::string how_many =
          count == runs ? fmt::format("all {} runs", runs) : fmt::format("{} of {} runs", count, runs);
      lines.push_back(
          fmt::format("{}: asked {}, took effect {} ({})", name, plain_text(*wanted), plain_text(value), how_many));
    }
  }
  return lines;
}

}  // namespace assay::report
