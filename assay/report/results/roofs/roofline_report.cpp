#include "assay/report/results/roofs/roofline.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using Align = Table::Align;
constexpr std::size_t kRows = 16;
constexpr std::size_t kAxis = 9;  // of the numbers beside the picture
constexpr std::size_t kMostWide = 100;

/// A result as a point; only those with FLOPs and bytes are in the picture.
struct PlacedWork {
  char letter;
  double intensity;  ///< FLOPs for each byte
  double flops_per_second;
};

std::string scaled(double value, const char* format_unit) {
  constexpr std::array prefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < prefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{:.3g} {}{}", value, prefixes[prefix], format_unit);
}

std::string rate_or_dash(const std::optional<double>& value, const char* unit) {
  return value ? scaled(*value, unit) : "-";
}

std::optional<double> intensity_of(const Result& result) {
  if (!result.flops_per_second || !result.bytes_per_second) return {};
  if (result.generated) return {};  // FLOPs of prefill, bytes of decode
  return *result.flops_per_second / *result.bytes_per_second;
}

/// a to z, then A to Z; beyond that all are *.
char letter_of(std::size_t index) {
  if (index < 26) return static_cast<char>('a' + index);
  return index < 52 ? static_cast<char>('A' + (index - 26)) : '*';
}

/// From decade to decade, so that the numbers at the axes are powers of ten.
struct Decades {
  double low;
  double high;

  static Decades around(double least, double most) {
    return {std::floor(std::log10(least)), std::max(std::ceil(std::log10(most)), std::floor(std::log10(least)) + 1)};
  }
  std::size_t cell(double value, std::size_t cells) const {
    const double place = (std::log10(value) - low) / (high - low) * static_cast<double>(cells - 1);
    return static_cast<std::size_t>(std::lround(std::clamp(place, 0.0, static_cast<double>(cells - 1))));
  }
  double value(std::size_t cell, std::size_t cells) const {
    return std::pow(10, low + (high - low) * static_cast<double>(cell) / static_cast<double>(cells - 1));
  }
};

class CharacterPicture {
 public:
  CharacterPicture(const std::vector<PlacedWork>& marks, const std::vector<const Peak*>& peaks,
                   const Bandwidth& bandwidth, std::size_t columns)
      : cells_(kRows, std::string(columns, ' ')), columns_(columns), x_{}, y_{} {
    std::vector<double> xs, ys;
    for (const auto* peak : peaks) {
      xs.push_back(peak->flops_per_second / bandwidth.bytes_per_second);  // where the roof bends
      ys.push_back(peak->flops_per_second);
    }
    for (const auto& mark : marks) {
      xs.push_back(mark.intensity);
      ys.push_back(mark.flops_per_second);
    }
    x_ = Decades::around(*std::min_element(xs.begin(), xs.end()), 2 * *std::max_element(xs.begin(), xs.end()));
    y_ = Decades::around(*std::min_element(ys.begin(), ys.end()), *std::max_element(ys.begin(), ys.end()));
    draw_roof(peaks, bandwidth);
    for (const auto& mark : marks) at(mark.intensity, mark.flops_per_second) = mark.letter;
  }

  std::string text() const {
    std::string out;
    for (std::size_t row = kRows; row-- > 0;) {
      const bool is_decade = row == 0 || row + 1 == kRows || is_first_of_decade(row);
      const auto used = cells_[row].substr(0, cells_[row].find_last_not_of(' ') + 1);
      out += fmt::format("{:>{}} |{}\n", is_decade ? scaled(std::pow(10, decade_at(row)), "") : "", kAxis, used);
    }
    out += std::string(kAxis + 1, ' ') + "+" + std::string(columns_, '-') + "\n";
    const auto high = fmt::format("{:g} FLOP/byte", std::pow(10, x_.high));
    const auto low = fmt::format("{:g}", std::pow(10, x_.low));
    const auto gap = columns_ > low.size() + high.size() ? columns_ - low.size() - high.size() : 1;
    return out + std::string(kAxis + 2, ' ') + low + std::string(gap, ' ') + high + "\n";
  }

 private:
  char& at(double intensity, double rate) { return cells_[y_.cell(rate, kRows)][x_.cell(intensity, columns_)]; }
  double decade_at(std::size_t row) const { return std::round(std::log10(y_.value(row, kRows))); }
  /// The row nearest to a power of ten.
  bool is_first_of_decade(std::size_t row) const { return y_.cell(std::pow(10, decade_at(row)), kRows) == row; }

