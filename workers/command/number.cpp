#include "workers/command/number.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include "workers/common/worker.hpp"

namespace assay::command {
namespace {

constexpr std::size_t kMostPatternBytes = 200;
constexpr std::size_t kMostLineBytes = 4096;
constexpr double kMostNs = 9.2e18;

std::regex compile(const std::string& pattern) {
  if (pattern.size() > kMostPatternBytes) {
    worker::refuse("option number: the pattern is longer than {} bytes.", kMostPatternBytes);
  }
  try {
    // __polynomial is libstdc++'s matcher without backtracking: no pattern takes exponential time or deep recursion.
    std::regex compiled(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
    if (compiled.mark_count() != 1) {
      worker::refuse("option number: {} has {} groups; mark the number with one.", shown(pattern),
                     compiled.mark_count());
    }
    return compiled;
  } catch (const std::regex_error& error) {
    worker::refuse("option number: {} is not a valid regular expression: {}.", shown(pattern), error.what());
  }
}

}  // namespace

NumberFinder::NumberFinder(const std::string& pattern, const std::string& unit) : pattern_(compile(pattern)) {
  if (unit == "ns") {
    unit_ns_ = 1;
  } else if (unit == "us") {
    unit_ns_ = 1e3;
  } else if (unit == "ms") {
    unit_ns_ = 1e6;
  } else if (unit != "s") {
    worker::refuse("option unit: {} is not one of ns, us, ms, s.", shown(unit));
  }
}

std::optional<std::int64_t> NumberFinder::find(const std::string& output) const {
  std::string_view rest = output;
  while (!rest.empty()) {
    const auto begin = rest.find_last_of('\n', rest.size() - 1);
    const std::string_view line = rest.substr(begin == std::string_view::npos ? 0 : begin + 1, kMostLineBytes);
    std::cmatch match;
    if (std::regex_search(line.data(), line.data() + line.size(), match, pattern_)) {
      double number = 0;
      const auto [end, error] = std::from_chars(match[1].first, match[1].second, number);
      const double ns = number * unit_ns_;
      if (error != std::errc() || end != match[1].second || !(ns >= 0 && ns <= kMostNs)) return std::nullopt;
      return std::llround(ns);
    }
    if (begin == std::string_view::npos) break;
    rest = rest.substr(0, begin);
  }
  return std::nullopt;
}

}  // namespace assay::command
