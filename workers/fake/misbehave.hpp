#pragma once

#include <string>
#include <vector>

#include "workers/common/channel.hpp"

namespace assay::fake {

enum class Stage { prepare, measure, exit };

/// A named way to break the rules, for the tests of those who must survive it. README.md lists them all.
struct Misbehaviour {
  std::string name;  ///< "none": behave
  Stage at = Stage::measure;
};

/// Checks the name and the stage; `at` is "prepare", "measure", "exit", or empty for where it is at home.
/// Throws Refused that lists what there is.
Misbehaviour find_misbehaviour(const std::string& name, const std::string& at);

/// Does it. Most never return: they end the process, hang, or hold still until `exit` or end of file. Those that let
/// the worker go on properly do return.
void misbehave(const Misbehaviour& misbehaviour, worker::Channel& channel);

// The ways that need processes, memory or signals rather than text; misbehave_process.cpp.
void fork_setsid();
void fork_tree();
void grow_memory();
void crash(int signal);
[[noreturn]] void hang();

}  // namespace assay::fake
