#include "assay/report/table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "assay/core/error.hpp"
#include "assay/core/text/units.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/report/renderers/markdown.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrow = 30;    // settings of this width can still be told apart
constexpr std::size_t kNarrowest = 4;  // and this is better than a line that breaks

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string fit(const std::string& text, std::size_t width) {
  std::string clean = printable(text, text.size());
  if (display_width(clean) <= width) return clean;
  std::string out;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    if (!continues(clean[i]) && ++columns >= std::max<std::size_t>(width, 1)) break;
    out += clean[i];
  }
  return out + "…";
}

void Table::add(std::vector<std::string> cells) {
  ASSAY_CHECK(cells.size() == columns_.size());
  for (auto& cell : cells) cell = printable(cell, cell.size());
  rows_.push_back(std::move(cells));
}

std::size_t Table::Layout::total() const {
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

bool Table::tells_rows_apart(std::size_t column) const {
  if (columns_[column].align != Align::left || columns_[column].whole) return false;
  return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row[column] != rows_[0][column]; });
}

void Table::shorten(Layout& layout, std::size_t width, std::size_t narrowest) const {
  std::vector<bool> apart;
  for (const auto column : layout.columns) apart.push_back(tells_rows_apart(column));
  for (const bool cut_those_too : {false, true}) {
    while (layout.total() > width) {
      std::size_t* victim = nullptr;
      for (std::size_t i = 0; i < layout.columns.size(); ++i) {
        const auto& column = columns_[layout.columns[i]];
        if (column.align != Align::left || column.whole || layout.widths[i] <= narrowest) continue;
        if (apart[i] && !cut_those_too) continue;
        if (victim == nullptr || layout.widths[i] > *victim) victim = &layout.widths[i];
      }
      if (victim == nullptr) break;
      --*victim;
    }
  }
}

bool Table::leave_one_out(std::vector<std::size_t>& columns) const {
  const auto spare = [&](std::size_t column) { return tells_rows_apart(column) ? 0 : columns_[column].spare; };
  const auto victim = std::max_element(columns.begin(), columns.end(),
                                       [&](std::size_t a, std::size_t b) { return spare(a) < spare(b); });
  if (victim == columns.end() || spare(*victim) == 0) return false;
  columns.erase(victim);
  return true;
}

bool Table::rows_stay_apart(const Layout& layout) const {
  std::set<std::vector<std::string>> whole;
  std::set<std::vector<std::string>> shown;
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    std::vector<std::string> cut;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      const auto c = layout.columns[i];
      if (columns_[c].align != Align::left || columns_[c].whole) continue;
      cells.push_back(row[c]);
      cut.push_back(fit(row[c], layout.widths[i]));
    }
    whole.insert(std::move(cells));
    shown.insert(std::move(cut));
  }
  return shown.size() == whole.size();
}

bool Table::leave_a_number_out(std::vector<std::size_t>& columns) const {
  const auto is_number = [&](std::size_t column) { return columns_[column].align == Align::right; };
  const auto last = std::find_if(columns.rbegin(), columns.rend(), is_number);
  if (last == columns.rend() || std::count_if(columns.begin(), columns.end(), is_number) < 2) return false;
  columns.erase(std::next(last).base());
  return true;
}

Table::Layout Table::layout_for(std::size_t width) const {
  std::vector<std::size_t> natural;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[c]));
    natural.push_back(widest);
  }
  Layout layout;
  layout.columns.resize(columns_.size());
  std::iota(layout.columns.begin(), layout.columns.end(), 0);
  do {
    layout.widths.clear();
    for (const auto c : layout.columns) layout.widths.push_back(natural[c]);
    if (width == 0) return layout;
    shorten(layout, width, kNarrow);
  } while (layout.total() > width && leave_one_out(layout.columns));
  shorten(layout, width, kNarrowest);
  // A number less is better than rows that look the same.
  while (!rows_stay_apart(layout) && leave_a_number_out(layout.columns)) {
    layout.widths.clear();
    for (const auto c : layout.columns) layout.widths.push_back(natural[c]);
    shorten(layout, width, kNarrowest);
  }
  return layout;
}

std::string Table::text(std::size_t width) const {
  const auto shown = layout_for(width);
  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string row;
    for (std::size_t i = 0; i < shown.columns.size(); ++i) {
      const auto c = shown.columns[i];
      const std::string cell = fit(cell_of(c), shown.widths[i]);
      const std::string blanks(shown.widths[i] - std::min(shown.widths[i], display_width(cell)), ' ');
      row +=
          (i > 0 ? std::string(kGap, ' ') : "") + (columns_[c].align == Align::right ? blanks + cell : cell + blanks);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  };
  line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
  return out;
}

std::string Table::room_note(std::size_t width) const {
  const auto shown = layout_for(width).columns;
  std::string titles;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const bool is_named = !columns_[c].title.empty();  // bars are not
    if (is_named && std::find(shown.begin(), shown.end(), c) == shown.end())
      titles += (titles.empty() ? "" : ", ") + columns_[c].title;
  }
  return titles.empty() ? "" : fmt::format("No room for: {}. A wider window shows them.\n", titles);
}

Table Table::in_words() const {
  Table out({});
  for (const auto& column : columns_) {
    if (!column.drawn) out.columns_.push_back(column);
  }
  for (const auto& row : rows_) {
    auto& cells = out.rows_.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!columns_[c].drawn) cells.push_back(row[c]);
    }
  }
  return out;
}

std::string Table::markdown() const {
  std::string out = "|";
  for (const auto& column : columns_) out += " " + markdown_text(column.title) + " |";
  out += "\n|";
  for (const auto& column : columns_) out += column.align == Align::right ? " ---: |" : " --- |";
  out += "\n";
  for (const auto& row : rows_) {
    out += "|";
    for (const auto& cell : row) out += " " + markdown_text(cell) + " |";
    out += "\n";
  }
  return out;
}

std::string duration_or_dash(const std::optional<double>& ns) {
  return ns ? format_duration(*ns) : "-";
}

std::string share_or_dash(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", 100 * *share) : "-";
}

std::string efficiency_bar(double efficiency, bool blocks) {
  constexpr double kColumns = 20;  // of 100 %
  std::string bar;
  for (long i = std::lround(std::clamp(efficiency, 0.0, 1.2) * kColumns); i > 0; --i) bar += blocks ? "█" : "#";
  return bar;
}

std::string words_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace assay::report
