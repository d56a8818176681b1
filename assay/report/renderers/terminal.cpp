#include "assay/report/renderers/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "assay/core/text/utf8.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

constexpr double kLeastSpan = 0.05;  // of the smallest value: noise of a percent shall not fill the whole height
constexpr std::size_t kUsualWidth = 100;
constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kCurveColumns = 60;
constexpr std::size_t kCaptionRoom = 36;

const char* code_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::strong:
      return "1";
    case Tone::good:
      return "32";
    case Tone::notice:
      return "36";
    case Tone::warning:
      return "1;33";
    case Tone::bad:
      return "31";
  }
  return "";
}

/// Text from outside may hold anything, so that each word is made fit for a terminal.
std::vector<std::string> printable_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(printable(word, 200));
  return words;
}

/// Columns that the words of terms need, and two between a word and its text.
std::size_t word_columns(const Document& document) {
  std::size_t widest = 0;
  for (const auto& block : document.blocks()) {
    if (const auto* term = std::get_if<Term>(&block)) widest = std::max(widest, display_width(term->word));
  }
  return widest + 2;
}

/// A terminal without block characters.
std::string in_ascii(std::string text) {
  constexpr std::string_view kBlock = "█";
  for (auto at = text.find(kBlock); at != std::string::npos; at = text.find(kBlock, at + 1)) {
    text.replace(at, kBlock.size(), "#");
  }
  return text;
}

/// The words with commas between them, broken into lines of `width`, each after `indent`.
std::string in_lines(const std::vector<std::string>& words, std::size_t width, const std::string& indent) {
  std::string out;
  std::string line = indent;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i] + (i + 1 < words.size() ? "," : "");
    if (line.size() > indent.size() && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
  }
  return out + line + "\n";
}

/// Rows that are alike, then the columns that have something in them.
std::string in_groups(const Table& table, std::size_t width) {
  std::vector<std::vector<std::string>> groups;  // in the order of their first row
  std::map<std::vector<std::string>, std::vector<std::string>> names;
  for (const auto& row : table.rows()) {
    const std::vector<std::string> cells(row.begin() + 1, row.end());
    auto& group = names[cells];
    if (group.empty()) groups.push_back(cells);
    group.push_back(row.front());
  }
  std::string out;
  for (const auto& cells : groups) {
    std::vector<std::string> filled;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] != "-") filled.push_back(table.columns()[i + 1].title + " " + cells[i]);
    }
    out += in_lines(names[cells], width, "") + in_lines(filled, width, "  ");
  }
  return out;
}

class TerminalPage {
 public:
  TerminalPage(const Look& look, std::size_t word_columns) : look_(look), word_columns_(word_columns) {}

  void operator()(const Heading& heading) {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += "\n";
    out_ += heading.text + "\n";
  }
  void operator()(const Paragraph& paragraph) { out_ += paragraph.text + "\n"; }
  void operator()(const Item& item) {
    out_ += std::string(2 * static_cast<std::size_t>(item.depth), ' ') + painted(item.text, item.tone) + "\n";
  }
  void operator()(const Table& table) {
    const bool draws = look_.blocks && look_.width > 0;
    const auto shown = draws ? table : table.in_words();
    const auto text = shown.text(look_.width);
    out_ += (look_.blocks ? text : in_ascii(text)) + shown.room_note(look_.width);
  }
  void operator()(const Matrix& matrix) {
    const auto whole = matrix.table.text(0);
    const bool fits = look_.width == 0 || whole.find('\n') <= look_.width;  // the head has the widest of every column
    out_ += fits ? whole : in_groups(matrix.table, look_.width);
  }
  void operator()(const Curve& curve) {
    const std::size_t room =
        look_.width > kNarrowest ? std::min(look_.width - kCaptionRoom, kCurveColumns) : kCurveColumns;
    out_ += fmt::format("  {}  {}\n", spark_line(curve.values, room, look_.blocks), curve.caption);
  }
  void operator()(const CharacterMap& map) { out_ += look_.colour ? map.coloured : map.plain; }
  void operator()(const Gap& /*gap*/) { out_ += "\n"; }

  /// The word, then the text; its further lines below its first.
  void operator()(const Term& term) {
    const std::size_t width = std::max(look_.width == 0 ? kUsualWidth : look_.width, kNarrowest);
    std::string line = painted(term.word, term.tone) + std::string(word_columns_ - display_width(term.word), ' ');
    std::size_t columns = word_columns_;
    bool fresh = true;
    for (const auto& word : printable_words(term.text)) {
      const std::size_t more = display_width(word) + (fresh ? 0 : 1);
      if (!fresh && columns + more > width) {
        out_ += line + "\n";
        line = std::string(word_columns_, ' ');
        columns = word_columns_;
        fresh = true;
      }
      line += (fresh ? "" : " ") + word;
      columns += display_width(word) + (fresh ? 0 : 1);
      fresh = false;
    }
    out_ += line + "\n";
  }

  std::string take() { return std::move(out_); }

 private:
  std::string painted(const std::string& text, Tone tone) const {
    const char* code = code_of(tone);
    return look_.colour && *code != '\0' ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }

  Look look_;
  std::size_t word_columns_;
  std::string out_;
};

}  // namespace

std::string spark_line(const std::vector<double>& values, std::size_t columns, bool blocks) {
  static constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<const char*, 4> kAscii{"_", ".", "-", "^"};
  std::vector<double> heights;
  const std::size_t count = std::min(values.size(), std::max<std::size_t>(columns, 1));
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / count);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / count);
    heights.push_back(stats::median({begin, end}));
  }
  if (heights.empty()) return "";
  const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
  const double span = std::max(*high - *low, kLeastSpan * *low);
  const std::size_t levels = blocks ? kBlocks.size() : kAscii.size();
  std::string out;
  for (const double height : heights) {
    const double share = span > 0 ? (height - *low) / span : 0;
    const auto level = std::min(static_cast<std::size_t>(share * static_cast<double>(levels)), levels - 1);
    out += blocks ? kBlocks.at(level) : kAscii.at(level);
  }
  return out;
}

std::string as_terminal(const Document& document, const Look& look) {
  TerminalPage page(look, word_columns(document));
  for (const auto& block : document.blocks()) std::visit(page, block);
  return page.take();
}

}  // namespace assay::report
