#include "cli/command_tree.hpp"

#include "assay/core/text/items.hpp"

namespace assay::cli {
namespace {

/// "TEXT:{json,csv}" has the values that are allowed after it.
std::vector<std::string> choices_in(const std::string& type) {
  const auto begin = type.find(":{");
  const auto end = type.find('}', begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  const auto choices = items_of(std::string_view(type).substr(begin + 2, end - begin - 2));
  return {choices.begin(), choices.end()};
}

/// What an argument and a flag have alike.
TreeOption described(const CLI::Option& option) {
  TreeOption found;
  found.choices = choices_in(option.get_type_name());
  found.description = option.get_description();
  found.fallback = option.get_default_str();
  found.variable = option.get_envname();
  return found;
}

TreeOption tree_argument(const CLI::Option& option) {
  auto found = described(option);
  found.value = option.get_name(true);
  return found;
}

TreeOption tree_flag(const CLI::Option& option) {
  auto found = described(option);
  for (const auto& name : option.get_snames()) found.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) found.names.push_back("--" + name);
  const auto type = option.get_type_name();
  if (option.get_type_size_max() != 0) found.value = type.substr(0, type.find(':'));
  return found;
}

void walk(const CLI::App& app, const std::string& path, std::vector<TreeCommand>& tree) {
  TreeCommand command{path, app.get_description(), app.get_footer(), {}, {}, {}};
  for (const auto* option : app.get_options()) {
    // `show` takes its campaign either way.
    if (option->get_positional()) command.arguments.push_back(tree_argument(*option));
    if (option->nonpositional()) command.options.push_back(tree_flag(*option));
  }
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const auto* one : below) command.subcommands.push_back(one->get_name());
  tree.push_back(std::move(command));
  for (const auto* one : below) walk(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), tree);
}

}  // namespace

std::vector<TreeCommand> command_tree(const CLI::App& app) {
  std::vector<TreeCommand> tree;
  walk(app, "", tree);
  return tree;
}

}  // namespace assay::cli
