#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <set>

#include "assay/network/network.hpp"
#include "assay/store/store.hpp"

#include "cli/command.hpp"
#include "cli/command_tree.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

/// Names that change from day to day are asked for when they are completed: by which flag, and of what.
constexpr std::array<std::pair<const char*, const char*>, 4> kAsked{
    {{"--worker", "workers"}, {"--network", "networks"}, {"--campaign", "campaigns"}, {"--tuned", "tunings"}}};
/// The same for the first word after a command.
constexpr std::array<std::pair<const char*, const char*>, 8> kAskedWords{{{"run", "networks"},
                                                                          {"tune", "networks"},
                                                                          {"predict", "networks"},
                                                                          {"show", "campaigns"},
                                                                          {"compare", "campaigns"},
                                                                          {"export", "campaigns"},
                                                                          {"agent", "campaigns"},
                                                                          {"store drop", "campaigns"}}};

template <typename List>
std::string asked(const List& list, const std::string& name) {
  for (const auto& [of, what] : list) {
    if (name == of) return fmt::format("$(assay completion --names {} 2>/dev/null)", what);
  }
  return "";
}

constexpr const char* kBegin = R"(# Completion of assay for bash, written by `assay completion`.
_assay() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    # What comes after "--" is another program's.
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
    auto words = fmt::format("{}", fmt::join(option.choices, " "));
    for (const auto& name : option.names) words += asked(kAsked, name);
    if (words.empty()) {
      free.insert(free.end(), patterns.begin(), patterns.end());
      continue;
    }
    arms += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
                        fmt::join(patterns, " | "), words);
  }
  if (!free.empty()) arms += fmt::format("    {}) return ;;\n", fmt::join(free, " | "));
  return arms;
}

/// The flags of a command, and what may stand there without a dash.
std::string word_arm(const TreeCommand& command) {
  std::vector<std::string> flags;
  for (const auto& option : command.options) flags.insert(flags.end(), option.names.begin(), option.names.end());
  return fmt::format("    {}) words=\"{}\" plain=\"{}\" ;;\n", quoted(spaced(command)), fmt::join(flags, " "),
                     fmt::format("{}{}", fmt::join(command.subcommands, " "), asked(kAskedWords, command.path)));
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

/// One for each line; none where there is no store yet.
std::set<std::string> names_of(const std::string& what) {
  std::set<std::string> names;
  if (what == "networks") {
    for (const auto& about : network::all_networks()) names.insert(about.name);
    return names;
  }
  if (what == "workers") {
    const auto catalog = catalog_at_hand();
    for (const auto& worker : catalog.workers()) names.insert(worker.name);
    return names;
  }
  const char* store = std::getenv("ASSAY_STORE");
  const auto opened = store::open_store(store == nullptr ? "assay.db" : store, store::Access::read);
  if (what == "campaigns") {
    for (const auto& row : opened->campaigns()) names.insert(row.name);
  } else {
    for (const auto& tuning : opened->artifacts("tuning")) names.insert(tuning.content.value("name", ""));
  }
  return names;
}

struct CompletionFlags {
  std::string shell = "bash";
  std::string names;
};

void add_completion(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<CompletionFlags>();
  command.add_option("shell", o->shell, "Write it for this shell: bash or zsh")
      ->check(CLI::IsMember({"bash", "zsh"}))
      ->capture_default_str();
  command.add_option("--names", o->names, "Print the names there are, as the script asks for them")
      ->check(CLI::IsMember({"workers", "networks", "campaigns", "tunings"}));
  command.footer("source <(assay completion)\nsource <(assay completion zsh)");
  command.callback([o, &command, &invocation] {
    if (!o->names.empty()) {
      auto names = names_of(o->names);
      // bash expands what it is offered: a name from a store must not be a command.
      std::erase_if(names, [](const std::string& name) {
        return name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+:/@-") !=
               std::string::npos;
      });
      print(fmt::format("{}\n", fmt::join(names, "\n")));
    } else {
      const char* before = o->shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
      print(before + bash_completion(command_tree(*command.get_parent())));
    }
    invocation.exit_code = 0;
  });
}

}  // namespace

const Command commands::completion{
    "completion", "Print a script that lets bash or zsh complete commands, flags and names", add_completion};

}  // namespace assay::cli
