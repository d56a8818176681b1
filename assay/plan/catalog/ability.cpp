#include "assay/plan/catalog/ability.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "assay/core/primitive.hpp"
#include "assay/network/network.hpp"

namespace assay::plan {
namespace {

constexpr const char* kAnyProgram = "-- PROGRAM";

bool holds(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void add_new(std::vector<std::string>& list, const std::string& word) {
  if (!holds(list, word)) list.push_back(word);
}

/// By network. Built once, since each worker is asked for all of them.
const std::map<std::string, std::set<std::string>>& operators_of_networks() {
  static const auto all = [] {
    std::map<std::string, std::set<std::string>> needed;
    for (const auto& about : network::all_networks()) {
      const auto graph = network::build(about.name);
      for (const auto& node : graph.nodes) needed[about.name].insert(name_of(node.op));
    }
    return needed;
  }();
  return all;
}

bool builds(const WorkerInfo& worker, const std::string& network) {
  if (worker.operators.empty() || !network::is_network(network)) return false;
  const auto& needed = operators_of_networks().at(network);
  return std::all_of(needed.begin(), needed.end(), [&](const auto& op) { return holds(worker.operators, op); });
}

bool takes(const WorkerInfo& worker, const std::string& workload) {
  if (worker.name == "command") return workload == kAnyProgram;
  if (workload == kAnyProgram) return false;
  if (workload.starts_with("*.")) return holds(worker.files, workload.substr(2));
  return holds(worker.networks, workload) || holds(worker.networks, "*") || builds(worker, workload);
}

std::vector<Mode> modes_of(const WorkerInfo& worker) {
  std::vector<Mode> modes;
  for (const Mode mode : {Mode::infer, Mode::train, Mode::generate}) {
    if (worker.modes.empty() || holds(worker.modes, "*") || holds(worker.modes, name_of(mode))) modes.push_back(mode);
  }
  return modes;
}

/// A primitive has nothing to train, and ranks only work together on one that exchanges something. A replay is a step
/// of training.
Ability ability_for(const WorkerInfo& worker, const std::string& workload) {
  Ability ability{workload, modes_of(worker), worker.ranks};
  if (workload == "*.replay") std::erase(ability.modes, Mode::infer);
  // A language model generates, alone, and does nothing else; what else there is generates nothing.
  const bool speaks = is_language_model(workload);
  const bool pretends = worker.name == "fake";
  std::erase_if(ability.modes, [&](Mode mode) { return !pretends && (mode == Mode::generate) != speaks; });
  if (speaks && !pretends) ability.ranks = false;
  for (const auto& primitive : all_primitives()) {
    if (primitive.name != workload) continue;
    std::erase(ability.modes, Mode::train);
    ability.ranks = worker.ranks && primitive.exchanges;
  }
  return ability;
}

}  // namespace

std::vector<std::string> all_workloads(const std::vector<WorkerInfo>& workers) {
  std::vector<std::string> all;
  for (const auto& about : network::all_networks()) add_new(all, about.name);
  for (const auto& primitive : all_primitives()) add_new(all, primitive.name);
  for (const auto& worker : workers) {
    for (const auto& name : worker.networks) {
      if (name != "*") add_new(all, name);
    }
  }
  for (const auto& worker : workers) {
    for (const auto& kind : worker.files) add_new(all, "*." + kind);
  }
  add_new(all, kAnyProgram);
  return all;
}

std::vector<Ability> abilities_of(const WorkerInfo& worker) {
  std::vector<Ability> abilities;
  for (const auto& workload : all_workloads({worker})) {
    if (!takes(worker, workload)) continue;
    if (auto ability = ability_for(worker, workload); !ability.modes.empty()) abilities.push_back(std::move(ability));
  }
  return abilities;
}

}  // namespace assay::plan
