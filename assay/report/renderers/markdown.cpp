#include "assay/report/renderers/markdown.hpp"

#include <fmt/format.h>

#include "assay/core/text/utf8.hpp"
#include "assay/report/renderers/terminal.hpp"

namespace assay::report {

namespace {

/// Draws a block after the one before it. Items and terms of one list follow each other without a blank line.
class MarkdownPage {
 public:
  void operator()(const Heading& heading) { part("### " + markdown_text(heading.text)); }
  void operator()(const Paragraph& paragraph) { part(markdown_text(paragraph.text)); }
  void operator()(const Item& item) {
    listed(std::string(item.depth > 1 ? 2 * static_cast<std::size_t>(item.depth - 1) : 0, ' ') + "- " +
           emphasised(markdown_text(item.text), item.tone));
  }
  void operator()(const Term& term) {
    listed(term.word.empty() ? "  - " + markdown_text(term.text)
                             : "- **" + markdown_text(term.word) + "** " + markdown_text(term.text));
  }
  void operator()(const Table& table) {
    std::string text = table.in_words().markdown();
    text.pop_back();
    part(text);
  }
  void operator()(const Matrix& matrix) { (*this)(matrix.table); }
  void operator()(const Curve& curve) {
    listed("- " + spark_line(curve.values, kCurveColumns, true) + " " + markdown_text(curve.caption));
  }
  void operator()(const CharacterMap& map) { part("```text\n" + map.plain + "```"); }
  void operator()(const Gap& /*all blocks are apart*/) { in_list_ = false; }

  std::string take() { return std::move(out_); }

 private:
  static constexpr std::size_t kCurveColumns = 60;

  static std::string emphasised(const std::string& text, Tone tone) {
    return tone == Tone::bad || tone == Tone::strong ? "**" + text + "**" : text;
  }
  void part(const std::string& text) {
    out_ += (out_.empty() ? "" : "\n") + text + "\n";
    in_list_ = false;
  }
  void listed(const std::string& text) {
    if (!in_list_ && !out_.empty()) out_ += "\n";
    out_ += text + "\n";
    in_list_ = true;
  }

  std::string out_;
  bool in_list_ = false;
};

}  // namespace

std::string as_markdown(const Document& document) {
  MarkdownPage page;
  for (const auto& block : document.blocks()) std::visit(page, block);
  return page.take();
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_{}[]()#+!|~<>&@$";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_character(text, i);
    const auto bytes = text.substr(i, length == 0 ? 1 : length);
    i += bytes.size();
    if (bytes == "\n") {
      out += "<br>";
    } else if (length == 1 && kMarkup.find(bytes[0]) != std::string_view::npos) {
      // By number and not by a backslash: a backslash before | or @ is not read in the same way everywhere.
      out += fmt::format("&#{};", static_cast<int>(bytes[0]));
    } else {
      out += printable(bytes, bytes.size());
    }
  }
  return out;
}

}  // namespace assay::report
