#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

/// Columns of text that fit a width. In a narrow window the widest text is cut first, and text that is the same in
/// every row before text that differs; then spare columns are left out, but none whose text differs; then text is cut
/// further. Numbers, which are right-aligned, are never cut.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
    int spare = 0;       ///< where there is no room, columns with the largest are left out first; 0: never
    bool whole = false;  ///< text that is never cut, such as an id
    bool drawn = false;  ///< in block characters: for terminals that show them alone
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add(std::vector<std::string> cells);

  /// Lines, each ended; no trailing blanks. `width` 0: as wide as it needs.
  std::string text(std::size_t width) const;

  /// A line that names the columns that text(width) has no room for; empty where there are none.
  std::string room_note(std::size_t width) const;

  /// A table of GitHub's Markdown with every column. No cell is taken for markup.
  std::string markdown() const;

  /// The same table without what is drawn.
  Table in_words() const;

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  struct Layout {
    std::vector<std::size_t> columns;  ///< that are shown
    std::vector<std::size_t> widths;   ///< of each of them
    std::size_t total() const;
  };
  Layout layout_for(std::size_t width) const;
  void shorten(Layout& layout, std::size_t width, std::size_t narrowest) const;
  bool leave_one_out(std::vector<std::size_t>& columns) const;
  /// Whether rows whose words differ still do so in this layout.
  bool rows_stay_apart(const Layout& layout) const;
  /// Takes the last column of numbers away; false where only one is left.
  bool leave_a_number_out(std::vector<std::size_t>& columns) const;
  bool tells_rows_apart(std::size_t column) const;

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

/// .43 as "43 %", or - where there is none.
std::string share_or_dash(const std::optional<double>& share);

/// "████████" of a length that says an efficiency, 20 columns for 100 %; what is above 120 % is cut.
std::string efficiency_bar(double efficiency, bool blocks = true);

/// "no_steady_state" -> "no steady state"
std::string words_of(std::string name);

}  // namespace assay::report
