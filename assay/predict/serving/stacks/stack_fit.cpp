#include "assay/predict/serving/stack_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "assay/predict/calibration/bounded_fit.hpp"

namespace assay::predict {
namespace {

// What a time is expected to be off by, in logarithms: weights of the residuals.
constexpr double kTokenSpread = 0.06;
constexpr double kFirstTokenSpread = 0.25;
constexpr double kWild = 2;  // spreads beyond which a residual counts by its size
// How far a stack's constants may be from those of its group.
constexpr double kFamilySpread = 0.3;
constexpr double kRootSpread = 0.7;
// Ranges widen by this for each doubling of the tensor split beyond what was calibrated, and on a new device.
constexpr double kTokenPerDoubling = 0.05;
constexpr double kFirstPerDoubling = 0.10;
constexpr double kTokenNewDevice = 0.10;
constexpr double kFirstNewDevice = 0.15;
constexpr double kNewModel = 0.05;
constexpr double kLeastTokenRange = 0.05;
constexpr double kLeastFirstRange = 0.15;
constexpr double kCoverage = 0.9;
constexpr std::size_t kFewRows = 10;  // below which a stack's own residuals say little of its range

struct ServingConstant {
  const char* name;
  double StackConstants::*member;
  double low;
  double high;
};

constexpr std::array kClosedConstants{
    ServingConstant{"products", &StackConstants::products, 0.4, 2.5},
    ServingConstant{"attention", &StackConstants::attention, 0.2, 4},
    ServingConstant{"collectives", &StackConstants::collectives, 0.2, 4},
    ServingConstant{"prefill", &StackConstants::prefill, 0.1, 4},
    ServingConstant{"layer_us", &StackConstants::layer_us, 1e-2, 1000},
    ServingConstant{"sequence_us", &StackConstants::sequence_us, 1e-2, 200},
    ServingConstant{"first", &StackConstants::first, 0.2, 20},
    ServingConstant{"first_each", &StackConstants::first_each, 1e-3, 3},
    ServingConstant{"wait", &StackConstants::wait, 1e-4, 3},
    ServingConstant{"queue", &StackConstants::queue, 0.02, 10},
};
constexpr std::array kStaticConstants{
    ServingConstant{"products", &StackConstants::products, 0.4, 2.5},
    ServingConstant{"attention", &StackConstants::attention, 0.2, 8},
    ServingConstant{"collectives", &StackConstants::collectives, 0.2, 8},
    ServingConstant{"prefill", &StackConstants::prefill, 0.1, 4},
    ServingConstant{"layer_us", &StackConstants::layer_us, 1, 3000},
    ServingConstant{"sequence_us", &StackConstants::sequence_us, 1e-2, 1000},
    ServingConstant{"host_norm", &StackConstants::host_norm, 1, 12},
    ServingConstant{"long_token_us", &StackConstants::long_token_us, 1e-1, 1000},
    ServingConstant{"capped", &StackConstants::capped, 0.9, 2},
};

std::vector<ServingConstant> constants_of(ServingMode mode) {
  if (mode == ServingMode::closed_loop) return {kClosedConstants.begin(), kClosedConstants.end()};
  return {kStaticConstants.begin(), kStaticConstants.end()};
}

StackConstants first_guess(ServingMode mode) {
  StackConstants guess;
  if (mode == ServingMode::static_batch) {
    guess.layer_us = 300;
    guess.host_norm = 3;
    guess.long_token_us = 50;
    guess.capped = 1.2;
  }
  return guess;
}

/// A row with its kernels' times under one choice of room and cache.
struct PreparedRow {
  const ServingRow* row = nullptr;
  ServingPoint point;
  PointParts parts;
};

using PreparedRows = std::vector<PreparedRow>;

PreparedRows prepared(const std::vector<const ServingRow*>& rows, const DeviceTimes& times, double room,
                      double cache_element_bytes) {
  PreparedRows all;
  for (const auto* row : rows) {
    auto point = row->point;
    point.model.cache_element_bytes = cache_element_bytes;
    all.push_back({row, point, parts_of(point, times.at(row->device), room)});
  }
  return all;
}

double measured_throughput(const ServingRow& row) {
  const auto& point = row.point;
  return point.concurrency * point.output_tokens /
         (*row.first_token_seconds + (point.output_tokens - 1) * *row.token_seconds);
}

/// The residuals of data and the pull of the group's constants.
class StackFitter {
 public:
  StackFitter(ServingMode mode, const StackConstants& group, double spread)
      : fitted_(constants_of(mode)), group_(group), spread_(spread) {}

