#include <algorithm>
#include <cmath>
#include <string_view>

#include "assay/core/text/items.hpp"
#include "assay/core/text/number.hpp"
#include "assay/load/queries/schedule.hpp"

namespace assay::load {
namespace {

constexpr std::size_t kMostRows = 1'000'000;
constexpr std::int64_t kMostLength = 10'000'000;
constexpr double kMostSeconds = 1e6;

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::size_t column_of(const std::vector<std::string_view>& header, std::string_view name) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    fail(ErrorKind::bad_input, "line 1: there is no column {}. A trace has the columns seconds, input and output.",
         name);
  }
  return static_cast<std::size_t>(found - header.begin());
}

/// Of a cell, from 0 to `most`.
template <typename Number>
Number number_of(std::string_view cell, Number most, std::size_t line, const char* name) {
  const auto value = parse_number<Number>(cell);
  if (!value || !(*value >= 0 && *value <= most)) {
    fail(ErrorKind::bad_input, "line {}: {} {} is not a number from 0 to {}.", line, name, shown(std::string(cell)),
         most);
  }
  return *value;
}

}  // namespace

std::vector<TraceRow> parse_trace(std::string_view text) {
  const auto header = items_of(take_line(text));
  const auto seconds = column_of(header, "seconds");
  const auto input = column_of(header, "input");
  const auto output = column_of(header, "output");
  std::vector<TraceRow> rows;
  double first = 0;
  for (std::size_t number = 2; !text.empty(); ++number) {
    const auto line = take_line(text);
    if (line.empty()) continue;
    const auto cells = items_of(line);
    if (cells.size() != header.size()) {
      fail(ErrorKind::bad_input, "line {}: {} cells where the first line has {}.", number, cells.size(), header.size());
    }
    if (rows.size() == kMostRows) fail(ErrorKind::bad_input, "line {}: more than {} rows.", number, kMostRows);
    const auto at = number_of(cells[seconds], kMostSeconds, number, "seconds");
    if (rows.empty()) first = at;
    if (at - first < (rows.empty() ? 0 : rows.back().seconds)) {
      fail(ErrorKind::bad_input, "line {}: seconds decrease. Sort the file by them.", number);
    }
    rows.push_back({at - first, number_of(cells[input], kMostLength, number, "input"),
                    number_of(cells[output], kMostLength, number, "output")});
  }
  if (rows.empty()) fail(ErrorKind::bad_input, "line 2: there is no request in this trace.");
  return rows;
}

}  // namespace assay::load
