#include "assay/core/text/units.hpp"

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "assay/core/error.hpp"
#include "assay/core/text/number.hpp"

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

using Units = std::map<std::string, double, std::less<>>;

/// Every prefix before `unit`, with what one of it is.
void add_prefixed(Units& units, const std::string& unit, double one, bool binary) {
  double decimal = one, power = one;
  for (const char* prefix : {"", "k", "M", "G", "T", "P"}) {
    units[prefix + unit] = decimal;
    decimal *= 1000;
  }
  for (const char* prefix : {"Ki", "Mi", "Gi", "Ti"}) {
    if (binary) units[prefix + unit] = power *= 1024;
  }
}

Units prefixed(const std::string& unit, bool binary) {
  Units units;
  add_prefixed(units, unit, 1, binary);
  return units;
}

const Units& seconds_units() {
  static const Units units{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  return units;
}

const Units& byte_units() {
  static const Units units = [] {
    auto made = prefixed("B", true);
    for (const char* prefix : {"K", "M", "G", "T"}) made[prefix] = made[prefix + std::string("iB")];
    return made;
  }();
  return units;
}

const Units& byte_rate_units() {
  static const Units units = [] {
    auto made = prefixed("B/s", true);
    add_prefixed(made, "bit/s", 0.125, false);
    return made;
  }();
  return units;
}

/// "1.5 ms" by a table; null where it is not a finite number from 0 on with one of its units. `plain` is what a number
/// without a unit is counted in, 0 where there must be one.
std::optional<double> quantity(const std::string& text, const Units& units, double plain) {
  std::string_view unit = text;
  const auto taken = take_number<double>(unit);
  if (!taken || !std::isfinite(*taken) || *taken < 0) return std::nullopt;
  const double number = *taken;
  if (unit.empty()) return plain > 0 ? std::optional(number * plain) : std::nullopt;
  if (unit.front() == ' ') unit.remove_prefix(1);
  const auto found = units.find(unit);
  if (found == units.end() || !std::isfinite(number * found->second)) return std::nullopt;
  return number * found->second;
}

/// A quantity above zero with its unit.
double needed(const std::string& text, const std::string& what, const Units& units, const char* examples) {
  if (const auto found = quantity(text, units, 0); found && *found > 0) return *found;
  fail(ErrorKind::usage, "{}: {} is not a valid quantity. Write a number above zero with its unit, such as {}.", what,
       shown(text), examples);
}

}  // namespace

std::string format_duration(double nanoseconds) {
  static constexpr std::array<Unit, 4> kUnits{{{" ns", 1}, {" us", 1e3}, {" ms", 1e6}, {" s", 1e9}}};
  return in_unit(nanoseconds, kUnits);
}

std::string format_seconds(double seconds) {
  return format_duration(1e9 * seconds);
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
  if (const auto found = quantity(text, seconds_units(), 1)) return *found;
  fail(ErrorKind::usage, "{}: {} is not a valid duration. Write 200ms, 2s, 1.5m or 2h.", what, shown(text));
}

double parse_latency(const std::string& text, const std::string& what) {
  return needed(text, what, seconds_units(), "5 us or 0.1 ms");
}

double parse_share(const std::string& text, const std::string& what) {
  static const Units kPercent{{"%", 0.01}};
  // 3 may mean 3 %: that is said, not guessed.
  const auto found = quantity(text, kPercent, 1);
  if (found && (text.back() == '%' || *found < 1)) return *found;
  fail(ErrorKind::usage, "{}: {} is not a valid share. Write 3% or 0.03.", what, shown(text));
}

std::int64_t parse_bytes(const std::string& text, const std::string& what) {
  if (const auto found = quantity(text, byte_units(), 1); found && *found < 9e18) {
    return static_cast<std::int64_t>(*found);
  }
  fail(ErrorKind::usage, "{}: {} is not a valid size. Write 512M, 16 GB or a number of bytes.", what, shown(text));
}

double parse_memory(const std::string& text, const std::string& what) {
  return needed(text, what, byte_units(), "16 GB or 80 GiB");
}

double parse_byte_rate(const std::string& text, const std::string& what) {
  return needed(text, what, byte_rate_units(), "10 Gbit/s or 12 GB/s");
}

double parse_flop_rate(const std::string& text, const std::string& what) {
  static const Units kUnits = prefixed("FLOP/s", false);
  return needed(text, what, kUnits, "15.7 TFLOP/s");
}

}  // namespace assay
