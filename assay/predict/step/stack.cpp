#include "assay/predict/step/stack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "assay/predict/calibration/bounded_fit.hpp"

namespace assay::predict {
namespace {

constexpr double kRangeShare = .9;
constexpr std::size_t kLeastRegimeRows = 25;
constexpr std::size_t kRangeFolds = 8;
constexpr std::size_t kChoiceFolds = 5;
constexpr std::array kPulls{.01, .03, .1};
constexpr std::array kSoftnesses{.03, .1};
constexpr std::size_t kLeastFitRows = 3;
constexpr std::size_t kLeastDeviceRows = 20;
constexpr double kEffectRows = 3;   // a factor from so many rows is believed by half
constexpr double kMostEffect = .5;  // of a logarithm, for one row
constexpr int kEffectRounds = 20;
constexpr double kWidenPerDoubling = .01;
constexpr double kAssumedWidth = .42;  // of published jobs by usual constants, without rows of vtrain_single
constexpr double kAssumedExpertsWidth = .75;
constexpr double kAssumedDevices = 1024;  // that those jobs have at most
constexpr double kWidenNewDevice = 1.5;
constexpr double kBound = 3;  // of logarithms around the start
constexpr double kNearBound = .01;
constexpr double kMoved = 1e-9;  // a constant that no row shows stays where it starts

/// Constants as logarithms, in the order of the map's names.
class ConstantFit {
 public:
  ConstantFit(const RowMap& map, StepConstants start, const std::set<std::string>& refused) : start_(start) {
    for (const auto& spec : step_constant_specs()) {
      const bool named = std::find(map.constants.begin(), map.constants.end(), spec.name) != map.constants.end();
      if (named && !refused.contains(spec.name)) free_.push_back(spec);
    }
  }

  StepConstants at(const std::vector<double>& logs) const {
    auto c = start_;
    for (std::size_t i = 0; i < free_.size(); ++i) c.*free_[i].value = std::exp(logs[i]);
    return c;
  }

  std::vector<BoundedConstant> bounds() const {
    std::vector<BoundedConstant> all;
    for (const auto& spec : free_) {
      const double log = std::log(start_.*spec.value);
      all.push_back({log, log - kBound, log + kBound});
    }
    return all;
  }

  const std::vector<StepConstantSpec>& free() const { return free_; }

