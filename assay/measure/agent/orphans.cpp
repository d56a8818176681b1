#include "assay/measure/agent/orphans.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"
#include "assay/measure/environment.hpp"
#include "assay/platform/inherited_number.hpp"

namespace assay::measure {
namespace {

using Processes = std::vector<platform::MarkedProcess>;

constexpr std::int64_t kEndNs = 2'000'000'000;

/// Whoever looks after a run: an agent under any name of the program, or what starts ranks on another host for it.
bool looks_after_runs(const std::string& name) {
  static constexpr std::array<const char*, 5> kLaunchers{"mpirun", "orted", "prted", "srun", "slurmstepd"};
  if (std::find(kLaunchers.begin(), kLaunchers.end(), name) != kLaunchers.end()) return true;
  return name.starts_with("assay") && !name.starts_with("assay-rank") && !name.starts_with("assay-worker");
}

bool is_left_alone(const platform::MarkedProcess& process) {
  const auto above = platform::names_above(process.pid);
  return !above.empty() && std::none_of(above.begin(), above.end(), looks_after_runs);
}

bool contains(const Processes& processes, pid_t pid) {
  return std::any_of(processes.begin(), processes.end(), [&](const auto& one) { return one.pid == pid; });
}

/// Adds those whose number fits and which are not there yet; `value` is what is known of their mark.
void add_numbered(Processes& found, const std::string& value, const std::function<bool(std::int64_t)>& fits) {
  for (auto& one : platform::numbered_processes()) {
    if (fits(one.number) && !contains(found, one.pid)) found.push_back({one.pid, std::move(one.name), value});
  }
}

Processes of_run(const std::string& mark) {
  auto found = platform::processes_with_variable(kRunVariable, mark);
  std::erase_if(found, [&](const auto& one) { return one.value != mark; });
  add_numbered(found, mark, [number = number_of_run(mark)](std::int64_t other) { return other == number; });
  return found;
}

Processes of_store(const std::string& mark) {
  auto found = platform::processes_with_variable(kRunVariable, mark);
  add_numbered(found, mark, [&](std::int64_t number) { return is_of_store(number, mark); });
  std::erase_if(found, [](const auto& one) { return !is_left_alone(one); });
  return found;
}

/// Kills until none is left: between a look and a kill a process may have started another.
Processes end_all(const std::function<Processes()>& look) {
  Processes ended;
  const std::int64_t deadline = monotonic_ns() + kEndNs;
  while (monotonic_ns() < deadline) {
    bool killed = false;
    for (auto& one : look()) {
      if (kill(one.pid, SIGKILL) != 0) continue;  // it has ended, or is not ours to end
      killed = true;
      if (!contains(ended, one.pid)) ended.push_back(std::move(one));
    }
    if (!killed) break;
    sleep_until_ns(monotonic_ns() + 2'000'000);
  }
  return ended;
}

}  // namespace

Processes end_orphans(const std::string& mark) {
  return end_all([&] { return of_store(mark); });
}

Processes end_run(const std::string& mark) {
  return end_all([&] { return of_run(mark); });
}

std::string orphan_message(const platform::MarkedProcess& orphan) {
  const auto run = orphan.value.substr(orphan.value.rfind('-') + 1);
  return fmt::format("ended process {} ({}), which an agent that is gone had left of {}", orphan.pid, orphan.name,
                     run.empty() ? "an earlier run" : "run " + run);
}

}  // namespace assay::measure
