#include "assay/predict/step/stack.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/predict/calibration/bounded_fit.hpp"

namespace assay::predict {
namespace {

constexpr double kRangeShare = .9;
constexpr std::size_t kLeastRegimeRows = 25;
constexpr std::size_t kMostFolds = 8;
constexpr std::size_t kLeastDeviceRows = 20;
constexpr double kEffectRows = 3;   // a factor from so many rows is believed by half
constexpr double kMostEffect = .5;  // of a logarithm, for one row
constexpr double kWidenPerDoubling = .01;
constexpr double kWidenNewDevice = 1.5;
constexpr double kBound = 3;  // of logarithms around the start

/// Squares that grow as the size of what is left over once that is beyond `softness`.
double held_soft(double left, double softness) {
  const double share = left / softness;
  return std::copysign(softness * std::sqrt(2 * (std::sqrt(1 + share * share) - 1)), left);
}

/// Constants as logarithms, in the order of the map's names.
class ConstantFit {
 public:
  ConstantFit(const RowMap& map, StepConstants start) : start_(start) {
    for (const auto& spec : step_constant_specs()) {
      if (std::find(map.constants.begin(), map.constants.end(), spec.name) != map.constants.end()) {
        free_.push_back(spec);
      }
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

StepConstants fitted_constants(const RowMap& map, const std::vector<const JobRow*>& rows, const StepConstants& start) {
  const ConstantFit fit(map, start);
  if (fit.free().empty()) return start;
  const auto bounds = fit.bounds();
  const double weight = map.pull * std::sqrt(static_cast<double>(rows.size()));
  const Residuals residuals = [&](const std::vector<double>& logs) {
    const auto c = fit.at(logs);
    std::vector<double> left;
    left.reserve(rows.size() + logs.size());
    for (const auto* row : rows) left.push_back(held_soft(log_ratio(*row, c), map.softness));
    for (std::size_t i = 0; i < logs.size(); ++i) {
      left.push_back(held_soft(weight * (logs[i] - bounds[i].start), map.softness));
    }
    return left;
  };
  return fit.at(bounded_least_squares(residuals, bounds));
}

/// Factors of models and devices together, each drawn towards 1: a few rounds of turns reach the least squares.
void fit_effects(const std::vector<const JobRow*>& rows, const std::vector<double>& residuals,
                 std::map<std::string, double>& models, std::map<std::string, double>& devices) {
  struct Sum {
    double total = 0;
    double rows = kEffectRows;
  };
  for (int round = 0; round < 20; ++round) {
    for (const bool is_model : {true, false}) {
      std::map<std::string, Sum> sums;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double other = is_model ? devices[rows[i]->device] : models[rows[i]->model];
        auto& sum = sums[is_model ? rows[i]->model : rows[i]->device];
        sum.total += std::clamp(residuals[i], -kMostEffect, kMostEffect) - other;
        sum.rows += 1;
      }
      for (const auto& [name, sum] : sums) (is_model ? models : devices)[name] = sum.total / sum.rows;
    }
  }
}

double effect_of(const std::map<std::string, double>& effects, const std::string& name) {
  const auto found = effects.find(name);
  return found != effects.end() ? found->second : 0;
}

/// Groups dealt to a few folds, the largest first.
std::vector<std::set<std::string>> folds_of(const std::vector<const JobRow*>& rows) {
  std::map<std::string, std::size_t> sizes;
  for (const auto* row : rows) ++sizes[row->group];
  std::vector<std::pair<std::string, std::size_t>> groups(sizes.begin(), sizes.end());
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::set<std::string>> folds(std::min(kMostFolds, groups.size()));
  for (std::size_t i = 0; i < groups.size(); ++i) folds[i % folds.size()].insert(groups[i].first);
  return folds;
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

Stack::Constants Stack::fit(const RowMap& map, const std::vector<const JobRow*>& rows) {
  Constants c;
  const auto start = started(map);
  c.all = fitted_constants(map, rows, start);
  if (map.by_device) {
    std::map<std::string, std::vector<const JobRow*>> devices;
    for (const auto* row : rows) devices[row->device].push_back(row);
    for (const auto& [device, own] : devices) {
      if (own.size() >= kLeastDeviceRows) c.by_device[device] = fitted_constants(map, own, start);
    }
  }
  if (map.effects) {
    std::vector<double> residuals;
    for (const auto* row : rows) residuals.push_back(-log_seconds(c, *row) + std::log(*row->measured_seconds));
    fit_effects(rows, residuals, c.model_effect, c.device_effect);
  }
  return c;
}

double Stack::log_seconds(const Constants& c, const JobRow& job) {
  const auto own = c.by_device.find(job.device);
  const auto& constants = own != c.by_device.end() ? own->second : c.all;
  return std::log(step_time(job.work, job.job.plan, constants).seconds) + effect_of(c.model_effect, job.model) +
         effect_of(c.device_effect, job.device);
}

Stack::Stack(const RowMap& map, const std::vector<JobRow>& rows) {
  std::vector<const JobRow*> measured;
  for (const auto& row : rows) {
    if (row.measured_seconds) measured.push_back(&row);
  }
  ASSAY_CHECK(measured.size() >= 3);
  rows_ = static_cast<std::int64_t>(measured.size());
  constants_ = fit(map, measured);
  for (const auto* row : measured) {
    ++devices_[row->device];
    most_devices_ = std::max(most_devices_, static_cast<double>(row->job.plan.devices));
  }
  add_ranges(map, measured);
}

void Stack::add_ranges(const RowMap& map, const std::vector<const JobRow*>& rows) {
  const auto leave_out = [&](const auto& is_out, const auto& keep) {
    std::vector<const JobRow*> in;
    std::vector<const JobRow*> out;
    for (const auto* row : rows) (is_out(*row) ? out : in).push_back(row);
    if (in.size() < 3 || out.empty()) return;
    const auto c = fit(map, in);
    for (const auto* row : out) keep(*row, std::abs(log_seconds(c, *row) - std::log(*row->measured_seconds)));
  };
  for (const auto& fold : folds_of(rows)) {
    leave_out([&](const JobRow& row) { return fold.contains(row.group); },
              [&](const JobRow& row, double size) {
                residuals_.push_back({regime_of(row, step_time(row.work, row.job.plan, constants(row.device))), size});
              });
  }
  if (devices_.size() > 1) {
    for (const auto& known : devices_) {
      leave_out([&](const JobRow& row) { return row.device == known.first; },
                [&](const JobRow&, double size) { new_devices_.push_back(size); });
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
  said.new_device = !devices_.contains(job.device);
  auto sizes = sizes_of(residuals_, said.regime);
  if (sizes.size() < kLeastRegimeRows) sizes = sizes_of(residuals_, "");
  double width = conformal_width(sizes, kRangeShare);
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
