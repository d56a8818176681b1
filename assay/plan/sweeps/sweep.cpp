#include "assay/plan/sweeps/sweep.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "assay/core/error.hpp"
#include "assay/core/text/items.hpp"
#include "assay/core/text/number.hpp"
#include "assay/core/text/units.hpp"

namespace assay::plan {
namespace {

constexpr const char* kForms = "Write 1,2,4 or 4-24+4 or 1-64*2.";

/// `4-24+4` taken apart; the numbers are still text.
struct RangeText {
  std::string_view first, last, step;
  char operation;  ///< + or *
};

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<RangeText> split_range(std::string_view item) {
  const auto dash = item.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto sign = item.find_first_of("+*", dash);
  if (sign == std::string_view::npos) return std::nullopt;
  const RangeText range{item.substr(0, dash), item.substr(dash + 1, sign - dash - 1), item.substr(sign + 1),
                        item[sign]};
  if (!is_digits(range.first) || !is_digits(range.last) || !is_digits(range.step)) return std::nullopt;
  return range;
}

std::int64_t read_number(std::string_view digits, const std::string& item, const std::string& what) {
  const auto value = parse_number<std::int64_t>(digits);
  if (!value || *value > kLargestNumber) {
    fail(ErrorKind::usage, "{}: {} is too large. The largest number is {}.", what, shown(item), kLargestNumber);
  }
  return *value;
}

/// Why an item is neither a number nor a range, with the fix.
[[noreturn]] void refuse_item(const std::string& item, const std::string& what) {
  if (item.front() == '-') {
    fail(ErrorKind::usage, "{}: {} is negative. Only 0 and above are allowed here. {}", what, shown(item), kForms);
  }
  const auto dash = item.find('-');
  if (dash != std::string::npos && is_digits(item.substr(0, dash)) && is_digits(item.substr(dash + 1))) {
    const std::string_view range = std::string_view(item).substr(0, 40);
    fail(ErrorKind::usage, "{}: {} has no step. Write {}+1 to add, or {}*2 to multiply.", what, shown(item), range,
         range);
  }
  fail(ErrorKind::usage, "{}: {} is not a whole number or a sweep. {}", what, shown(item), kForms);
}

void add_value(std::vector<std::int64_t>& values, std::int64_t value, const std::string& what) {
  if (values.size() == kMostSweepValues) {
    fail(ErrorKind::usage, "{}: more than {} values. Use a larger step or split the sweep.", what, kMostSweepValues);
  }
  values.push_back(value);
}

void add_range(std::vector<std::int64_t>& values, const RangeText& text, const std::string& item,
               const std::string& what) {
  const auto never = [&](const std::string& why) {
    fail(ErrorKind::usage, "{}: {} never reaches its end: {}", what, shown(item), why);
  };
  const std::int64_t first = read_number(text.first, item, what);
  const std::int64_t last = read_number(text.last, item, what);
  const std::int64_t step = read_number(text.step, item, what);
  const bool multiplies = text.operation == '*';
  if (last < first) never(fmt::format("{} is below {}. Write the smaller number first.", last, first));
  if (!multiplies && step == 0) never("its step is 0. Add 1 or more.");
  if (multiplies && step < 2) never(fmt::format("its factor is {}. Multiply with 2 or more.", step));
  if (multiplies && first == 0) never("0 stays 0 however often it is multiplied. Begin at 1.");
  for (std::int64_t value = first;;) {
    add_value(values, value, what);
    // Compared in this form, because value * step may be beyond 64 bits; last is at most 2^53.
    if (multiplies ? value > last / step : value > last - step) return;
    value = multiplies ? value * step : value + step;
  }
}

std::vector<std::int64_t> sweep(const std::string& text, const std::string& what, bool units) {
  std::vector<std::int64_t> values;
  for (const auto& item : sweep_words(text, what)) {
    if (is_digits(item)) {
      add_value(values, read_number(item, item, what), what);
    } else if (const auto range = split_range(item)) {
      add_range(values, *range, item, what);
    } else if (units && item.front() != '-' && item.find('-') == std::string::npos) {
      add_value(values, std::min(parse_bytes(item, what), kLargestNumber), what);
    } else {
      refuse_item(item, what);
    }
  }
  return values;
}

}  // namespace

std::vector<std::int64_t> sweep_numbers(const std::string& text, const std::string& what) {
  return sweep(text, what, false);
}

std::vector<std::int64_t> sweep_sizes(const std::string& text, const std::string& what) {
  return sweep(text, what, true);
}

std::vector<std::string> sweep_words(const std::string& text, const std::string& what) {
  std::vector<std::string> words;
  for (const auto item : items_of(text)) {
    if (item.empty()) {
      fail(ErrorKind::usage, "{}: {} has an empty item. Put a value on both sides of every comma.", what, shown(text));
    }
    if (words.size() == kMostSweepValues) {
      fail(ErrorKind::usage, "{}: more than {} values. Split the list.", what, kMostSweepValues);
    }
    words.emplace_back(item);
  }
  return words;
}

bool is_range(const std::string& item) {
  return split_range(item).has_value();
}

}  // namespace assay::plan
