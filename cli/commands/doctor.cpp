#include <filesystem>
#include <memory>
#include <set>

#include "assay/core/text/units.hpp"
#include "assay/load/load.hpp"
#include "assay/measure/agent/host_lock.hpp"
#include "assay/measure/environment.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/machine/findings/health.hpp"
#include "assay/report/subjects/doctor.hpp"
#include "cli/command.hpp"
#include "cli/commands/calibrate.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kWatchSeconds = 0.6;

constexpr double kFirstLoadRate = 500;
constexpr double kMostLoadRate = 64'000;
constexpr double kLoadSeconds = 1;

struct DoctorOptions {
  bool findings = false;
  bool load_rate = false;
  WorkFlags work;
  CalibrateFlags calibrate;
  AnswerFlags answer;
};

/// Cores of which this process may use some threads and not others.
std::int64_t cores_shared(const platform::Topology& allowed) {
  std::set<std::int64_t> ours;
  for (const auto& cpu : allowed.cpus) ours.insert(cpu.number);
  std::set<std::int64_t> cores_of_ours;
  std::set<std::int64_t> cores_of_others;
  for (const auto& cpu : platform::read_topology().cpus) {
    (ours.count(cpu.number) > 0 ? cores_of_ours : cores_of_others).insert(cpu.core);
  }
  return std::count_if(cores_of_ours.begin(), cores_of_ours.end(),
                       [&](std::int64_t core) { return cores_of_others.count(core) > 0; });
}

void look_at_disk(const std::string& store, platform::Situation& s) {
  const auto where = store::locate(store);
  if (!where.is_file) return;  // its disk is another machine's
  std::error_code error;
  const fs::path folder = fs::absolute(where.place, error).parent_path();
  s.store_folder = folder.string();
  const auto space = fs::space(folder, error);
  if (!error) s.disk_free_bytes = static_cast<std::int64_t>(space.available);
}

platform::Situation gather(const DoctorOptions& o, const platform::Machine& machine) {
  platform::Situation s;
  const auto cpus = platform::allowed_cpus();
  s.host_lock_held = measure::HostLock(o.work.host_lock).is_held();  // before the probe runs
  s.watch = platform::watch(cpus, kWatchSeconds);
  s.identity = machine.identity;
  s.about = machine.about;
  s.state = platform::read_state(cpus);
  s.cores_shared = cores_shared(machine.topology);
  s.memory_limit_bytes = platform::read_cgroup_limits().memory_bytes;
  look_at_disk(o.work.store, s);
  for (const auto allocator : {Allocator::tcmalloc, Allocator::jemalloc}) {
    if (!measure::find_allocator(allocator)) s.missing_allocators.emplace_back(name_of(allocator));
  }
  const auto catalog = catalog_at_hand();
  for (const auto& worker : catalog.workers()) {
    if (worker.installed()) {
      s.workers.push_back({worker.name, worker.release});
    } else {
      s.workers_to_install.push_back(worker.name);
    }
  }
  s.worker_problems = catalog.problems();
  return s;
}

/// Plain requests to the built-in server, which shares the CPUs with the client. The rate is doubled until the client
/// is late, or requests are left over.
platform::Finding load_rate() {
  load::LoadQuestion question;
  question.target = load::parse_target("http://127.0.0.1/");
  question.arrivals.duration_seconds = kLoadSeconds;
  std::optional<load::LoadPoint> held;
  std::string beyond = "no higher rate was tried";
  for (double rate = kFirstLoadRate; rate <= kMostLoadRate; rate *= 2) {
    question.arrivals.rate_per_second = rate;
    const auto point = load::certify_client(question);
    const auto answered = point.outcomes.find(load::RequestOutcome::ok);
    const bool all = answered != point.outcomes.end() && answered->second == point.requests;
    if (!all || is_client_starved(point.client)) {
      beyond = fmt::format("at {}, {}", format_rate(rate),
                           all ? "more than 1 % were sent over 1 ms late" : "some were not answered");
      break;
    }
    held = point;
  }
  const std::string seen =
      held ? fmt::format("`assay load` holds {} of small requests to a server on this machine, {} of CPU each",
                         format_rate(held->arrivals.rate_per_second), format_duration(held->client.cpu_per_request_ns))
           : fmt::format("`assay load` cannot send {} on time from here", format_rate(kFirstLoadRate));
  return platform::found(platform::FindingCase::load_rate, platform::Severity::note, seen + "; " + beyond);
}

platform::Examination examination(const DoctorOptions& o) {
  const auto machine = platform::this_machine();
  const auto situation = gather(o, machine);
  platform::Examination e;
  e.platform = machine.id;
  e.identity = situation.identity;
  e.about = situation.about;
  e.state = situation.state;
  e.workers = situation.workers;
  e.counters = platform::counters_in_files();
  e.counters.push_back(platform::perf_counter());
  e.findings = platform::examine(situation);
  if (o.load_rate) e.findings.push_back(load_rate());
  return e;
}

void add_doctor(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<DoctorOptions>();
  add_store_option(command, o->work.store);
  command.add_option("--host-lock", o->work.host_lock, "Use this lock file in place of the host's common one");
  add_answer_flags(command, o->answer);
  command.add_flag("--quiet", o->work.quiet, "With --calibrate: print no progress on stderr");
  command.add_flag("--load-rate", o->load_rate,
                   "Say also what rate of requests `assay load` can send from here, in 10 s");
  command.add_flag("--findings", o->findings, "Explain all that can be found, and each counter; examine nothing");
  add_calibrate_flags(command, o->calibrate);
  command.footer("Takes about a second. The exit code is 0 with warnings too.");
  command.callback([o, &invocation] {
    if (o->calibrate.wanted && o->load_rate) {
      fail(ErrorKind::usage, "--load-rate: --calibrate examines nothing else. Leave out one of them.");
    }
    invocation.exit_code = 0;
    if (o->findings) {
      if (o->calibrate.wanted || o->load_rate) {
        fail(ErrorKind::usage, "--findings: examines nothing. Leave out --calibrate and --load-rate.");
      }
      const auto reference = platform::finding_reference();
      return answer(o->answer, report::findings_document(reference), [&] { return to_json(reference); });
    }
    if (o->calibrate.wanted) {
      invocation.exit_code = calibrate(o->calibrate, o->work, o->answer);
      return;
    }
    const auto e = examination(*o);
    answer(o->answer, report::doctor_document(e), [&] { return to_json(e); });
  });
}

}  // namespace

const Command commands::doctor{"doctor", "Check what can be measured here, what will spoil it, and how to fix that",
                               add_doctor};

}  // namespace assay::cli