  StackConstants fit(const PreparedRows& rows) const {
    std::vector<BoundedConstant> constants;
    for (const auto& one : fitted_) {
      const double low = std::log(one.low);
      const double high = std::log(one.high);
      constants.push_back({std::clamp(std::log(group_.*one.member), low, high), low, high});
    }
    return at(bounded_least_squares([&](const auto& logs) { return residuals(rows, logs); }, constants));
  }

  double cost(const PreparedRows& rows, const StackConstants& constants) const {
    std::vector<double> logs;
    for (const auto& one : fitted_) logs.push_back(std::log(constants.*one.member));
    double sum = 0;
    for (const double one : residuals(rows, logs)) sum += one * one;
    return sum;
  }

  std::vector<std::string> at_bounds(const StackConstants& constants) const {
    std::vector<std::string> names;
    for (const auto& one : fitted_) {
      const double value = constants.*one.member;
      if (value <= one.low * 1.001 || value >= one.high / 1.001) names.emplace_back(one.name);
    }
    return names;
  }

 private:
  StackConstants at(const std::vector<double>& logs) const {
    auto constants = group_;
    for (std::size_t i = 0; i < logs.size(); ++i) constants.*fitted_[i].member = std::exp(logs[i]);
    return constants;
  }

  std::vector<double> residuals(const PreparedRows& rows, const std::vector<double>& logs) const {
    const auto constants = at(logs);
    std::vector<double> left;
    for (const auto& one : rows) {
      const auto times = serving_times(one.point, one.parts, constants);
      if (const auto seconds = one.row->token_seconds) {
        left.push_back(softened(std::log(times.token_seconds / *seconds) / kTokenSpread, kWild));
      }
      if (const auto seconds = one.row->first_token_seconds) {
        left.push_back(softened(std::log(times.first_token_seconds / *seconds) / kFirstTokenSpread, kWild));
      }
    }
    for (std::size_t i = 0; i < logs.size(); ++i) {
      left.push_back((logs[i] - std::log(group_.*fitted_[i].member)) / spread_);
    }
    return left;
  }

  std::vector<ServingConstant> fitted_;
  StackConstants group_;
  double spread_;
};

/// |log residuals| of each time.
struct Residuals3 {
  std::vector<double> first_token;
  std::vector<double> token;
  std::vector<double> throughput;

  void add(const PreparedRow& row, const StackConstants& constants) {
    const auto times = serving_times(row.point, row.parts, constants);
    const auto& measured = *row.row;
    if (measured.token_seconds) token.push_back(std::abs(std::log(times.token_seconds / *measured.token_seconds)));
    if (measured.first_token_seconds) {
      first_token.push_back(std::abs(std::log(times.first_token_seconds / *measured.first_token_seconds)));
    }
    if (measured.token_seconds && measured.first_token_seconds) {
      throughput.push_back(std::abs(std::log(times.tokens_per_second / measured_throughput(measured))));
    }
  }

