#include "assay/predict/serving/stacks/stack_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::predict {
namespace {

constexpr std::size_t kLevels = 4;      // all, a server, its rows of one type, the stack
constexpr std::size_t kFewRows = 10;    // below which a stack's own residuals say little of its range
constexpr std::size_t kShiftRows = 20;  // from which rows say what a range grows by
constexpr double kShiftCoverage = 0.9;

std::string mode_name(ServingMode mode) {
  return mode == ServingMode::closed_loop ? "all" : "all static batches";
}

/// From the widest group to the stack itself.
std::array<std::string, kLevels> names_of(const StackName& stack, ServingMode mode) {
  return {mode_name(mode), stack.server + ", all", fmt::format("{}, all {}", stack.server, name_of(stack.weights)),
          stack.text()};
}

RangedTime ranged(double value, double range) {
  return {value * std::exp(-range), value, value * std::exp(range)};
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

double doublings_beyond(std::int64_t tensor, std::int64_t largest) {
  return std::max(0.0, std::log2(static_cast<double>(tensor) / static_cast<double>(largest)));
}

/// How far residuals are beyond a range, for each unit of the shift.
std::vector<double> beyond(const std::vector<double>& residuals, double range, double units) {
  std::vector<double> left;
  for (const double one : residuals) left.push_back(std::max(0.0, one - range) / units);
  return left;
}

/// What ranges would have had to grow by, over all rows that a kind of shift was tried on.
struct Shift {
  ServingResiduals left;

  void add(const ServingResiduals& residuals, const ServingRanges& ranges, double units) {
    left.add({beyond(residuals.first_token, ranges.first_token, units), beyond(residuals.token, ranges.token, units),
              beyond(residuals.throughput, ranges.throughput, units)});
  }

  /// Puts it in the place of what is assumed, where there are rows enough.
  void put(ServingRanges& place, const char* name, ServingWidening& widening) const {
    if (left.token.size() < kShiftRows || left.first_token.size() < kShiftRows || left.throughput.empty()) return;
    place = {conformal_width(left.first_token, kShiftCoverage), conformal_width(left.token, kShiftCoverage),
             conformal_width(left.throughput, kShiftCoverage)};
    widening.fitted.emplace_back(name);
  }
};

}  // namespace

CalibratedStacks::CalibratedStacks(const std::vector<ServingRow>& rows, const DeviceTimes& times,
                                   const ServingPriors& priors, bool ranges)
    : times_(times), priors_(priors) {
  ASSAY_CHECK(!rows.empty());
  std::array<Groups, kLevels> levels;
  for (std::size_t level = 0; level < kLevels; ++level) {
    for (const auto& row : rows) levels[level][names_of(row.stack, row.point.mode)[level]].push_back(&row);
    fit_level(levels[level], level);
  }
  for (const auto mode : {ServingMode::closed_loop, ServingMode::static_batch}) widening_[mode] = {};
  if (!ranges) return;
  for (std::size_t level = 0; level < kLevels; ++level) {
    for (const auto& [name, own] : levels[level]) set_ranges(name, own, level);
  }
  for (const auto mode : {ServingMode::closed_loop, ServingMode::static_batch}) set_widening(levels.back(), mode);
}

const StackConstants* CalibratedStacks::parent_of(const ServingRow& row, std::size_t level) const {
  return level == 0 ? nullptr : &stacks_.at(names_of(row.stack, row.point.mode)[level - 1]).constants;
}

void CalibratedStacks::fit_level(const Groups& groups, std::size_t level) {
  for (const auto& [name, own] : groups) {
    const auto& first = *own.front();
    stacks_[name] = fit_group(own, times_, priors_.of(first.point.mode), parent_of(first, level));
  }
}

/// A stack from leaving whole lengths or configurations out; a group, from leaving out whole stacks.
void CalibratedStacks::set_ranges(const std::string& name, const ServingRowRefs& rows, std::size_t level) {
  const auto& first = *rows.front();
  const auto& prior = priors_.of(first.point.mode);
  const auto* parent = parent_of(first, level);
  const auto fit = [&](const ServingRowRefs& kept) { return fit_group(kept, times_, prior, parent); };
  auto& stack = stacks_.at(name);
  if (level + 1 < kLevels) {
    stack.ranges = ranges_of(left_out(
        rows, times_, [](const ServingRow& row) { return row.stack.text(); }, fit));
    return;
  }
  stack.ranges = ranges_of(left_out(rows, times_, fold_of, fit));
  if (rows.size() >= kFewRows) return;  // a few rows may be near by chance
  stack.ranges = wider(stack.ranges, stacks_.at(names_of(first.stack, first.point.mode)[level - 1]).ranges);
}

void CalibratedStacks::set_widening(const Groups& stacks, ServingMode mode) {
  Shift doubling;
  Shift device;
  Shift model;
  for (const auto& [name, rows] : stacks) {
    const auto& first = *rows.front();
    if (first.point.mode != mode) continue;
    const auto& stack = stacks_.at(name);
    const auto* parent = parent_of(first, kLevels - 1);
    const auto fit = [&](const ServingRowRefs& kept) { return fit_group(kept, times_, priors_.of(mode), parent); };
    if (stack.devices.size() > 1) {
      const auto of_device = [](const ServingRow& row) { return row.device; };
      device.add(left_out(rows, times_, of_device, fit), stack.ranges, 1);
    }
    if (stack.models.size() > 1) {
      const auto of_model = [](const ServingRow& row) { return row.point.model.shape.name; };
      model.add(left_out(rows, times_, of_model, fit), stack.ranges, 1);
    }
    ServingRowRefs smaller;
    ServingRowRefs largest;
    std::int64_t next = 0;
    for (const auto* row : rows) {
      const bool is_largest = row->point.model.tensor == stack.largest_tensor;
      (is_largest ? largest : smaller).push_back(row);
      if (!is_largest) next = std::max(next, row->point.model.tensor);
    }
    if (smaller.empty()) continue;
    const auto known = fit(smaller);
    ServingResiduals said;
    for (const auto& one : prepared(largest, times_, known.room, known.cache_element_bytes)) {
      said.add(one, known.constants);
    }
    doubling.add(said, stack.ranges, doublings_beyond(stack.largest_tensor, next));
  }
  auto& widening = widening_[mode];
  doubling.put(widening.per_doubling, "per_doubling", widening);
  device.put(widening.new_device, "new_device", widening);
  model.put(widening.new_model, "new_model", widening);
}

std::pair<std::string, const FittedStack*> CalibratedStacks::nearest(const StackName& stack, ServingMode mode) const {
  const auto levels = names_of(stack, mode);
  std::vector<std::string> names(levels.rbegin(), levels.rend());
  names.push_back(mode_name(ServingMode::closed_loop));
  names.push_back(mode_name(ServingMode::static_batch));
  for (const auto& name : names) {
    const auto found = stacks_.find(name);
    if (found != stacks_.end()) return {name, &found->second};
  }
  ASSAY_CHECK(false);
  return {"", nullptr};
}

ServingPrediction CalibratedStacks::predict(const StackName& stack, const std::string& device,
                                            const ServingPoint& point) const {
  const auto found = nearest(stack, point.mode);
  const auto& name = found.first;
  const auto& known = found.second;
  auto asked = point;
  asked.model.cache_element_bytes = known->cache_element_bytes;
  ServingPrediction said;
  said.times = serving_times(asked, parts_of(asked, times_.at(device), known->room), known->constants);
  const auto& widening = widening_.at(point.mode);
  const double doublings = doublings_beyond(point.model.tensor, known->largest_tensor);
  const double is_new_device = contains(known->devices, device) ? 0 : 1;
  const double is_new_model = contains(known->models, point.model.shape.name) ? 0 : 1;
  const auto range = [&](double ServingRanges::*time) {
    return known->ranges.*time + doublings * widening.per_doubling.*time + is_new_device * widening.new_device.*time +
           is_new_model * widening.new_model.*time;
  };
  said.first_token_seconds = ranged(said.times.first_token_seconds, range(&ServingRanges::first_token));
  said.token_seconds = ranged(said.times.token_seconds, range(&ServingRanges::token));
  said.tokens_per_second = ranged(said.times.tokens_per_second, range(&ServingRanges::throughput));
  said.rests_on = fmt::format("{} rows of {}", known->rows, name);
  return said;
}

}  // namespace assay::predict
