#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace assay::cli {

/// A flag or a positional argument, in the words of its help.
struct TreeOption {
  std::vector<std::string> names;  ///< with their dashes; empty for a positional argument
  std::string value;               ///< what it takes, as NAME, PATH or INT; empty for a flag
  std::vector<std::string> choices;
  std::string description;
  std::string fallback;  ///< its default
  std::string variable;  ///< its twin in the environment
};

/// A command with its subcommands below it.
struct TreeCommand {
  std::string path;  ///< as typed after "assay", with a space between; empty for the program itself
  std::string description;
  std::string examples;
  std::vector<TreeOption> options;
  std::vector<TreeOption> arguments;
  std::vector<std::string> subcommands;
};

/// All commands of the program, each after the one it belongs to: what the man page and the completion are written
/// from.
std::vector<TreeCommand> command_tree(const CLI::App& app);

}  // namespace assay::cli
