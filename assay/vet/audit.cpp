#include "assay/vet/audit.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <csignal>

#include "assay/measure/rank/session.hpp"
#include "assay/vet/audit_observation.hpp"
#include "assay/vet/audit_rules.hpp"

namespace assay::vet {
namespace {

// Of three rounds two agree, whatever happens.
constexpr std::int64_t kAgreeing = 2;

/// Every round has values of its own, three networks each.
constexpr std::int64_t kSeedsOfRound = 3;

bool allows(const std::vector<std::string>& names, const char* name) {
  return names.empty() ||
         std::any_of(names.begin(), names.end(), [&](const auto& one) { return one == name || one == "*"; });
}

void check_auditable(const plan::WorkerInfo& worker) {
  const auto refuse = [&](const char* reason) {
    fail(ErrorKind::usage, "the worker {} cannot be audited: {}. An audit gives it networks of its own.", worker.name,
         reason);
  };
  const auto& operators = worker.operators;
  if (std::find(operators.begin(), operators.end(), "linear") == operators.end()) {
    refuse("it does not build graphs with the operator linear");
  }
  if (!allows(worker.modes, "infer")) refuse("it does not infer");
  if (!allows(worker.precisions, "fp32")) refuse("it has no precision fp32");
  if (!allows(worker.devices, "cpu")) refuse("it does not compute on the device cpu");
}

[[noreturn]] void cannot_go_on(const AuditRequest& request, const std::string& reason) {
  process::end_tree(0, 0);
  fail(ErrorKind::failure, "the worker {} cannot be audited: {}. `assay worker check {}` may say more.",
       request.worker.name, reason, request.worker.name);
}

using Round = std::vector<AuditCheck>;

std::int64_t alarms_of(const std::vector<Round>& rounds, std::size_t check) {
  return std::count_if(rounds.begin(), rounds.end(),
                       [&](const Round& round) { return round[check].judgement == Judgement::alarm; });
}

/// Whether there is a check on which no two rounds agree yet.
bool is_open(const std::vector<Round>& rounds) {
  const auto done = static_cast<std::int64_t>(rounds.size());
  for (std::size_t i = 0; i < rounds.front().size(); ++i) {
    const std::int64_t alarms = alarms_of(rounds, i);
    if (alarms < kAgreeing && done - alarms < kAgreeing) return true;
  }
  return false;
}

/// Each check as it was in the last round that agrees with the answer.
std::vector<AuditCheck> conclude(const std::vector<Round>& rounds) {
  std::vector<AuditCheck> checks = rounds.back();
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const std::int64_t alarms = alarms_of(rounds, i);
    for (const auto& round : rounds) {
      if ((round[i].judgement == Judgement::alarm) == (alarms >= kAgreeing)) checks[i] = round[i];
    }
    checks[i].alarms = alarms;
  }
  return checks;
}

}  // namespace

AuditResult audit(const AuditRequest& request) {
  check_auditable(request.worker);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    request.started("how fast it is");
    const Observer observer(request);
    std::vector<Round> rounds;
    do {
      const auto seed = request.seed + kSeedsOfRound * static_cast<std::int64_t>(rounds.size());
      rounds.push_back(judge(observer.observe(seed)));
    } while (is_open(rounds));
    return {request.worker.name, request.worker.release, static_cast<std::int64_t>(rounds.size()), conclude(rounds)};
  } catch (const measure::WorkerFailure& failure) {
    cannot_go_on(request, fmt::format("{}: {}", name_of(failure.outcome.kind), failure.outcome.message));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    cannot_go_on(request, error.what());
  }
}

}  // namespace assay::vet
