#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/core/trial.hpp"

namespace assay::plan {

/// What a worker's folder says of it in worker.json, read without starting anything.
struct WorkerInfo {
  std::string name;
  std::string release;
  std::int64_t protocol = 1;
  std::string description;
  std::vector<std::string> argv;      ///< "{folder}" stands for the worker's folder
  std::vector<std::string> networks;  ///< "*" is every network
  std::vector<std::string> modes;
  std::vector<std::string> precisions;
  std::vector<std::string> devices;
  std::vector<std::string> details;          ///< of step, phases, layers
  std::vector<std::string> settings;         ///< settings it applies
  std::map<std::string, std::string> inert;  ///< settings that do nothing there, each with the reason
  std::filesystem::path folder;              ///< where worker.json lies; not part of the file
};

template <typename V>
void describe(V& v, WorkerInfo& w) {
  required(v, "name", w.name);
  required(v, "release", w.release);
  required(v, "protocol", w.protocol);
  v("description", w.description);
  required(v, "argv", w.argv);
  required(v, "networks", w.networks);
  v("modes", w.modes);
  v("precisions", w.precisions);
  v("devices", w.devices);
  v("details", w.details);
  v("settings", w.settings);
  v("inert", w.inert);
}

/// The workers at hand: every folder below `roots` that has a worker.json.
class Catalog {
 public:
  /// Reads all; a folder listed earlier wins over a later one of the same name and release. A broken worker.json is
  /// kept in problems(), because one bad worker must not hide the others.
  static Catalog read(const std::vector<std::filesystem::path>& roots);

  const std::vector<WorkerInfo>& workers() const { return workers_; }
  const std::vector<std::string>& problems() const { return problems_; }

  /// "fake" or "fake==1.0.0"; without a release the newest at hand. Throws Error{usage} that lists what there is.
  const WorkerInfo& find(const std::string& reference) const;

  /// The worker of a planned trial, or null where it is not at hand.
  const WorkerInfo* find(const Worker& worker) const;

 private:
  std::vector<WorkerInfo> workers_;
  std::vector<std::string> problems_;
};

/// The worker's argv with "{folder}" replaced; argv[0] is absolute or looked up on PATH by the kernel's rules.
std::vector<std::string> worker_argv(const WorkerInfo& worker);

/// Throws Error{usage} where the worker cannot do the trial: network, mode, precision, device, or a setting it neither
/// applies nor declares inert. The message names the value and what the worker has.
void check_supported(const WorkerInfo& worker, const Trial& trial);

}  // namespace assay::plan
