#include "assay/core/text/csv.hpp"

#include <cmath>

#include "assay/core/text/number.hpp"

namespace assay {
namespace {

constexpr std::string_view kFormulaBegins = "=+-@\t\r\n";

/// Whether it begins as a formula does, or like text that was marked because it did: then one mark more tells the two
/// apart when they are read.
bool begins_as_formula(std::string_view text) {
  const auto first = text.find_first_not_of('\'');
  return first != std::string_view::npos && kFormulaBegins.find(text[first]) != std::string_view::npos;
}

bool is_number(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value);
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

std::string csv_cell(const std::string& text) {
  std::string safe = begins_as_formula(text) && !is_number(text) ? "'" + text : text;
  // Many readers, ours too, take blanks off a cell that has no quotes.
  const bool blanks = !safe.empty() && (is_blank(safe.front()) || is_blank(safe.back()));
  if (!blanks && safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string out = "\"";
  for (const char c : safe) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string text_of_csv_cell(std::string_view cell) {
  if (cell.starts_with('\'') && begins_as_formula(cell)) cell.remove_prefix(1);
  return std::string(cell);
}

}  // namespace assay