  void add(const Residuals3& other) {
    first_token.insert(first_token.end(), other.first_token.begin(), other.first_token.end());
    token.insert(token.end(), other.token.begin(), other.token.end());
    throughput.insert(throughput.end(), other.throughput.begin(), other.throughput.end());
  }
};

/// Rows that are left out together: one model and split and, of closed loops, one length, whatever the concurrency.
std::string fold_of(const ServingRow& row) {
  const auto& point = row.point;
  auto configuration = fmt::format("{} {} {}", row.device, point.model.shape.name, point.model.tensor);
  if (point.mode == ServingMode::static_batch) return configuration;
  return fmt::format("{} {} {}", configuration, point.prompt_tokens, point.output_tokens);
}

Residuals3 left_out(const StackFitter& fitter, const PreparedRows& rows) {
  std::set<std::string> folds;
  for (const auto& one : rows) folds.insert(fold_of(*one.row));
  Residuals3 all;
  for (const auto& fold : folds) {
    PreparedRows kept;
    PreparedRows out;
    for (const auto& one : rows) (fold_of(*one.row) == fold ? out : kept).push_back(one);
    const auto constants = fitter.fit(kept);
    for (const auto& one : out) all.add(one, constants);
  }
  return all;
}

double range_of(const std::vector<double>& residuals, double least, double unknown) {
  return residuals.empty() ? unknown : std::max(least, conformal_width(residuals, kCoverage));
}

template <typename Name>
std::vector<std::string> distinct(const std::vector<const ServingRow*>& rows, Name name) {
  std::set<std::string> names;
  for (const auto* row : rows) names.insert(name(*row));
  return {names.begin(), names.end()};
}

struct Choice {
  double room;
  double cache;
};

/// The group's choice for a static batch, which has neither; else the cheapest on the rows.
std::vector<Choice> choices_for(ServingMode mode, ProductType weights) {
  if (mode == ServingMode::static_batch) return {{1, 2}};
  if (weights == ProductType::bf16) return {{1, 2}, {0.5, 2}, {2, 2}};
  return {{1, 2}, {0.5, 2}, {2, 2}, {1, 1}, {0.5, 1}, {2, 1}};
}

/// Fits one stack or group.
class GroupFit {
 public:
  GroupFit(std::vector<const ServingRow*> rows, const DeviceTimes& times, const FittedStack& group, double spread)
      : rows_(std::move(rows)), mode_(rows_.front()->point.mode), fitter_(mode_, group.constants, spread) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& choice : choices_for(mode_, rows_.front()->stack.weights)) {
      auto ready = prepared(rows_, times, choice.room, choice.cache);
      const auto constants = fitter_.fit(ready);
      const double cost = fitter_.cost(ready, constants);
      if (cost >= least) continue;
      least = cost;
      stack_.constants = constants;
      stack_.room = choice.room;
      stack_.cache_element_bytes = choice.cache;
      ready_ = std::move(ready);
    }
    stack_.rows = static_cast<std::int64_t>(rows_.size());
    stack_.at_bounds = fitter_.at_bounds(stack_.constants);
    stack_.devices = distinct(rows_, [](const ServingRow& row) { return row.device; });
    stack_.models = distinct(rows_, [](const ServingRow& row) { return row.point.model.shape.name; });
    for (const auto* row : rows_) stack_.largest_tensor = std::max(stack_.largest_tensor, row->point.model.tensor);
  }

  FittedStack& stack() { return stack_; }
  Residuals3 residuals() const { return left_out(fitter_, ready_); }

 private:
  std::vector<const ServingRow*> rows_;
  ServingMode mode_;
  StackFitter fitter_;
  FittedStack stack_;
  PreparedRows ready_;
};

void set_ranges(FittedStack& stack, const Residuals3& residuals) {
  stack.first_token_range = range_of(residuals.first_token, kLeastFirstRange, 1);
  stack.token_range = range_of(residuals.token, kLeastTokenRange, 0.5);
  stack.throughput_range = range_of(residuals.throughput, kLeastTokenRange, 0.5);
}

std::string mode_name(ServingMode mode) {
  return mode == ServingMode::closed_loop ? "all" : "all static batches";
}

/// From the widest group to the stack itself.
std::vector<std::string> names_of(const StackName& stack, ServingMode mode) {
  return {mode_name(mode), stack.server, fmt::format("{} {}", stack.server, name_of(stack.weights)), stack.text()};
}

