#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/command_tree.hpp"

namespace assay::cli {
namespace {

constexpr const char* kBegin = R"(# Completion of assay for bash, written by `assay completion`.
_assay() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    # What stands behind "--" is another program's.
    [[ ${COMP_WORDS[i]} == -- ]] && return
    case "$command ${COMP_WORDS[i]}" in
)";

constexpr const char* kEnd = R"(  esac
  # No reply has bash complete names of files.
  [[ $current == -* ]] || words=$plain
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _assay assay
)";

/// `command` as the script keeps it: each word with a space before it.
std::string spaced(const TreeCommand& command) {
  return command.path.empty() ? "" : " " + command.path;
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

/// Arms of a case for flags that take a value: its choices, else nothing, so that bash offers files.
std::string value_arms(const TreeCommand& command) {
  std::string arms;
  std::vector<std::string> free;
  for (const auto& option : command.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const auto& name : option.names) patterns.push_back(quoted(spaced(command) + " " + name));
    if (option.choices.empty()) {
      free.insert(free.end(), patterns.begin(), patterns.end());
      continue;
    }
    arms += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
                        fmt::join(patterns, " | "), fmt::join(option.choices, " "));
  }
  if (!free.empty()) arms += fmt::format("    {}) return ;;\n", fmt::join(free, " | "));
  return arms;
}

/// The flags of a command, and what may stand there without a dash.
std::string word_arm(const TreeCommand& command) {
  std::vector<std::string> flags;
  for (const auto& option : command.options) flags.insert(flags.end(), option.names.begin(), option.names.end());
  return fmt::format("    {}) words=\"{}\" plain=\"{}\" ;;\n", quoted(spaced(command)), fmt::join(flags, " "),
                     fmt::join(command.subcommands, " "));
}

std::string bash_completion(const std::vector<TreeCommand>& tree) {
  std::string text = kBegin;
  std::vector<std::string> paths;
  for (const auto& command : tree) {
    if (!command.path.empty()) paths.push_back(quoted(spaced(command)));
  }
  text += fmt::format("      {}) command+=\" ${{COMP_WORDS[i]}}\" ;;\n    esac\n  done\n", fmt::join(paths, " | "));
  text += "  case \"$command $before\" in\n";
  for (const auto& command : tree) text += value_arms(command);
  text += "  esac\n  local plain=\n  case \"$command\" in\n";
  for (const auto& command : tree) text += word_arm(command);
  return text + kEnd;
}

void add_completion(CLI::App& command, Invocation& invocation) {
  command.footer("source <(assay completion)");
  command.callback([&command, &invocation] {
    print(bash_completion(command_tree(*command.get_parent())));
    invocation.exit_code = 0;
  });
}

}  // namespace

const Command commands::completion{"completion", "Print a script that lets bash complete commands and flags",
                                   add_completion};

}  // namespace assay::cli
