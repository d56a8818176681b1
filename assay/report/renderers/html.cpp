#include "assay/report/renderers/html.hpp"

#include <algorithm>

#include "assay/report/markup.hpp"

namespace assay::report {
namespace {

const char* class_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::strong:
      return " class=\"strong\"";
    case Tone::good:
      return " class=\"good\"";
    case Tone::notice:
      return " class=\"notice\"";
    case Tone::warning:
      return " class=\"warning\"";
    case Tone::bad:
      return " class=\"bad\"";
  }
  return "";
}

/// Values as a line of 160 by 24 pixels over their range, or over 5 % of the smallest where that is more.
std::string curve_svg(const Curve& curve) {
  constexpr double kWidth = 160;
  constexpr double kHeight = 24;
  constexpr double kLeastSpan = 0.05;
  const auto [low, high] = std::minmax_element(curve.values.begin(), curve.values.end());
  const double span = std::max(*high - *low, kLeastSpan * *low);
  std::string points;
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    const double x =
        curve.values.size() < 2 ? 0 : kWidth * static_cast<double>(i) / static_cast<double>(curve.values.size() - 1);
    const double share = span > 0 ? (curve.values[i] - *low) / span : 0;
    points += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x, 1 + (kHeight - 2) * (1 - share));
  }
  return fmt::format(
      "<svg class=\"curve\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" aria-hidden=\"true\"><path class=\"line\" "
      "d=\"{}\"/></svg>",
      kWidth, kHeight, kWidth, kHeight, points);
}

/// Draws a block after the one before it. Items, curves and terms of one list are in one element.
class HtmlPage {
 public:
  void operator()(const Heading& heading) { part(element("h3", heading.text)); }
  void operator()(const Paragraph& paragraph) { part(element("p", paragraph.text)); }
  void operator()(const Item& item) { listed("ul", element("li", item.text, item_attributes(item))); }
  void operator()(const Term& term) {
    listed("dl", (term.word.empty() ? "" : element("dt", term.word, class_of(term.tone))) + element("dd", term.text));
  }
  void operator()(const Table& table) {
    std::string out = "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n<thead><tr>";
    for (const auto& column : table.columns()) out += cell("th", column.title, column);
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows()) {
      out += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i) out += cell("td", row[i], table.columns()[i]);
      out += "</tr>\n";
    }
    part(out + "</tbody>\n</table></div>\n");
  }
  void operator()(const Matrix& matrix) { (*this)(matrix.table); }
  void operator()(const Curve& curve) {
    if (curve.values.empty()) return;
    listed("ul", "<li class=\"plain\">" + curve_svg(curve) + " " + escaped(curve.caption) + "</li>\n");
  }
  void operator()(const CharacterMap& map) {
    // A line feed is not a control character here.
    std::string text;
    for (std::size_t begin = 0; begin < map.plain.size();) {
      const auto end = std::min(map.plain.find('\n', begin), map.plain.size());
      text += escaped(std::string_view(map.plain).substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    part("<pre tabindex=\"0\">" + text + "</pre>\n");
  }
  void operator()(const Gap& /*all blocks are apart*/) { part(""); }

  std::string take() {
    part("");
    return std::move(out_);
  }

 private:
  static const char* item_attributes(const Item& item) {
    return item.depth > 1 ? " class=\"deep\"" : class_of(item.tone);
  }
  static std::string cell(const char* tag, const std::string& text, const Table::Column& column) {
    // A heading without words would be read out as nothing.
    if (std::string_view(tag) == "th" && text.empty()) return "<td></td>\n";
    return element(tag, text, column.align == Table::Align::right ? " class=\"right\"" : "");
  }
  void part(const std::string& text) {
    if (list_ != nullptr) out_ += fmt::format("</{}>\n", list_);
    list_ = nullptr;
    out_ += text;
  }
  void listed(const char* list, const std::string& text) {
    if (list_ == nullptr || std::string_view(list_) != list) {
      part(fmt::format("<{}>\n", list));
      list_ = list;
    }
    out_ += text;
  }

  std::string out_;
  const char* list_ = nullptr;
};

}  // namespace

std::string as_html(const Document& document) {
  HtmlPage page;
  for (const auto& block : document.blocks()) std::visit(page, block);
  return page.take();
}

}  // namespace assay::report
