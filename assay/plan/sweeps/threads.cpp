#include "assay/plan/sweeps/threads.hpp"

#include <algorithm>

#include "assay/plan/located.hpp"

namespace assay::plan {
namespace {

constexpr const char* kOpenMp = "settings.env.OMP_NUM_THREADS";

bool follows(const WorkerInfo& worker, const std::string& setting) {
  const auto& settings = worker.settings;
  return std::find(settings.begin(), settings.end(), setting) != settings.end() ||
         std::find(settings.begin(), settings.end(), "*") != settings.end();
}

void check_said_once(const TrialSweep& sweep, const std::string& axis) {
  if (sweep.values.count(axis_name(axis)) == 0) return;
  fail(ErrorKind::usage, "--threads sets {}, which is given too. Leave out one of the two.", axis);
}

/// A program reads the number from its arguments or, if it is like most, from OpenMP's variable.
void give_command(TrialSweep& sweep, const std::vector<Written>& threads) {
  if (takes_threads(*sweep.command)) {
    sweep.values[axis_name("settings.intra_op")] = threads;
    return;
  }
  check_said_once(sweep, kOpenMp);
  for (const auto& value : axis_values(axis_name("settings.intra_op"), threads)) {
    if (!value.value) fail(ErrorKind::usage, "--threads: null is not a number of threads. Give 1 or more.");
    sweep.add(kOpenMp, {std::to_string(std::get<std::int64_t>(*value.value)), true, value.written->place});
  }
}

void give_worker(TrialSweep& sweep, const std::vector<Written>& threads, const WorkerInfo& worker) {
  if (!follows(worker, "intra_op")) {
    const auto inert = worker.inert.find("intra_op");
    fail(ErrorKind::usage, "--threads: the worker {} {} follows no number of threads{}. Leave it out.", worker.name,
         worker.release, inert == worker.inert.end() ? "" : ": " + inert->second);
  }
  sweep.values[axis_name("settings.intra_op")] = threads;
  const auto inter_op = axis_name("settings.inter_op");
  if (follows(worker, "inter_op") && sweep.values.count(inter_op) == 0) sweep.values[inter_op] = {{"1", false, ""}};
}

/// The sweep, once for each worker it names.
std::vector<TrialSweep> parted(const TrialSweep& sweep, const Catalog& catalog) {
  check_said_once(sweep, "settings.intra_op");
  auto plain = sweep;
  plain.threads.clear();
  if (plain.command) {
    give_command(plain, sweep.threads);
    return {plain};
  }
  const auto worker_axis = axis_name("worker");
  const auto written = plain.values.find(worker_axis);
  if (written == plain.values.end()) return {plain};  // the sweep is refused for that
  std::vector<TrialSweep> out;
  for (const auto& value : axis_values(worker_axis, written->second)) {
    const auto& worker = catalog.find(std::get<std::string>(*value.value));
    auto& one = out.emplace_back(plain);
    one.values[worker_axis] = {{worker.name + "==" + worker.release, true, value.written->place}};
    give_worker(one, sweep.threads, worker);
  }
  return out;
}

}  // namespace

bool takes_threads(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const auto& word) { return word.find("{threads}") != std::string::npos; });
}

std::vector<TrialSweep> with_threads(const std::vector<TrialSweep>& sweeps, const Catalog& catalog) {
  std::vector<TrialSweep> out;
  for (const auto& sweep : sweeps) {
    if (sweep.threads.empty()) {
      out.push_back(sweep);
      continue;
    }
    located(sweep.place, [&] {
      for (auto& one : parted(sweep, catalog)) out.push_back(std::move(one));
    });
  }
  return out;
}

}  // namespace assay::plan
