#include "assay/predict/serving/stacks/stack_fitter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/predict/calibration/bounded_fit.hpp"

namespace assay::predict {
namespace {

constexpr double kWild = 2;  // spreads beyond which a residual counts by its size
// A request waits for almost nothing, or for the next answer to end: valleys between which no slope leads.
constexpr std::array kWaits{0.005, 1.0};

}  // namespace

PreparedRows prepared(const ServingRowRefs& rows, const DeviceTimes& times, double room, double cache_element_bytes) {
  PreparedRows all;
  for (const auto* row : rows) {
    auto point = row->point;
    point.model.cache_element_bytes = cache_element_bytes;
    all.push_back({row, point, parts_of(point, times.at(row->device), room)});
  }
  return all;
}

StackFitter::StackFitter(ServingMode mode, const StackPrior& prior, const StackConstants& group, bool is_root)
    : mode_(mode), prior_(prior), group_(group), is_root_(is_root) {}

StackConstants StackFitter::fit(const PreparedRows& rows) const {
  auto best = from(rows, group_);
  if (mode_ == ServingMode::static_batch) return best;
  for (const double wait : kWaits) {
    auto start = group_;
    start.wait = wait;
    const auto other = from(rows, start);
    if (cost(rows, other) < cost(rows, best)) best = other;
  }
  return best;
}

StackConstants StackFitter::from(const PreparedRows& rows, const StackConstants& start) const {
  std::vector<BoundedConstant> constants;
  for (const auto& one : serving_constants(mode_)) {
    const double low = std::log(one.low);
    const double high = std::log(one.high);
    constants.push_back({std::clamp(std::log(start.*one.member), low, high), low, high});
  }
  return at(bounded_least_squares([&](const auto& logs) { return residuals(rows, logs); }, constants));
}

double StackFitter::cost(const PreparedRows& rows, const StackConstants& constants) const {
  std::vector<double> logs;
  for (const auto& one : serving_constants(mode_)) logs.push_back(std::log(constants.*one.member));
  double sum = 0;
  for (const double one : residuals(rows, logs)) sum += one * one;
  return sum;
}

std::vector<std::string> StackFitter::at_bounds(const StackConstants& constants) const {
  std::vector<std::string> names;
  for (const auto& one : serving_constants(mode_)) {
    const double value = constants.*one.member;
    if (value <= one.low * 1.001 || value >= one.high / 1.001) names.emplace_back(one.name);
  }
  return names;
}

StackConstants StackFitter::at(const std::vector<double>& logs) const {
  auto constants = group_;
  const auto& fitted = serving_constants(mode_);
  for (std::size_t i = 0; i < logs.size(); ++i) constants.*fitted[i].member = std::exp(logs[i]);
  return constants;
}

std::vector<double> StackFitter::residuals(const PreparedRows& rows, const std::vector<double>& logs) const {
  const auto constants = at(logs);
  std::vector<double> left;
  for (const auto& one : rows) {
    const auto times = serving_times(one.point, one.parts, constants);
    if (const auto seconds = one.row->token_seconds) {
      left.push_back(softened(std::log(times.token_seconds / *seconds) / prior_.token_spread, kWild));
    }
    if (const auto seconds = one.row->first_token_seconds) {
      left.push_back(softened(std::log(times.first_token_seconds / *seconds) / prior_.first_token_spread, kWild));
    }
  }
  const auto& fitted = serving_constants(mode_);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const auto& spread = prior_.spread(fitted[i].kind);
    left.push_back((logs[i] - std::log(group_.*fitted[i].member)) / (is_root_ ? spread.root : spread.family));
  }
  return left;
}

}  // namespace assay::predict