/// What a group says of a stack that it never saw: each of its stacks, predicted from the others alone.
Residuals3 left_out_stacks(const std::vector<const ServingRow*>& rows, const DeviceTimes& times,
                           const FittedStack& parent, double spread) {
  Residuals3 all;
  for (const auto& name : distinct(rows, [](const ServingRow& row) { return row.stack.text(); })) {
    std::vector<const ServingRow*> kept;
    std::vector<const ServingRow*> out;
    for (const auto* row : rows) (row->stack.text() == name ? out : kept).push_back(row);
    if (kept.empty()) continue;
    auto fit = GroupFit(kept, times, parent, spread);
    const auto& stack = fit.stack();
    for (const auto& one : prepared(out, times, stack.room, stack.cache_element_bytes)) all.add(one, stack.constants);
  }
  return all;
}

RangedTime ranged(double value, double range) {
  return {value * std::exp(-range), value, value * std::exp(range)};
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

CalibratedStacks::CalibratedStacks(const std::vector<ServingRow>& rows, const DeviceTimes& times) : times_(times) {
  ASSAY_CHECK(!rows.empty());
  constexpr std::size_t kLevels = 4;
  std::map<std::string, std::string> parents;
  for (std::size_t level = 0; level < kLevels; ++level) {
    std::map<std::string, std::vector<const ServingRow*>> groups;
    for (const auto& row : rows) {
      const auto names = names_of(row.stack, row.point.mode);
      groups[names[level]].push_back(&row);
      if (level > 0) parents[names[level]] = names[level - 1];
    }
    for (const auto& [name, own] : groups) {
      FittedStack start;
      start.constants = first_guess(own.front()->point.mode);
      const auto& parent = level == 0 ? start : stacks_.at(parents.at(name));
      const double spread = level == 0 ? kRootSpread : kFamilySpread;
      auto fit = GroupFit(own, times, parent, spread);
      auto& stack = fit.stack();
      if (level + 1 < kLevels) {
        set_ranges(stack, left_out_stacks(own, times, parent, spread));
      } else {
        auto residuals = fit.residuals();
        set_ranges(stack, residuals);
        if (own.size() < kFewRows) {  // a few rows may be near by chance
          stack.first_token_range = std::max(stack.first_token_range, parent.first_token_range);
          stack.token_range = std::max(stack.token_range, parent.token_range);
          stack.throughput_range = std::max(stack.throughput_range, parent.throughput_range);
        }
      }
      stacks_[name] = stack;
    }
  }
}

std::pair<std::string, const FittedStack*> CalibratedStacks::nearest(const StackName& stack, ServingMode mode) const {
  auto names = names_of(stack, mode);
  std::reverse(names.begin(), names.end());
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
  const auto [name, known] = nearest(stack, point.mode);
  auto asked = point;
  asked.model.cache_element_bytes = known->cache_element_bytes;
  ServingPrediction said;
  said.times = serving_times(asked, parts_of(asked, times_.at(device), known->room), known->constants);
  const double ratio = static_cast<double>(point.model.tensor) / static_cast<double>(known->largest_tensor);
  const double doublings = std::max(0.0, std::log2(ratio));
  const bool new_device = !contains(known->devices, device);
  const double model = contains(known->models, point.model.shape.name) ? 0 : kNewModel;
  const double token = kTokenPerDoubling * doublings + (new_device ? kTokenNewDevice : 0) + model;
  const double first = kFirstPerDoubling * doublings + (new_device ? kFirstNewDevice : 0) + model;
  said.first_token_seconds = ranged(said.times.first_token_seconds, known->first_token_range + first);
  said.token_seconds = ranged(said.times.token_seconds, known->token_range + token);
  said.tokens_per_second = ranged(said.times.tokens_per_second, known->throughput_range + token);
  said.rests_on = fmt::format("{} rows of {}", known->rows, name);
  return said;
}

}  // namespace assay::predict
