#include "assay/predict/quantity.hpp"

#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

using Units = std::map<std::string, double, std::less<>>;

/// Every prefix before `unit`, with what one of it is.
void add_prefixed(Units& units, const std::string& unit, double one, bool binary) {
  double decimal = 1;
  for (const char* prefix : {"", "k", "M", "G", "T", "P"}) {
    units[prefix + unit] = decimal * one;
    decimal *= 1000;
  }
  if (!binary) return;
  double power = 1024;
  for (const char* prefix : {"Ki", "Mi", "Gi", "Ti"}) {
    units[prefix + unit] = power * one;
    power *= 1024;
  }
}

Units byte_rates() {
  Units units;
  add_prefixed(units, "B/s", 1, true);
  add_prefixed(units, "bit/s", 0.125, false);
  return units;
}

Units flop_rates() {
  Units units;
  add_prefixed(units, "FLOP/s", 1, false);
  return units;
}

Units memories() {
  Units units;
  add_prefixed(units, "B", 1, true);
  return units;
}

Units latencies() {
  return {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
}

double parse_quantity(const std::string& text, const std::string& what, const Units& units, const char* examples) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto found = units.find(unit);
  if (error != std::errc() || found == units.end() || !(value > 0) || !std::isfinite(value * found->second)) {
    fail(ErrorKind::usage, "{}: {} is not a valid quantity. Write a number above zero with its unit, such as {}.", what,
         shown(text), examples);
  }
  return value * found->second;
}

}  // namespace

double parse_byte_rate(const std::string& text, const std::string& what) {
  static const Units units = byte_rates();
  return parse_quantity(text, what, units, "10 Gbit/s or 12 GB/s");
}

double parse_flop_rate(const std::string& text, const std::string& what) {
  static const Units units = flop_rates();
  return parse_quantity(text, what, units, "15.7 TFLOP/s");
}

double parse_memory(const std::string& text, const std::string& what) {
  static const Units units = memories();
  return parse_quantity(text, what, units, "16 GB or 80 GiB");
}

double parse_latency(const std::string& text, const std::string& what) {
  static const Units units = latencies();
  return parse_quantity(text, what, units, "5 us or 0.1 ms");
}

}  // namespace assay::predict
