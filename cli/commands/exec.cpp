#include <cstdio>
#include <memory>

#include "assay/tune/apply/launch.hpp"
#include "assay/tune/apply/supervise.hpp"
#include "cli/command.hpp"
#include "cli/flags/tunings.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

struct ExecOptions {
  std::string store = "assay.db";
  std::string tuned;
  std::string emit;
  bool rescale = false;
  bool inject = false;
  bool quiet = false;
};

void tell_user(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines += "assay exec: " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  std::fputs(lines.c_str(), stderr);
}

int emit_tuning(const ExecOptions& o, const std::vector<std::string>& program) {
  if (!program.empty()) {
    fail(ErrorKind::usage, "--emit {} starts no program. Leave {} out, or --emit.", o.emit, shown(program[0]));
  }
  print_emitted(o.emit, find_tuning(o.tuned, o.store));
  return 0;
}

int start(const ExecOptions& o, const std::vector<std::string>& program) {
  if (program.empty()) {
    fail(ErrorKind::usage, "there is no program to start. Write it after --: assay exec --tuned {} -- PROGRAM",
         o.tuned);
  }
  const auto tuning = find_tuning(o.tuned, o.store);
  tune::LaunchWishes wishes;
  wishes.program = program;
  wishes.rescale = o.rescale;
  if (o.inject) wishes.inject = std::filesystem::absolute(libexec_folder() / "inject");
  const auto plan = plan_launch(tuning, tune::this_host(), wishes);
  if (!o.quiet) tell_user(title(plan, tuning));
  return plan.cpus.size() == 1 ? tune::become(plan, program, 0) : tune::supervise(plan, program);
}

void add_exec(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<ExecOptions>();
  command.footer("The program comes after --: assay exec --tuned resnet -- python serve.py --port 80{instance}");
  add_store_option(command, o->store);
  command.add_option("--tuned", o->tuned, "Use this tuning of the store, or a file that --emit json wrote")
      ->required()
      ->type_name("NAME|FILE.json");
  auto* rescale =
      command.add_flag("--rescale", o->rescale, "Scale a tuning for another number of CPUs instead of refusing it");
  auto* inject = command.add_flag("--inject", o->inject,
                                  "Set in Python programs, when the framework is imported, what no variable can set");
  auto* quiet = command.add_flag("--quiet", o->quiet, "Do not print what was set and what could not be");
  add_emit_option(command, o->emit)->excludes(rescale, inject, quiet);
  command.callback([o, &invocation] {
    invocation.exit_code = o->emit.empty() ? start(*o, invocation.program) : emit_tuning(*o, invocation.program);
  });
}

}  // namespace

const Command commands::exec{"exec", "Start a program with the settings that `assay tune` found", add_exec};

}  // namespace assay::cli
