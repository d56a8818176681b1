#include "cli/flags/answer.hpp"

#include "assay/report/renderers/markdown.hpp"
#include "assay/report/renderers/terminal.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"

namespace assay::cli {

void add_answer_flags(CLI::App& command, AnswerFlags& flags) {
  add_json_flag(command, flags.json);
  command.add_option("--markdown", flags.markdown, "Write the answer to this file as Markdown too")
      ->type_name("FILE")
      ->group(kOutputGroup);
}

void print_document(const report::Document& document) {
  print(report::as_terminal(document, terminal_look()));
}

void print_json(const json& value) {
  print(value.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

void write_markdown(const std::string& path, const report::Document& document) {
  if (!path.empty()) write_output(path, report::as_markdown(document));
}

}  // namespace assay::cli
