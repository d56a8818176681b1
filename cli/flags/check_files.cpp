#include "cli/flags/check_files.hpp"

#include "cli/help.hpp"
#include "cli/output.hpp"

namespace assay::cli {

void add_check_files(CLI::App& command, CheckFiles& files) {
  command.add_option("--junit", files.junit, "Write the outcome as JUnit XML too")
      ->type_name("FILE")
      ->group(kOutputGroup);
  command.add_option("--markdown", files.markdown, "Write the outcome as Markdown too")
      ->type_name("FILE")
      ->group(kOutputGroup);
}

void write_check_files(const CheckFiles& files, const std::string& title, const std::vector<report::Check>& checks) {
  if (!files.junit.empty()) write_output(files.junit, report::junit_report(checks));
  if (!files.markdown.empty()) write_output(files.markdown, report::markdown_report(title, checks));
}

}  // namespace assay::cli
