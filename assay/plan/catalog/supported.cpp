#include <fmt/format.h>

#include <algorithm>

#include "assay/network/network.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/plan/text.hpp"

namespace assay::plan {
namespace {

constexpr std::array<std::string_view, 5> kSetByAssay{"instances", "affinity", "memory_bind", "allocator", "env"};

constexpr std::size_t kMostListed = 10;  // names in a message: more are a wall

template <typename List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string listed(const std::vector<std::string>& words) {
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::string> names_of_networks(const WorkerInfo& worker) {
  auto names = worker.networks;
  if (!worker.operators.empty()) {
    for (const auto& about : network::all_networks()) names.push_back(about.name);
  }
  for (const auto& kind : worker.files) names.push_back("FILE." + kind + (is_whole_network(kind) ? "" : ":FUNCTION"));
  return names;
}

void check_network(const WorkerInfo& worker, const Workload& workload) {
  // Where it has a graph or a file, planning found that this worker builds it.
  if (workload.graph || holds(worker.networks, workload.network) || holds(worker.networks, "*")) return;
  const auto names = names_of_networks(worker);
  const auto near = nearest(workload.network, names);
  fail(ErrorKind::usage, "network: the worker {} {} has no {}. {}", worker.name, worker.release,
       shown(workload.network),
       near                          ? fmt::format("Did you mean '{}'?", *near)
       : names.size() <= kMostListed ? fmt::format("It has: {}.", listed(names))
                                     : "`assay worker list` shows what it has.");
}

void check_listed(const WorkerInfo& worker, const char* field, const std::string& value,
                  const std::vector<std::string>& list) {
  if (holds(list, value) || holds(list, "*")) return;
  fail(ErrorKind::usage, "{}: the worker {} {} has no {}. It has: {}.", field, worker.name, worker.release,
       shown(value), listed(list));
}

/// A worker that says nothing of a field does not restrict it.
void check_if_said(const WorkerInfo& worker, const char* field, const std::string& value,
                   const std::vector<std::string>& list) {
  if (!list.empty()) check_listed(worker, field, value, list);
}

/// Walks the settings by describe(), so that a setting added to core is checked too.
struct SettingChecker {
  const WorkerInfo& worker;

  template <typename T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (!value || holds(kSetByAssay, name) || worker.inert.count(name) != 0 || holds(worker.settings, "*")) return;
    if (holds(worker.settings, name)) return;
    fail(ErrorKind::usage, "settings.{}: the worker {} {} has no such setting. It has: {}. Leave it out.", name,
         worker.name, worker.release, listed(worker.settings));
  }
  void operator()(const char*, const std::map<std::string, std::string>&) {}  // env: set by Assay
};

/// Gathers the names of settings that are given and declared inert.
struct InertFinder {
  const WorkerInfo& worker;
  std::vector<std::string> found = {};

  template <typename T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value && worker.inert.count(name) != 0) found.emplace_back(name);
  }
  void operator()(const char*, const std::map<std::string, std::string>&) {}
};

/// A network of Assay's or of a user's has no cache of keys and values; a language model does nothing else.
void check_generation(const WorkerInfo& worker, const Workload& workload) {
  const bool generates = workload.mode == Mode::generate;
  if (worker.name == "fake" || generates == is_language_model(workload.network)) return;
  if (generates) {
    fail(ErrorKind::usage, "mode: {} does not generate text. Name a file of weights (.gguf), or one of: {}.",
         shown(workload.network), listed(language_models()));
  }
  fail(ErrorKind::usage, "mode: {} generates text, and does not {}. Say for how many tokens: --prompt-tokens 128.",
       shown(workload.network), name_of(workload.mode));
}

void check_command(const WorkerInfo& worker, const Workload& workload) {
  const bool runs_commands = worker.name == "command";
  if (runs_commands && !workload.command) {
    fail(ErrorKind::usage,
         "command: it is missing, and the worker 'command' runs nothing else. Give the program and its "
         "arguments.");
  }
  if (!runs_commands && workload.command) {
    fail(ErrorKind::usage, "command: only the worker 'command' runs a command, not {}. Leave out one of the two.",
         shown(worker.name));
  }
}

}  // namespace

void check_supported(const WorkerInfo& worker, const Trial& trial) {
  if (trial.placement.ranks > 1 && !worker.ranks) {
    fail(ErrorKind::usage, "placement.ranks: several of the worker {} {} cannot work together. Use instances.",
         worker.name, worker.release);
  }
  if (trial.placement.ranks > 1 && worker.name != "fake" && is_language_model(trial.workload.network)) {
    fail(ErrorKind::usage, "placement.ranks: a language model generates on one rank. Use instances.");
  }
  check_command(worker, trial.workload);
  check_network(worker, trial.workload);
  check_generation(worker, trial.workload);
  check_if_said(worker, "mode", name_of(trial.workload.mode), worker.modes);
  check_if_said(worker, "precision", trial.workload.precision, worker.precisions);
  check_if_said(worker, "placement.device", trial.placement.device, worker.devices);
  SettingChecker checker{worker};
  describe(checker, const_cast<Settings&>(trial.settings));  // the checker only reads
}

std::vector<std::string> inert_settings(const Catalog& catalog, const std::vector<Trial>& trials) {
  std::vector<std::string> out;
  for (const auto& trial : trials) {
    const auto* worker = catalog.find(trial.worker);
    if (worker == nullptr) continue;
    InertFinder finder{*worker};
    describe(finder, const_cast<Settings&>(trial.settings));  // the finder only reads
    for (const auto& name : finder.found) {
      auto text =
          fmt::format("{} does nothing on {} {}: {}", name, worker->name, worker->release, worker->inert.at(name));
      if (!holds(out, text)) out.push_back(std::move(text));
    }
  }
  return out;
}

void check_data(const Catalog& catalog, const WorkerInfo& worker, const Workload& workload) {
  const auto takes = [&](const WorkerInfo& one) {
    return workload.data == "memory" || holds(one.data, workload.data) || holds(one.data, "*");
  };
  if (takes(worker)) return;
  std::vector<std::string> others;
  for (const auto& one : catalog.workers()) {
    if (takes(one) && !holds(others, one.name)) others.push_back(one.name);
  }
  fail(ErrorKind::usage, "data: the worker {} {} takes no input from {}. {}", worker.name, worker.release,
       shown(workload.data),
       others.empty() ? "No worker at hand does: use memory." : fmt::format("These do: {}.", listed(others)));
}

void check_details(const WorkerInfo& worker, const Measure& measure) {
  const auto check_detail = [&](bool wanted, const char* detail) {
    if (!wanted || holds(worker.details, detail) || holds(worker.details, "*")) return;
    fail(ErrorKind::usage, "measure.{}: the worker {} {} cannot measure {}. It has: {}. Set it to false.", detail,
         worker.name, worker.release, detail, worker.details.empty() ? "step" : listed(worker.details));
  };
  check_detail(measure.phases.value_or(false), "phases");
  check_detail(measure.layers, "layers");
}

}  // namespace assay::plan
