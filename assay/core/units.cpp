#include "assay/core/units.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "assay/core/error.hpp"

namespace assay {
namespace {

struct Unit {
  const char* name;
  double size;
};

/// `value` in the largest unit that leaves at least one digit before the point.
template <std::size_t N>
std::string in_unit(double value, const std::array<Unit, N>& units) {
  std::size_t i = 0;
  while (i + 1 < N && std::fabs(value) >= units[i + 1].size * 0.99995) ++i;
  const double scaled = value / units[i].size;
  // Beyond the largest unit %g would turn to an exponent: 20000 s, not 2e+04 s.
  if (std::fabs(scaled) >= 9999.5) return fmt::format("{:.0f}{}", scaled, units[i].name);
  return fmt::format("{:.4g}{}", scaled, units[i].name);
}

/// Splits "1.5ms" into 1.5 and "ms"; false where there is no number in front.
bool split_number(const std::string& text, double& number, std::string& suffix) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return false;
  suffix.assign(end, text.data() + text.size());
  return true;
}

}  // namespace

std::string format_duration(double nanoseconds) {
  static constexpr std::array<Unit, 4> kUnits{{{" ns", 1}, {" us", 1e3}, {" ms", 1e6}, {" s", 1e9}}};
  return in_unit(nanoseconds, kUnits);
}

std::string format_rate(double per_second) {
  static constexpr std::array<Unit, 4> kUnits{{{"/s", 1}, {"k/s", 1e3}, {"M/s", 1e6}, {"G/s", 1e9}}};
  return in_unit(per_second, kUnits);
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array<Unit, 5> kUnits{
      {{" B", 1}, {" KiB", 1024.}, {" MiB", 1048576.}, {" GiB", 1073741824.}, {" TiB", 1099511627776.}}};
  return in_unit(static_cast<double>(bytes), kUnits);
}

double parse_seconds(const std::string& text, const std::string& what) {
  static constexpr std::array<Unit, 5> kUnits{{{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}}};
  double number = 0;
  std::string suffix;
  if (split_number(text, number, suffix) && number >= 0) {
    for (const auto& unit : kUnits) {
      if (suffix == unit.name) return number * unit.size;
    }
  }
  fail(ErrorKind::usage, "{}: {} is not a valid duration. Write 200ms, 2s, 1.5m or 2h.", what, shown(text));
}

double parse_share(const std::string& text, const std::string& what) {
  double number = 0;
  std::string suffix;
  if (split_number(text, number, suffix) && number >= 0) {
    if (suffix == "%") return number / 100;
    if (suffix.empty() && number < 1) return number;  // 3 may mean 3 %: that is said, not guessed
  }
  fail(ErrorKind::usage, "{}: {} is not a valid share. Write 3% or 0.03.", what, shown(text));
}

std::int64_t parse_bytes(const std::string& text, const std::string& what) {
  static constexpr std::array<Unit, 13> kUnits{{{"", 1},
                                                {"B", 1},
                                                {"K", 1024.},
                                                {"KiB", 1024.},
                                                {"M", 1048576.},
                                                {"MiB", 1048576.},
                                                {"G", 1073741824.},
                                                {"GiB", 1073741824.},
                                                {"T", 1099511627776.},
                                                {"TiB", 1099511627776.},
                                                {"kB", 1e3},
                                                {"MB", 1e6},
                                                {"GB", 1e9}}};
  double number = 0;
  std::string suffix;
  if (split_number(text, number, suffix) && number >= 0) {
    for (const auto& unit : kUnits) {
      if (suffix == unit.name && number * unit.size < 9e18) return static_cast<std::int64_t>(number * unit.size);
    }
  }
  fail(ErrorKind::usage, "{}: {} is not a valid size. Write 512M, 4GiB or a number of bytes.", what, shown(text));
}

}  // namespace assay
