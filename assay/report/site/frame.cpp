#include "assay/report/site/frame.hpp"

#include "assay/core/version.hpp"
#include "assay/report/markup.hpp"
#include "assay/report/site/manifest.hpp"

namespace assay::report::site {

PageWriter::PageWriter(std::string path, std::string title)
    : path_(std::move(path)), title_(std::move(title)), root_(path_.find('/') == std::string::npos ? "" : "../") {
  ASSAY_CHECK(is_site_path(path_));
}

void PageWriter::heading(std::string_view text) {
  body_ += element("h2", text);
}

void PageWriter::paragraph(std::string_view text) {
  body_ += element("p", text);
}

std::string PageWriter::anchor(const LinkedCell& cell) const {
  if (cell.to.empty()) return escaped(cell.text);
  ASSAY_CHECK(is_site_path(cell.to));
  return fmt::format("<a href=\"{}{}\">{}</a>", root_, cell.to, escaped(cell.text));
}

void PageWriter::link(std::string_view before, const LinkedCell& to) {
  body_ += fmt::format("<p>{}{}</p>\n", escaped(before), anchor(to));
}

void PageWriter::table(const LinkedTable& table) {
  if (table.rows.empty()) return;
  body_ += fmt::format("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
                       escaped(table.title));
  for (const auto& column : table.columns) body_ += element("th", column);
  body_ += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    body_ += "<tr>";
    for (const auto& cell : row) body_ += "<td>" + anchor(cell) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</tbody>\n</table></div>\n";
}

void PageWriter::pictures(const std::vector<Picture>& all) {
  for (const auto& picture : all) {
    body_ += fmt::format("<figure id=\"{}\">\n", escaped(picture.id)) + element("h3", picture.title);
    if (!picture.answer.empty()) body_ += element("p", picture.answer, " class=\"answer\"");
    body_ +=
        "<div class=\"static\" tabindex=\"0\" role=\"region\" aria-label=\"Picture\">" + svg_of(picture) + "</div>\n";
    if (!picture.command.empty()) body_ += "<figcaption>" + element("code", picture.command) + "</figcaption>\n";
    body_ += "</figure>\n";
  }
}

std::string PageWriter::page(const std::string& site, bool script) const {
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {3}; style-src "
             "'self'; base-uri 'none'; form-action 'none'\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{0}</title>\n"
             "<link rel=\"stylesheet\" href=\"{1}site.css\">\n</head>\n<body>\n"
             "<nav aria-label=\"Site\"><a href=\"{1}index.html\">{2}</a></nav>\n<main>\n<h1>{0}</h1>\n",
             escaped(title_), root_, escaped(site), script ? "'self'" : "'none'") +
         body_ +
         fmt::format(
             "</main>\n<footer>Written by assay {}. Numbers are medians over fresh processes; intervals are 95 % "
             "over processes unless stated otherwise.</footer>\n{}</body>\n</html>\n",
             kVersion, script ? fmt::format("<script src=\"{}site.js\"></script>\n", root_) : "");
}

}  // namespace assay::report::site
