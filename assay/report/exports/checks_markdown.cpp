#include <fmt/format.h>

#include "assay/report/exports/check.hpp"
#include "assay/report/renderers/markdown.hpp"

namespace assay::report {

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