 private:
  StepConstants start_;
  std::vector<StepConstantSpec> free_;
};

StepConstants started(const RowMap& map) {
  StepConstants c;
  for (const auto& spec : step_constant_specs()) {
    if (const auto found = map.start.find(spec.name); found != map.start.end()) c.*spec.value = found->second;
  }
  return c;
}

double log_ratio(const JobRow& row, const StepConstants& c) {
  return std::log(step_time(row.work, row.job.plan, c).seconds / *row.measured_seconds);
}

StepConstants fitted_constants(const RowMap& map, const FitChoice& choice, const std::vector<const JobRow*>& rows,
                               const StepConstants& start, const std::set<std::string>& refused) {
  const ConstantFit fit(map, start, refused);
  if (fit.free().empty()) return start;
  const auto bounds = fit.bounds();
  const double weight = choice.pull * std::sqrt(static_cast<double>(rows.size()));
  const Residuals residuals = [&](const std::vector<double>& logs) {
    const auto c = fit.at(logs);
    std::vector<double> left;
    left.reserve(rows.size() + logs.size());
    for (const auto* row : rows) left.push_back(softened(log_ratio(*row, c), choice.softness));
    for (std::size_t i = 0; i < logs.size(); ++i) {
      left.push_back(softened(weight * (logs[i] - bounds[i].start), choice.softness));
    }
    return left;
  };
  return fit.at(bounded_least_squares(residuals, bounds));
}

/// Factors of all effects together, each drawn towards 1: a few rounds of turns reach the least squares.
std::vector<std::map<std::string, double>> fitted_effects(const std::vector<const JobRow*>& rows,
                                                          std::vector<double> left, std::size_t count) {
  struct Sum {
    double total = 0;
    double rows = kEffectRows;
  };
  for (auto& one : left) one = std::clamp(one, -kMostEffect, kMostEffect);
  std::vector<std::map<std::string, double>> effects(count);
  for (int round = 0; round < kEffectRounds; ++round) {
    for (std::size_t e = 0; e < count; ++e) {
      std::map<std::string, Sum> sums;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& value = rows[i]->effects[e];
        left[i] += effects[e][value];  // what the other effects leave
        auto& sum = sums[value];
        sum.total += left[i];
        sum.rows += 1;
      }
      for (const auto& [value, sum] : sums) effects[e][value] = sum.total / sum.rows;
      for (std::size_t i = 0; i < rows.size(); ++i) left[i] -= effects[e][rows[i]->effects[e]];
    }
  }
  return effects;
}

double effect_of(const std::map<std::string, double>& effects, const std::string& name) {
  const auto found = effects.find(name);
  return found != effects.end() ? found->second : 0;
}

/// Groups dealt to a few folds, the largest first.
std::vector<std::set<std::string>> folds_of(const std::vector<const JobRow*>& rows, std::size_t most) {
  std::map<std::string, std::size_t> sizes;
  for (const auto* row : rows) ++sizes[row->group];
  std::vector<std::pair<std::string, std::size_t>> groups(sizes.begin(), sizes.end());
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::set<std::string>> folds(std::min(most, groups.size()));
  for (std::size_t i = 0; i < groups.size(); ++i) folds[i % folds.size()].insert(groups[i].first);
  return folds;
}

/// Of a whole group that is in turn left out: rows that are left, and rows of the group.
template <typename Leave>
void leave_out(const std::vector<const JobRow*>& rows, const auto& is_out, const Leave& leave) {
  std::vector<const JobRow*> in;
  std::vector<const JobRow*> out;
  for (const auto* row : rows) (is_out(*row) ? out : in).push_back(row);
  if (in.size() >= kLeastFitRows && !out.empty()) leave(in, out);
}

/// Takes the fit of fewer rows into the spread of each constant.
void widen(std::vector<ConstantSpread>& spreads, const StepConstants& without) {
  for (const auto& spec : step_constant_specs()) {
    for (auto& one : spreads) {
      if (one.name != spec.name) continue;
      one.low = std::min(one.low.value_or(one.value), without.*spec.value);
      one.high = std::max(one.high.value_or(one.value), without.*spec.value);
    }
  }
}

std::set<std::string> refused_names(const std::vector<RefusedConstant>& refused, const std::string& device) {
  std::set<std::string> names;
  for (const auto& one : refused) {
    if (one.device == device) names.insert(one.name);
  }
  return names;
}

/// Constants of a fit that end at their bounds.
std::vector<RefusedConstant> at_bounds(const RowMap& map, const StepConstants& start, const StepConstants& found,
                                       const std::string& device) {
  std::vector<RefusedConstant> all;
  const ConstantFit fit(map, start, {});
  for (const auto& spec : fit.free()) {
    const double first = start.*spec.value;
    const double value = found.*spec.value;
    if (std::abs(std::log(value / first)) < kBound - kNearBound) continue;
    all.push_back({spec.name, device, value, first, spec.told_by});
  }
  return all;
}

std::vector<double> sizes_of(const auto& residuals, const std::string& regime) {
  std::vector<double> sizes;
  for (const auto& one : residuals) {
    if (regime.empty() || one.regime == regime) sizes.push_back(one.size);
  }
  return sizes;
}

}  // namespace

std::string regime_of(const JobRow& job, const StepTime& time) {
  if (job.work.has_experts) return "experts";
  if (job.work.sum_across > 0) return "tensor groups across nodes";
  return time.launch_bound ? "launch-bound" : "compute-bound";
}

