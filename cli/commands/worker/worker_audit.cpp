#include <unistd.h>

#include <memory>

#include "assay/measure/agent/host_lock.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/report/subjects/workers/audit.hpp"
#include "assay/vet/audit.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

struct AuditFlags {
  std::string worker;
  std::int64_t seed = 1;
  std::string host_lock;
  AnswerFlags answer;
};

int audit(const AuditFlags& flags) {
  vet::AuditRequest request;
  request.worker = catalog_at_hand().find(flags.worker);
  request.seed = flags.seed;
  request.started = [&](const std::string& what) {
    std::fprintf(stderr, "assay: %s: %s\n", request.worker.name.c_str(), what.c_str());
  };
  measure::HostLock lock(flags.host_lock);
  bool told = false;
  const bool taken = lock.take([&] {
    if (!told) std::fprintf(stderr, "assay: waits until nothing else is measured on this host\n");
    told = true;
    return true;
  });
  ASSAY_CHECK(taken);
  const measure::RunDirectory folder(measure::default_run_root(), fmt::format("audit-{}", getpid()));
  request.folder = folder.path();
  const auto result = vet::audit(request);
  answer(flags.answer, report::audit_document(result), [&] { return to_json(result); });
  return result.alarms() == 0 ? 0 : kExitGate;
}

}  // namespace

void add_worker_audit(CLI::App& worker, int& exit_code) {
  auto* command =
      worker.add_subcommand("audit", "Check that the steps that a worker times are the work that it was given");
  const auto flags = std::make_shared<AuditFlags>();
  command->add_option("worker", flags->worker, "Check this worker, or worker==release")->required();
  command->add_option("--seed", flags->seed, "Draw weights and inputs from this seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--host-lock", flags->host_lock, "Use this lock file in place of the host's common one");
  add_answer_flags(*command, flags->answer);
  command->callback([flags, &exit_code] { exit_code = audit(*flags); });
}

}  // namespace assay::cli
