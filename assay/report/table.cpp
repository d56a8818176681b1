#include "assay/report/table.hpp"

#include <algorithm>
#include <numeric>

#include "assay/core/error.hpp"
#include "assay/core/units.hpp"
#include "assay/core/utf8.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 12;

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

std::string Table::text(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[c]));
    widths.push_back(widest);
  }
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1)); };
  while (width > 0 && total() > width) {
    std::size_t victim = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (columns_[c].align == Align::left && widths[c] > kNarrowest &&
          (victim == widths.size() || widths[c] > widths[victim])) {
        victim = c;
      }
    }
    if (victim == widths.size()) break;
    --widths[victim];
  }
  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string row;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = fit(cell_of(c), widths[c]);
      const std::string blanks(widths[c] - std::min(widths[c], display_width(cell)), ' ');
      row +=
          (c > 0 ? std::string(kGap, ' ') : "") + (columns_[c].align == Align::right ? blanks + cell : cell + blanks);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  };
  line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
  return out;
}

std::string duration_or_dash(const std::optional<double>& ns) {
  return ns ? format_duration(*ns) : "-";
}

std::string words_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace assay::report
