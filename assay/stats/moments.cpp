#include "assay/stats/moments.hpp"

#include "assay/core/error.hpp"

namespace assay::stats {

double mean(const std::vector<double>& values) {
  ASSAY_CHECK(!values.empty());
  // Offsets from the first value keep the digits that a plain sum of large values would lose.
  double offset = 0;
  for (const double value : values) offset += value - values.front();
  return values.front() + offset / static_cast<double>(values.size());
}

std::optional<double> variance(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double center = mean(values);
  double squares = 0;
  double residue = 0;
  for (const double value : values) {
    squares += (value - center) * (value - center);
    residue += value - center;
  }
  const auto n = static_cast<double>(values.size());
  return (squares - residue * residue / n) / (n - 1);
}

std::optional<double> lag1_autocorrelation(const std::vector<double>& values) {
  if (values.size() < 3) return std::nullopt;
  const double center = mean(values);
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - center) * (values[i] - center);
    if (i > 0) products += (values[i] - center) * (values[i - 1] - center);
  }
  if (squares == 0) return std::nullopt;
  return products / squares;
}

}  // namespace assay::stats
