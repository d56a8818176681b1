#include "assay/report/page.hpp"

#include <array>

#include "assay/report/markup.hpp"

namespace assay::report {
namespace {

std::string verdict_html(const Headline& verdict) {
  std::string out = "<section class=\"verdict\">\n<div>\n";
  out += element("p", verdict.number, " class=\"number\"");
  out += element("p", verdict.interval, " class=\"interval\"");
  out += element("p", verdict.subject, " class=\"subject\"");
  out += "</div>\n<ul>\n";
  for (const auto& finding : verdict.findings) out += element("li", finding);
  return out + "</ul>\n</section>\n";
}

std::string picture_html(const Picture& picture, std::size_t number) {
  std::string out = fmt::format("<figure id=\"{}\" data-picture=\"{}\">\n", escaped(picture.id), number);
  out += element("h3", picture.title);
  if (!picture.answer.empty()) out += element("p", picture.answer, " class=\"answer\"");
  out += "<div class=\"static\">" + svg_of(picture) + "</div>\n<div class=\"live\"></div>\n<figcaption>\n";
  if (!picture.command.empty()) out += element("code", picture.command);
  return out + "</figcaption>\n</figure>\n";
}

std::string pictures_html(const std::vector<Picture>& pictures) {
  std::string out;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const bool first = i == 0 || pictures[i - 1].question != pictures[i].question;
    if (first) out += "<section>\n" + element("h2", pictures[i].question) + "<div class=\"pictures\">\n";
    out += picture_html(pictures[i], i);
    const bool last = i + 1 == pictures.size() || pictures[i + 1].question != pictures[i].question;
    if (last) out += "</div>\n</section>\n";
  }
  return out;
}

std::string table_html(const TextTable& table) {
  if (table.rows.empty()) return {};
  std::string out =
      "<section>\n<h2>All results</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"All results\"><table>\n<thead><tr>";
  for (const auto& column : table.columns) out += element("th", column);
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const auto& cell : row) out += element("td", cell);
    out += "</tr>\n";
  }
  out += "</tbody>\n</table></div>\n";
  if (table.left_out > 0) out += element("p", fmt::format("{} more are in the store.", table.left_out));
  return out + "</section>\n";
}

std::string body_of(const ReportPage& page) {
  std::string sources;
  for (const auto& source : page.sources) sources += element("p", source);
  std::string out = "<header>\n" + element("h1", page.title);
  // The answer comes before what it rests on.
  out += page.verdict
             ? "</header>\n" + verdict_html(*page.verdict) + "<section><header>\n" + sources + "</header></section>\n"
             : sources + "</header>\n";
  const std::string numbers = page.footer.empty() ? "Numbers are medians over fresh processes; intervals are 95 % over "
                                                    "processes unless stated otherwise."
                                                  : page.footer;
  return out + pictures_html(page.pictures) + table_html(page.results) +
         element("footer", fmt::format("Written by assay {} at {}. {}", page.assay_version, page.created_utc, numbers));
}

/// Nulls, empty text and false left out: a page has thousands of marks, and most have little to say.
json terse(json value) {
  if (value.is_array()) {
    for (auto& item : value) item = terse(std::move(item));
  } else if (value.is_object()) {
    for (auto it = value.begin(); it != value.end();) {
      const bool says_nothing =
          it->is_null() ||
          (it->is_string() && it->get_ref<const std::string&>().empty() && it.key() != "title" && it.key() != "name") ||
          *it == json(false);
      if (says_nothing) {
        it = value.erase(it);
      } else {
        *it = terse(std::move(*it));
        ++it;
      }
    }
  }
  return value;
}

}  // namespace

std::string html_page(const ReportPage& page, std::string_view form) {
  const std::array<std::pair<std::string_view, std::string>, 3> parts{{
      {"<!--assay:title-->", escaped(page.title)},
      {"<!--assay:body-->", body_of(page)},
      {"<!--assay:data-->", script_json(terse(to_json(page)))},
  }};
  // Places are looked for in the form alone, so that text of the store cannot pass for one.
  std::string out;
  for (const auto& [place, text] : parts) {
    const auto at = form.find(place);
    if (at == std::string_view::npos)
      fail(ErrorKind::bad_input, "the page's template has no {}. Build it again.", place);
    out.append(form.substr(0, at)).append(text);
    form.remove_prefix(at + place.size());
  }
  return out.append(form);
}

}  // namespace assay::report

namespace assay {

template json to_json_value<report::ReportPage>(const report::ReportPage&);

}  // namespace assay