  void draw_roof(const std::vector<const Peak*>& peaks, const Bandwidth& bandwidth) {
    double highest = 0;
    for (const auto* peak : peaks) highest = std::max(highest, peak->flops_per_second);
    for (std::size_t column = 0; column < columns_; ++column) {
      const double intensity = x_.value(column, columns_);
      const double slope = intensity * bandwidth.bytes_per_second;
      for (const auto* peak : peaks) {
        if (slope >= peak->flops_per_second) at(intensity, peak->flops_per_second) = '-';
      }
      if (slope < highest && std::log10(slope) >= y_.low) at(intensity, slope) = '/';
    }
  }

  std::vector<std::string> cells_;  ///< from the lowest row up
  std::size_t columns_;
  Decades x_;
  Decades y_;
};

void add_picture(const std::string& platform, const std::vector<Result>& results, const Roofline& roofline,
                 std::size_t width, Document& out) {
  const Bandwidth* bandwidth = roofline.bandwidth(platform);
  std::vector<PlacedWork> marks;
  std::set<std::string> precisions;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].platform != platform) continue;
    precisions.insert(results[i].trial.workload.precision);
    if (const auto intensity = intensity_of(results[i]))
      marks.push_back({letter_of(i), *intensity, *results[i].flops_per_second});
  }
  std::vector<const Peak*> peaks;
  for (const auto& precision : precisions) {
    if (const auto* peak = roofline.peak(platform, precision)) peaks.push_back(peak);
  }
  if (bandwidth == nullptr || peaks.empty()) {
    return out.paragraph(
        fmt::format("No roofline on platform {}: it needs gemms of {}, and a triad of at least 2^25 elements, {} good "
                    "runs of each. `assay run NETWORK` measures what is missing.",
                    platform.substr(0, 8), fmt::join(kPeakSizes, ", "), kPeakRuns));
  }
  auto title = fmt::format("Roofline of platform {}: triad {} (trial {})", platform.substr(0, 8),
                           scaled(bandwidth->bytes_per_second, "B/s"), bandwidth->trial_id.substr(0, 8));
  for (const auto* peak : peaks) {
    title += fmt::format(", gemm {} {} (trial {})", peak->precision, scaled(peak->flops_per_second, "FLOP/s"),
                         peak->trial_id.substr(0, 8));
  }
  out.gap();
  out.paragraph(std::move(title));
  if (marks.empty()) return;
  const std::size_t wide = width == 0 ? kMostWide : std::clamp(width, std::size_t{40}, kMostWide);
  const auto text =
      fmt::format("{:>{}}\n", "FLOP/s", kAxis) + CharacterPicture(marks, peaks, *bandwidth, wide - kAxis - 3).text();
  out.add(CharacterMap{text, text});
}

}  // namespace

Document roofline_document(const std::vector<Result>& results, const Roofline& roofline, std::size_t width) {
  Document out;
  Table table({{"", Align::left},
               {"trial", Align::left},
               {"workload", Align::left},
               {"worker", Align::left},
               {"median", Align::right},
               {"achieved", Align::right},
               {"least traffic", Align::right},
               {"FLOP/byte", Align::right},
               {"of peak", Align::right},
               {"of roofline", Align::right}});
  std::set<std::string> platforms;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& result = results[i];
    if (!result.flops_per_second && !result.bytes_per_second) continue;
    platforms.insert(result.platform);
    const auto intensity = intensity_of(result);
    table.add({std::string(1, letter_of(i)), result.trial_id.substr(0, 8), title(result.trial.workload),
               result.trial.worker.name, duration_or_dash(result.median_ns),
               rate_or_dash(result.flops_per_second, "FLOP/s"), rate_or_dash(result.bytes_per_second, "B/s"),
               intensity ? fmt::format("{:.3g}", *intensity) : "-", share_or_dash(result.share_of_peak),
               share_or_dash(result.share_of_roofline)});
  }
  if (platforms.empty()) {
    out.paragraph("No result here has FLOPs or bytes.");
    return out;
  }
  out.add(std::move(table));
  for (const auto& platform : platforms) add_picture(platform, results, roofline, width, out);
  return out;
}

}  // namespace assay::report
