#include "assay/predict/calibration/named_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/core/text/number.hpp"

namespace assay::predict {
namespace {

struct TimeUnit {
  const char* suffix;
  double seconds;
};
constexpr std::array kTimeUnits{TimeUnit{"_seconds", 1}, TimeUnit{"_ms", 1e-3}, TimeUnit{"_us", 1e-6},
                                TimeUnit{"_ns", 1e-9}};

}  // namespace

NamedColumns::NamedColumns(std::string_view csv, std::string file, std::string expected)
    : frame_(model::parse_csv(csv, file)), file_(std::move(file)), expected_(std::move(expected)) {
  if (frame_.rows.empty()) fail(ErrorKind::bad_input, "{}: it has no rows. {}", file_, expected_);
}

bool NamedColumns::has(const std::string& column) const {
  return std::find(frame_.columns.begin(), frame_.columns.end(), column) != frame_.columns.end();
}

std::size_t NamedColumns::place(const std::string& column) const {
  const auto found = std::find(frame_.columns.begin(), frame_.columns.end(), column);
  if (found != frame_.columns.end()) return static_cast<std::size_t>(found - frame_.columns.begin());
  fail(ErrorKind::bad_input, "{}: there is no column {}. {}", file_, column, expected_);
}

const std::string& NamedColumns::text(std::size_t row, const std::string& column) const {
  return frame_.rows[row][place(column)];
}

void NamedColumns::wrong(std::size_t row, const std::string& what) const {
  fail(ErrorKind::bad_input, "{}, row {}: {}", file_, row + 1, what);
}

double NamedColumns::number_in(std::string_view text, std::size_t row, const std::string& column,
                               const std::string& hint) const {
  const auto value = parse_number<double>(text);
  if (value && *value >= 0 && std::isfinite(*value)) return *value;
  wrong(row, fmt::format("{}: {} is not a number of at least zero.{}", column, shown(std::string(text)), hint));
}

double NamedColumns::number(std::size_t row, const std::string& column) const {
  return number_in(text(row, column), row, column);
}

std::int64_t NamedColumns::count(std::size_t row, const std::string& column) const {
  constexpr double kMost = 1e9;
  const double value = number(row, column);
  if (value >= 1 && value <= kMost && value == std::floor(value)) return static_cast<std::int64_t>(value);
  wrong(row, fmt::format("{} is {}; it is a whole number from 1 on.", column, shown(text(row, column))));
}

std::vector<double> NamedColumns::numbers(std::size_t row, const std::string& column) const {
  const auto& cell = text(row, column);
  std::vector<double> found;
  std::size_t begin = 0;
  while (begin < cell.size()) {
    const auto end = std::min(cell.find(';', begin), cell.size());
    found.push_back(number_in(cell.substr(begin, end - begin), row, column));
    begin = end + 1;
  }
  return found;
}

double NamedColumns::seconds(std::size_t row, const std::string& beginning) const {
  for (const auto& unit : kTimeUnits) {
    if (has(beginning + unit.suffix)) return unit.seconds * number(row, beginning + unit.suffix);
  }
  return number(row, beginning + "_ms");  // which says that there is none
}

}  // namespace assay::predict
