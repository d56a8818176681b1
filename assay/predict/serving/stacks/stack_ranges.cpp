#include "assay/predict/serving/stacks/stack_ranges.hpp"

#include <algorithm>
#include <cmath>

#include "assay/stats/difference.hpp"

namespace assay::predict {
namespace {

constexpr double kLeastTokenRange = 0.05;
constexpr double kLeastFirstRange = 0.15;
constexpr double kRangeCoverage = 0.9;

/// By what a range of so many groups is wider than one of very many.
double few_groups(std::size_t folds) {
  constexpr double kUpper = 0.5 + kRangeCoverage / 2;
  constexpr double kVeryMany = 1e6;
  if (folds < 2) return 1;
  return stats::student_quantile(kUpper, static_cast<double>(folds - 1)) / stats::student_quantile(kUpper, kVeryMany);
}

double range_of(const std::vector<double>& residuals, std::size_t folds, double least, double unknown) {
  if (residuals.empty()) return unknown;
  return std::max(least, few_groups(folds) * conformal_width(residuals, kRangeCoverage));
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

void ServingResiduals::add(const PreparedRow& row, const StackConstants& constants) {
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

void ServingResiduals::add(const ServingResiduals& other) {
  append(first_token, other.first_token);
  append(token, other.token);
  append(throughput, other.throughput);
  folds += other.folds;
}

ServingRanges ranges_of(const ServingResiduals& residuals) {
  const ServingRanges unknown;
  return {range_of(residuals.first_token, residuals.folds, kLeastFirstRange, unknown.first_token),
          range_of(residuals.token, residuals.folds, kLeastTokenRange, unknown.token),
          range_of(residuals.throughput, residuals.folds, kLeastTokenRange, unknown.throughput)};
}

ServingRanges wider(const ServingRanges& a, const ServingRanges& b) {
  return {std::max(a.first_token, b.first_token), std::max(a.token, b.token), std::max(a.throughput, b.throughput)};
}

std::string fold_of(const ServingRow& row) {
  const auto& point = row.point;
  auto configuration = fmt::format("{} {} {}", row.device, point.model.shape.name, point.model.tensor);
  if (point.mode == ServingMode::static_batch) return configuration;
  return fmt::format("{} {} {}", configuration, point.prompt_tokens, point.output_tokens);
}

double measured_throughput(const ServingRow& row) {
  const auto& point = row.point;
  return point.concurrency * point.output_tokens /
         (*row.first_token_seconds + (point.output_tokens - 1) * *row.token_seconds);
}

}  // namespace assay::predict
