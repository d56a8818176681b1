#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

/// Columns of text that fit a width: the widest left-aligned column is shortened first.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add(std::vector<std::string> cells);

  /// Lines, each ended; no trailing blanks. `width` 0: as wide as it needs.
  std::string text(std::size_t width) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns on a terminal that UTF-8 text takes, one for each code point.
std::size_t display_width(const std::string& text);

/// `text` cut to `width` columns, with … at the end where something is missing. Control characters are made visible, so
/// that text from a store cannot steer the terminal.
std::string fit(const std::string& text, std::size_t width);

/// A duration, or - where there is none.
std::string duration_or_dash(const std::optional<double>& ns);

/// "no_steady_state" -> "no steady state"
std::string words_of(std::string name);

}  // namespace assay::report
