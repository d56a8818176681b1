#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "assay/report/pictures/picture.hpp"

namespace assay::report {
namespace {

struct Extent {
  double low = INFINITY;
  double high = -INFINITY;

  void add(double value, bool positive_only) {
    if (!std::isfinite(value) || (positive_only && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// 1, 2 or 5 times a power of ten, so that about `steps` of them make up `width`.
double round_step(double width, int steps) {
  const double raw = width / steps;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (raw <= digit * power * 1.0001) return digit * power;
  }
  return 10 * power;
}

constexpr int kSteps = 5;

void fit_linear(PictureAxis& axis, Extent extent, bool from_zero) {
  // Zero is shown unless that would press all marks into the upper part.
  if (from_zero || (extent.low > 0 && extent.low < 0.6 * extent.high)) extent.low = std::min(extent.low, 0.0);
  if (from_zero) extent.high = std::max(extent.high, 0.0);
  if (extent.high - extent.low < 1e-9 * std::max(1e-300, std::abs(extent.high))) {
    const double middle = extent.high;
    extent.low = middle == 0 ? -1 : middle - std::abs(middle) * 0.05;
    extent.high = middle == 0 ? 1 : middle + std::abs(middle) * 0.05;
  }
  const double step = round_step(extent.high - extent.low, kSteps);
  axis.low = std::floor(extent.low / step + 1e-9) * step;
  axis.high = std::ceil(extent.high / step - 1e-9) * step;
}

void fit_log(PictureAxis& axis, const Extent& extent) {
  axis.low = std::pow(10, std::floor(std::log10(extent.low) + 1e-9));
  axis.high = std::pow(10, std::ceil(std::log10(extent.high) - 1e-9));
  if (axis.high <= axis.low) axis.high = axis.low * 10;
}

void fit_axis(PictureAxis& axis, const Extent& extent, bool from_zero) {
  if (axis.kind == PictureAxisKind::category) {
    axis.low = -0.5;
    axis.high = static_cast<double>(axis.categories.size()) - 0.5;
  } else if (extent.low > extent.high) {
    axis.low = axis.kind == PictureAxisKind::log ? 1 : 0;
    axis.high = axis.kind == PictureAxisKind::log ? 10 : 1;
  } else if (axis.kind == PictureAxisKind::log) {
    fit_log(axis, extent);
  } else {
    fit_linear(axis, extent, from_zero);
  }
}

}  // namespace

void fit_axes(Picture& picture) {
  const bool sideways = picture.y.kind == PictureAxisKind::category;
  Extent x;
  Extent y;
  bool bars = false;
  for (const auto& series : picture.series) {
    const bool is_bars = series.kind == SeriesKind::bars;
    bars = bars || is_bars;
    for (const auto& mark : series.marks) {
      const bool log_x = picture.x.kind == PictureAxisKind::log;
      const bool log_y = picture.y.kind == PictureAxisKind::log;
      if (!is_bars || !sideways) x.add(mark.x, log_x);
      if (series.kind != SeriesKind::rules && !is_bars) y.add(mark.y, log_y);
      for (const auto& end : {mark.low, mark.high}) {
        if (end) (is_bars && sideways ? x : y).add(*end, is_bars && sideways ? log_x : log_y);
      }
    }
  }
  fit_axis(picture.x, x, bars && sideways);
  fit_axis(picture.y, y, bars && !sideways);
}

std::vector<double> ticks_of(const PictureAxis& axis) {
  std::vector<double> ticks;
  if (axis.kind == PictureAxisKind::category) {
    for (std::size_t i = 0; i < axis.categories.size(); ++i) ticks.push_back(static_cast<double>(i));
  } else if (axis.kind == PictureAxisKind::log) {
    const double decades = std::log10(axis.high / axis.low);
    const double stride = std::max(1.0, std::ceil(decades / 8));
    for (double power = 0; power < decades + 1e-9; power += stride) {
      ticks.push_back(axis.low * std::pow(10, power));
      if (decades > 2.5) continue;
      for (const double digit : {2.0, 5.0}) {
        if (axis.low * std::pow(10, power) * digit < axis.high) ticks.push_back(axis.low * std::pow(10, power) * digit);
      }
    }
  } else {
    const double step = round_step(axis.high - axis.low, kSteps);
    for (int i = 0; axis.low + i * step < axis.high + step * 1e-6; ++i) ticks.push_back(axis.low + i * step);
  }
  return ticks;
}

int tick_digits(const PictureAxis& axis) {
  if (axis.kind != PictureAxisKind::linear) return 3;
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  return std::clamp(
      static_cast<int>(std::ceil(std::log10(largest / round_step(axis.high - axis.low, kSteps)) + 1e-9)) + 1, 3, 9);
}

std::string short_number(double value, int digits) {
  constexpr std::array<std::pair<double, const char*>, 5> kUnits{
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  const double size = std::abs(value);
  if (size < 1e-12) return "0";
  for (const auto& [least, unit] : kUnits) {
    if (size >= 0.9995 * least) return fmt::format("{:.{}g}{}", value / least, digits, unit);
  }
  return fmt::format("{:.{}g}", value, digits);
}

}  // namespace assay::report
