#include <cstring>

#include "assay/core/text/csv.hpp"
#include "assay/core/text/file.hpp"
#include "assay/model/tables/frame.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kMostBytes = 64u << 20;
constexpr std::size_t kMostColumns = 100;
constexpr std::size_t kMostCell = 4096;

/// Reads cell after cell; quotes may hold commas, line ends and doubled quotes.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  bool at_end() const { return at_ >= text_.size(); }
  std::size_t line() const { return line_; }

  std::vector<std::string> row() {
    std::vector<std::string> cells;
    do {
      cells.push_back(cell());
      if (cells.size() > kMostColumns) broken(fmt::format("more than {} columns", kMostColumns));
    } while (take(','));
    if (!at_end() && !take_line_end()) broken("a quoted cell goes on after its quotes");
    return cells;
  }

  [[noreturn]] void broken(const std::string& what) const {
    fail(ErrorKind::bad_input, "{}, line {}: {}.", name_, line_, what);
  }

 private:
  bool take(char wanted) {
    if (at_end() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool take_line_end() {
    const bool returned = take('\r');
    const bool fed = take('\n');
    if (fed || returned) ++line_;
    return fed || returned;
  }

  std::string cell() {
    std::string text;
    if (!take('"')) {
      while (!at_end() && std::strchr(",\r\n", text_[at_]) == nullptr) add(text);
      return text_of_csv_cell(trimmed(text));
    }
    while (true) {
      if (at_end()) broken("a quoted cell has no end");
      if (take('"')) {
        if (!take('"')) return text_of_csv_cell(text);
        text += '"';
        continue;
      }
      if (text_[at_] == '\n') ++line_;
      add(text);
    }
  }

  void add(std::string& text) {
    if (text_[at_] == '\0') broken("a zero byte, which CSV does not allow");
    text += text_[at_++];
    if (text.size() > kMostCell) broken(fmt::format("a cell of more than {} bytes", kMostCell));
  }

  static std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Frame parse_csv(std::string_view text, const std::string& name) {
  if (text.size() > kMostBytes) fail(ErrorKind::bad_input, "{}: more than {} MiB.", name, kMostBytes >> 20);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  CsvReader reader(text, name);
  Frame frame;
  if (reader.at_end()) fail(ErrorKind::bad_input, "{} is empty; its first line must name the columns.", name);
  frame.columns = reader.row();
  while (!reader.at_end()) {
    auto cells = reader.row();
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (cells.size() != frame.columns.size()) {
      fail(ErrorKind::bad_input, "{}, line {}: {} cells below {} columns.", name, reader.line() - 1, cells.size(),
           frame.columns.size());
    }
    frame.rows.push_back(std::move(cells));
    if (frame.rows.size() > kMostRows) reader.broken(fmt::format("more than {} rows", kMostRows));
  }
  return frame;
}

Frame read_csv(const std::string& path) {
  return parse_csv(read_file(path, kMostBytes), path);
}

}  // namespace assay::model
