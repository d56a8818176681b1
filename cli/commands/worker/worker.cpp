#include <memory>

#include "assay/plan/catalog/ability.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/report/subjects/workers/listing.hpp"
#include "assay/vet/conformance.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

struct WorkerOptions {
  std::string worker;
  AnswerFlags answer;
};

json listed(const plan::WorkerInfo& worker) {
  json out = to_json(worker);
  out["installed"] = worker.installed();
  out["folder"] = worker.folder.string();
  out["environment_folder"] = nullptr;
  if (!worker.environment_folder.empty()) out["environment_folder"] = worker.environment_folder.string();
  out["workloads"] = json::array();
  for (const auto& ability : plan::abilities_of(worker)) out["workloads"].push_back(to_json(ability));
  return out;
}

void list(const AnswerFlags& wanted) {
  const auto catalog = catalog_at_hand();
  for (const auto& problem : catalog.problems()) std::fprintf(stderr, "assay: %s\n", problem.c_str());
  answer(wanted, report::workers_document(catalog.workers()), [&] {
    json out = json::array();
    for (const auto& worker : catalog.workers()) out.push_back(listed(worker));
    return out;
  });
}

int check(const WorkerOptions& o) {
  const auto catalog = catalog_at_hand();
  const auto checks = vet::check_conformance(catalog.find(o.worker));
  bool all = true;
  json out = json::array();
  report::Document document;
  for (const auto& one : checks) {
    all = all && one.passed;
    out.push_back({{"rule", one.rule}, {"passed", one.passed}, {"message", one.message}});
    document.term(one.passed ? "ok" : "FAILED", one.rule, one.passed ? report::Tone::plain : report::Tone::bad);
    if (!one.passed) document.term("", one.message);
  }
  answer(o.answer, document, [&] { return out; });
  return all ? 0 : 1;
}

void add_worker(CLI::App& command, Invocation& invocation) {
  command.require_subcommand(1);
  const auto o = std::make_shared<WorkerOptions>();
  auto* list_command =
      command.add_subcommand("list", "List workers, whether each is installed, and which workloads it can run");
  add_answer_flags(*list_command, o->answer);
  list_command->callback([o, &invocation] {
    list(o->answer);
    invocation.exit_code = 0;
  });
  auto* check_command = command.add_subcommand("check", "Start a worker and hold it to every rule of the protocol");
  check_command->add_option("worker", o->worker, "Check this worker, or worker==release")->required();
  add_answer_flags(*check_command, o->answer);
  check_command->callback([o, &invocation] { invocation.exit_code = check(*o); });
  add_worker_equal(command, invocation.exit_code);
  add_worker_audit(command, invocation.exit_code);
  add_worker_install(command, invocation.exit_code);
}

}  // namespace

const Command commands::worker{
    "worker", "List and install workers, and check that they keep the protocol and are honest", add_worker};

}  // namespace assay::cli