Stack::Constants Stack::fit(const RowMap& map, const FitChoice& choice, const std::vector<const JobRow*>& rows) const {
  Constants c;
  const auto start = started(map);
  c.all = fitted_constants(map, choice, rows, start, refused_names(refused_, ""));
  if (map.by_device) {
    std::map<std::string, std::vector<const JobRow*>> devices;
    for (const auto* row : rows) devices[row->device].push_back(row);
    for (const auto& [device, own] : devices) {
      if (own.size() >= kLeastDeviceRows) {
        c.by_device[device] = fitted_constants(map, choice, own, start, refused_names(refused_, device));
      }
    }
  }
  if (!map.effects.empty()) {
    std::vector<double> left;
    for (const auto* row : rows) left.push_back(-log_seconds(c, *row) + std::log(*row->measured_seconds));
    c.effects = fitted_effects(rows, left, map.effects.size());
  }
  return c;
}

double Stack::log_seconds(const Constants& c, const JobRow& job) {
  const auto own = c.by_device.find(job.device);
  const auto& constants = own != c.by_device.end() ? own->second : c.all;
  double log = std::log(step_time(job.work, job.job.plan, constants).seconds);
  for (std::size_t e = 0; e < std::min(c.effects.size(), job.effects.size()); ++e)
    log += effect_of(c.effects[e], job.effects[e]);
  return log;
}

Stack::Stack(const RowMap& map, const std::vector<JobRow>& rows) {
  std::vector<const JobRow*> measured;
  for (const auto& row : rows) {
    if (row.measured_seconds) measured.push_back(&row);
  }
  if (measured.size() < kLeastFitRows) {
    fail(ErrorKind::usage, "{} measured jobs of {} are too few to calibrate on.", measured.size(), map.stack);
  }
  rows_ = static_cast<std::int64_t>(measured.size());
  choose(map, measured);
  do {
    constants_ = fit(map, choices_.front(), measured);
  } while (refuse_bounds(map));
  const auto start = started(map);
  const ConstantFit known(map, start, refused_names(refused_, ""));
  for (const auto& spec : known.free()) {
    const double value = constants_.all.*spec.value;
    const bool is_shown = std::abs(std::log(value / start.*spec.value)) > kMoved;
    if (is_shown) spreads_.push_back({spec.name, value, {}, {}});
  }
  for (const auto* row : measured) {
    ++devices_[row->device];
    most_devices_ = std::max(most_devices_, static_cast<double>(row->job.plan.devices));
  }
  add_ranges(map, measured);
}

Stack::Stack() : most_devices_(kAssumedDevices), assumed_(true) {}

/// Whether a constant was refused that was not before.
bool Stack::refuse_bounds(const RowMap& map) {
  const auto before = refused_.size();
  const auto start = started(map);
  const auto add = [&](const StepConstants& found, const std::string& device) {
    for (const auto& one : at_bounds(map, start, found, device)) refused_.push_back(one);
  };
  add(constants_.all, "");
  for (const auto& [device, own] : constants_.by_device) add(own, device);
  return refused_.size() > before;
}

double Stack::left_out_error(const RowMap& map, const FitChoice& choice, const std::vector<const JobRow*>& rows) const {
  double sum = 0;
  double count = 0;
  const auto without = [&](const auto& is_out) {
    leave_out(rows, is_out, [&](const auto& in, const auto& out) {
      const auto c = fit(map, choice, in);
      for (const auto* row : out) sum += std::abs(log_seconds(c, *row) - std::log(*row->measured_seconds));
      count += static_cast<double>(out.size());
    });
  };
  if (map.choose_by == LeftOut::scale) {
    std::int64_t most = 0;
    for (const auto* row : rows) most = std::max(most, row->job.plan.devices);
    without([&](const JobRow& row) { return row.job.plan.devices == most; });
    if (count > 0) return sum / count;
  }
  for (const auto& fold : folds_of(rows, kChoiceFolds)) {
    without([&](const JobRow& row) { return fold.contains(row.group); });
  }
  return count > 0 ? sum / count : 0;
}

