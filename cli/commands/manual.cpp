#include <fmt/ranges.h>

#include "assay/core/version.hpp"
#include "cli/command.hpp"
#include "cli/command_tree.hpp"

namespace assay::cli {
namespace {

/// Text as roff shows it: no character of it is a request, a dash can be copied, and dots are there in every locale.
std::string roff(std::string text) {
  const std::string dots = "…";
  for (auto at = text.find(dots); at != std::string::npos; at = text.find(dots)) text.replace(at, dots.size(), "...");
  std::string out;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    at_begin = c == '\n';
  }
  return out;
}

std::string bold(const std::string& text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return text.empty() ? "" : "\\fI" + roff(text) + "\\fR";
}

std::string paragraph(const TreeOption& option) {
  std::vector<std::string> names;
  for (const auto& name : option.names) names.push_back(bold(name));
  auto head = fmt::format("{}", fmt::join(names, ", "));
  if (!option.value.empty()) head += (head.empty() ? "" : " ") + italic(option.value);
  auto text = ".TP\n" + head + "\n" + roff(option.description.empty() ? "See above." : option.description) + "\n";
  if (!option.choices.empty())
    text += fmt::format("One of {}.\n", roff(fmt::format("{}", fmt::join(option.choices, ", "))));
  if (!option.fallback.empty()) text += "Default: " + roff(option.fallback) + "\n";
  if (!option.variable.empty()) text += ".br\nVariable: " + roff(option.variable) + "\n";
  return text;
}

std::string section(const TreeCommand& command) {
  auto head = "assay " + command.path;
  for (const auto& argument : command.arguments) head += " [" + argument.value + "]";
  auto text = ".SS \"" + roff(head) + "\"\n" + roff(command.description) + "\n";
  for (const auto& argument : command.arguments) text += paragraph(argument);
  for (const auto& option : command.options) {
    if (option.names.back() != "--help") text += paragraph(option);
  }
  if (!command.examples.empty()) text += ".PP\nExamples:\n.PP\n.nf\n.RS\n" + roff(command.examples) + "\n.RE\n.fi\n";
  return text;
}

std::string man_page(const std::vector<TreeCommand>& tree) {
  const auto& program = tree.front();
  auto text = fmt::format(".TH ASSAY 1 \"\" \"assay {}\" \"User Commands\"\n", kVersion);
  text += ".SH NAME\nassay \\- measure, model, tune and predict deep\\-learning workloads\n";
  text += ".SH SYNOPSIS\n.B assay\n.I COMMAND\n[\\fIOPTIONS\\fR]\n";
  text += ".SH DESCRIPTION\n" + roff(program.description) + "\n.PP\n" + roff(program.examples) + "\n";
  text +=
      ".PP\nEach flag has a twin in the environment; the command line wins. What comes after\n.B \\-\\-\n"
      "is a program to measure or to start.\n.SH COMMANDS\n";
  for (const auto& command : tree) {
    if (!command.path.empty()) text += section(command);
  }
  text +=
      ".SH ENVIRONMENT\n"
      ".TP\n.B ASSAY_WORKERS\nFolders of workers of your own, with a colon between them.\n"
      ".TP\n.B ASSAY_ENVIRONMENTS\nWhere virtual environments of workers are.\n"
      ".TP\n.B ASSAY_LIBEXEC\nWhere the helper programs are.\n"
      ".SH EXIT STATUS\n0 all went well; 1 an error; 2 a wrong command line; 3 a gate failed; 4 finished, but runs "
      "failed; 5 a gate or limit is neither proved nor excluded; 130 stopped by\nControl\\-C.\n";
  return text;
}

void add_manual(CLI::App& command, Invocation& invocation) {
  command.footer("assay manual | man -l -");
  command.callback([&command, &invocation] {
    print(man_page(command_tree(*command.get_parent())));
    invocation.exit_code = 0;
  });
}

}  // namespace

const Command commands::manual{"manual", "Print the man page, made of the help of all commands", add_manual};

}  // namespace assay::cli
