#include "assay/report/exports/markdown.hpp"

#include <fmt/format.h>

#include "assay/core/text/utf8.hpp"
#include "assay/report/exports/check.hpp"

namespace assay::report {

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

std::string markdown_report(const std::string& title, const std::vector<Check>& checks) {
  std::string out = fmt::format("## {}\n\n{} failed, {} undecided, {} passed\n", markdown_text(title),
                                count(checks, CheckStatus::failed), count(checks, CheckStatus::undecided),
                                count(checks, CheckStatus::passed));
  if (checks.empty()) return out;
  out += "\n| | check | outcome |\n| --- | --- | --- |\n";
  for (const auto status : {CheckStatus::failed, CheckStatus::undecided, CheckStatus::passed}) {
    for (const auto& check : checks) {
      if (check.status != status) continue;
      const char* mark = status == CheckStatus::failed ? "**" : "";
      out += fmt::format("| {}{}{} | {} | {} |\n", mark, name_of(status), mark, markdown_text(check.name),
                         markdown_text(check.message));
    }
  }
  return out;
}

}  // namespace assay::report