void Stack::choose(const RowMap& map, const std::vector<const JobRow*>& rows) {
  if (map.pull && map.softness) {
    choices_.push_back({*map.pull, *map.softness, 0});
    return;
  }
  const auto pulls = map.pull ? std::vector{*map.pull} : std::vector<double>(kPulls.begin(), kPulls.end());
  const auto softnesses =
      map.softness ? std::vector{*map.softness} : std::vector<double>(kSoftnesses.begin(), kSoftnesses.end());
  for (const double pull : pulls) {
    for (const double softness : softnesses) {
      FitChoice choice{pull, softness, 0};
      choice.left_out_error = left_out_error(map, choice, rows);
      choices_.push_back(choice);
    }
  }
  std::stable_sort(choices_.begin(), choices_.end(),
                   [](const auto& a, const auto& b) { return a.left_out_error < b.left_out_error; });
}

void Stack::add_ranges(const RowMap& map, const std::vector<const JobRow*>& rows) {
  const auto keep_sizes = [&](const auto& is_out, const auto& keep, const auto& fitted) {
    leave_out(rows, is_out, [&](const auto& in, const auto& out) {
      const auto c = fit(map, choices_.front(), in);
      fitted(c.all);
      for (const auto* row : out) keep(*row, std::abs(log_seconds(c, *row) - std::log(*row->measured_seconds)));
    });
  };
  for (const auto& fold : folds_of(rows, kRangeFolds)) {
    keep_sizes([&](const JobRow& row) { return fold.contains(row.group); },
               [&](const JobRow& row, double size) {
                 residuals_.push_back({regime_of(row, step_time(row.work, row.job.plan, constants(row.device))), size});
               },
               [&](const StepConstants& without) { widen(spreads_, without); });
  }
  if (devices_.size() > 1) {
    for (const auto& known : devices_) {
      keep_sizes([&](const JobRow& row) { return row.device == known.first; },
                 [&](const JobRow&, double size) { new_devices_.push_back(size); }, [](const StepConstants&) {});
    }
  }
  if (residuals_.empty()) {  // one group alone: what is left over in the fit, which is less than it should be
    for (const auto* row : rows) {
      residuals_.push_back({"", 2 * std::abs(log_seconds(constants_, *row) - std::log(*row->measured_seconds))});
    }
  }
}

const StepConstants& Stack::constants(const std::string& device) const {
  const auto own = constants_.by_device.find(device);
  return own != constants_.by_device.end() ? own->second : constants_.all;
}

StackSays Stack::predict(const JobRow& job) const {
  StackSays said;
  said.time = step_time(job.work, job.job.plan, constants(job.device));
  said.seconds = std::exp(log_seconds(constants_, job));
  said.regime = regime_of(job, said.time);
  said.new_device = !assumed_ && !devices_.contains(job.device);
  auto sizes = sizes_of(residuals_, said.regime);
  if (sizes.size() < kLeastRegimeRows) sizes = sizes_of(residuals_, "");
  const double assumed = job.work.has_experts ? kAssumedExpertsWidth : kAssumedWidth;
  double width = assumed_ ? assumed : conformal_width(sizes, kRangeShare);
  if (said.new_device && !new_devices_.empty()) {
    sizes = new_devices_;
    width = std::max(width, conformal_width(sizes, kRangeShare));
  } else if (said.new_device) {
    width *= kWidenNewDevice;
  }
  width += kWidenPerDoubling * std::max(0.0, std::log2(static_cast<double>(job.job.plan.devices) / most_devices_));
  said.range_rows = static_cast<std::int64_t>(sizes.size());
  said.low_seconds = said.seconds * std::exp(-width);
  said.high_seconds = said.seconds * std::exp(width);
  return said;
}

}  // namespace assay::predict
