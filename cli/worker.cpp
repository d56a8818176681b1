#include <fmt/ranges.h>

#include <memory>

#include "assay/measure/conformance.hpp"
#include "assay/plan/catalog.hpp"
#include "assay/report/table.hpp"
#include "cli/command.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

struct WorkerOptions {
  std::string worker;
  bool json = false;
};

void list(bool as_json) {
  const auto catalog = plan::Catalog::read(worker_roots());
  for (const auto& problem : catalog.problems()) std::fprintf(stderr, "assay: %s\n", problem.c_str());
  if (as_json) {
    json out = json::array();
    for (const auto& worker : catalog.workers()) out.push_back(to_json(worker));
    return print(out.dump(2) + "\n");
  }
  report::Table table({{"worker"}, {"release"}, {"networks"}, {"modes"}, {"details"}, {"what it is"}});
  for (const auto& worker : catalog.workers()) {
    table.add({worker.name, worker.release, fmt::format("{}", fmt::join(worker.networks, " ")),
               fmt::format("{}", fmt::join(worker.modes, " ")), fmt::format("{}", fmt::join(worker.details, " ")),
               worker.description});
  }
  print(table.text(terminal_width()));
}

int check(const WorkerOptions& o) {
  const auto catalog = plan::Catalog::read(worker_roots());
  const auto checks = measure::check_conformance(catalog.find(o.worker));
  bool all = true;
  json out = json::array();
  std::string text;
  for (const auto& one : checks) {
    all = all && one.passed;
    out.push_back({{"rule", one.rule}, {"passed", one.passed}, {"message", one.message}});
    text += fmt::format("{} {}{}\n", one.passed ? "ok    " : "FAILED", one.rule,
                        one.passed ? "" : "\n       " + one.message);
  }
  print(o.json ? out.dump(2) + "\n" : text);
  return all ? 0 : 1;
}

}  // namespace

void add_worker(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("worker", "The workers at hand, and whether they keep the protocol");
  command->require_subcommand(1);
  const auto o = std::make_shared<WorkerOptions>();
  auto* list_command = command->add_subcommand("list", "What is installed and what it can run");
  list_command->add_flag("--json", o->json, "Print as JSON");
  list_command->callback([o, &exit_code] {
    list(o->json);
    exit_code = 0;
  });
  auto* check_command = command->add_subcommand("check", "Start a worker and hold it to every rule of the protocol");
  check_command->add_option("worker", o->worker, "Worker, or worker==release")->required();
  check_command->add_flag("--json", o->json, "Print as JSON");
  check_command->callback([o, &exit_code] { exit_code = check(*o); });
}

}  // namespace assay::cli
