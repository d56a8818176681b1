#include "assay/predict/search/step_basis.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/predict/calibration/calibrate.hpp"
#include "assay/predict/step/rows_prediction.hpp"

namespace assay::predict {
namespace {

constexpr double kPairRangeShare = .9;
constexpr double kNormalWidth = 1.645;  // standard deviations that hold 90 % of a normal distribution
constexpr std::size_t kLeastBasisRows = 10;
constexpr std::size_t kMostPairs = 20'000;

/// Standard deviation of the logarithm of a constant among stacks: an assumption. Fits to published tables spread wider
/// for some.
double spread_of(const std::string& constant) {
  static const std::map<std::string, double> spreads{
      {"product", .12}, {"passes", .25}, {"attention", .35}, {"floor", .5},        {"call", .5},  {"sums", .25},
      {"links", .2},    {"update", .3},  {"bubble", .2},     {"fp8", .15},         {"fp4", .2},   {"interference", .5},
      {"scale", .7},    {"head", .5},    {"exchange", .4},   {"async_tensor", .4}, {"eager", .2}, {"odd_head", .1}};
  const auto found = spreads.find(constant);
  return found != spreads.end() ? found->second : .3;
}

/// Of the law of products itself: a law that was fitted to measured products is off by less than a data sheet.
double spread_of_law(LawBasis basis) {
  switch (basis) {
    case LawBasis::measured:
      return .05;
    case LawBasis::borrowed:
      return .1;
    case LawBasis::data_sheet:
      return .2;
  }
  return .2;
}

double squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

/// Differences of log-errors of jobs of one model, all of whose constants come from other groups.
std::vector<double> differences_of(const RowsPrediction& said) {
  std::map<std::string, std::vector<double>> by_model;
  for (const auto& row : said.rows) {
    if (row.error) by_model[row.model].push_back(std::log1p(*row.error));
  }
  std::vector<double> differences;
  for (const auto& [model, errors] : by_model) {
    for (std::size_t i = 0; i < errors.size(); ++i) {
      for (std::size_t j = 0; j < i && differences.size() < kMostPairs; ++j) {
        differences.push_back(std::abs(errors[i] - errors[j]));
      }
    }
  }
  return differences;
}

}  // namespace

StepBasis::StepBasis() = default;

StepBasis::StepBasis(const RowMap& map, const JobRows& rows) : name_(map.stack) {
  std::vector<JobRow> measured;
  for (const auto& row : rows.rows) {
    if (!row.measured_seconds) continue;
    measured.push_back(row);
    devices_.emplace_back(row.job.device.sheet.name, row.device);
  }
  if (measured.size() < kLeastBasisRows) {
    fail(ErrorKind::usage, "--calibrate: {} measured jobs of {} are too few to calibrate on: {} are needed.",
         measured.size(), map.stack, kLeastBasisRows);
  }
  std::sort(devices_.begin(), devices_.end());
  devices_.erase(std::unique(devices_.begin(), devices_.end()), devices_.end());
  stack_ = std::make_shared<const Stack>(map, measured);
  std::map<std::string, int> groups;
  for (const auto& row : measured) ++groups[row.group];
  if (groups.size() > 1) pair_differences_ = differences_of(predict_rows(map, {measured, {}}, nullptr));
}

const std::string& StepBasis::name_of(const StepDevice& device) const {
  for (const auto& known : devices_) {
    if (known.first == device.sheet.name) return known.second;
  }
  return device.sheet.name;
}

const StepConstants& StepBasis::constants(const StepDevice& device) const {
  return stack().constants(name_of(device));
}

JobRow StepBasis::row_of(const StepJob& job) const {
  JobRow row;
  row.job = job;
  row.work = step_work(job);
  row.model = job.model.name;
  row.device = name_of(job.device);
  return row;
}

const Stack& StepBasis::stack() const {
  static const Stack usual;
  return stack_ != nullptr ? *stack_ : usual;
}

std::vector<double> StepBasis::sensitivities(const StepJob& job) const {
  const auto work = step_work(job);
  const double usual = step_time(work, job.plan, usual_).seconds;
  std::vector<double> changes;
  for (const auto& spec : step_constant_specs()) {
    auto constants = usual_;
    constants.*spec.value *= std::exp(spread_of(spec.name));
    changes.push_back(std::log(step_time(work, job.plan, constants).seconds / usual));
  }
  return changes;
}

RangedStep StepBasis::time_of(const StepJob& job) const {
  const auto said = stack().predict(row_of(job));
  return {said.seconds, said.low_seconds, said.high_seconds, said.time};
}

StepDrawing StepBasis::drawing_of(const StepJob& job) const {
  return step_drawing(stack(), row_of(job));
}

RangedRatio StepBasis::calibrated_ratio(const StepJob& one, const StepJob& other) const {
  const auto a = time_of(one);
  const auto b = time_of(other);
  RangedRatio r;
  r.ratio = b.seconds / a.seconds;
  const double apart = std::log(std::max(a.high_seconds / a.seconds, b.high_seconds / b.seconds)) * std::sqrt(2.0);
  double width = apart;
  if (!pair_differences_.empty()) width = std::min(apart, conformal_width(pair_differences_, kPairRangeShare));
  r.low = r.ratio * std::exp(-width);
  r.high = r.ratio * std::exp(width);
  r.rests_on = pair_differences_.empty()
                   ? "One group of measured jobs alone: nothing is taken to cancel."
                   : fmt::format(
                         "{} pairs of measured jobs of one model, whose errors were compared: what both are off by "
                         "cancels; 90 % of the predicted ratios were within {:.0f} % of the measured ones.",
                         pair_differences_.size(), 100 * (std::exp(width) - 1));
  return r;
}

RangedRatio StepBasis::ratio_of(const StepJob& one, const StepJob& other) const {
  if (stack_ != nullptr) return calibrated_ratio(one, other);
  const auto changes = sensitivities(one);
  auto differences = sensitivities(other);
  for (std::size_t i = 0; i < changes.size(); ++i) differences[i] -= changes[i];
  double sum = squares(differences);
  const bool same_device = one.device.sheet.name == other.device.sheet.name && !one.device.sheet.name.empty();
  if (!same_device) {
    const double a = spread_of_law(one.device.basis);
    const double b = spread_of_law(other.device.basis);
    sum += a * a + b * b;
  }
  const double width = kNormalWidth * std::sqrt(sum);
  RangedRatio r;
  r.ratio =
      step_time(step_work(other), other.plan, usual_).seconds / step_time(step_work(one), one.plan, usual_).seconds;
  r.low = r.ratio * std::exp(-width);
  r.high = r.ratio * std::exp(width);
  r.rests_on = fmt::format(
      "Each constant of the software is changed by its spread on both sides at once: what changes both alike cancels. "
      "{}",
      same_device ? "Both have the same device, so that the error of its law cancels too."
                  : "The devices differ, so that errors of their laws are added.");
  return r;
}

std::string StepBasis::sentence() const {
  if (stack_ == nullptr) {
    return "Usual constants of software, none measured: the width of the ranges is an assumption. "
           "--calibrate with --columns takes constants from steps you measured.";
  }
  return fmt::format("Constants of {} from {} measured jobs; ranges are 90 %, from jobs left out in groups.", name_,
                     stack_->rows());
}

}  // namespace assay::predict
