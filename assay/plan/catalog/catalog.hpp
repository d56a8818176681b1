#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/trial.hpp"
#include "assay/plan/catalog/environment.hpp"

namespace assay::plan {

/// The version of workers/PROTOCOL.md that this Assay speaks. A worker of another one is a problem of the catalog.
constexpr std::int64_t kWorkerProtocol = 1;

/// How a program of a framework is told a setting, from outside where the framework reads a variable, else by a line of
/// its code. "{value}" stands for the value.
struct Launch {
  std::map<std::string, std::string> env;  ///< variables; {value} stands for the value
  std::string code;  ///< a line of Python, for where there is no variable; empty where none is needed
  /// Module of Python that has a hook in libexec/inject, which applies the setting when the module is imported.
  std::string inject;
};

template <typename V>
void describe(V& v, Launch& l) {
  v("env", l.env);
  v("code", l.code);
  v("inject", l.inject);
}

/// What a worker's folder says of it in worker.json, read without starting anything.
struct WorkerInfo {
  std::string name;           ///< also the name of its folder
  std::string release;        ///< part of a trial's identity
  std::int64_t protocol = 1;  ///< version of workers/PROTOCOL.md it speaks
  std::string description;
  /// How it is started; {folder} stands for the folder of this file, {environment} for that of its virtual
  /// environment.
  std::vector<std::string> argv;
  std::vector<std::string> networks;  ///< networks and primitives it knows by name; "*" is every one
  /// Operators of Assay's graphs it can build: it runs every network of Assay's that needs no others.
  std::vector<std::string> operators;
  /// Kinds of files that hold a user's network: "py" takes "file.py:function", "onnx" takes "file.onnx", "pt"
  /// (TorchScript) takes "file.pt", "gguf" takes "file.gguf".
  std::vector<std::string> files;
  std::vector<std::string> modes;       ///< here and in the next two, "*" or an empty list is every one
  std::vector<std::string> precisions;  ///< "*" is every precision
  std::vector<std::string> devices;     ///< "*" is every kind of device
  std::vector<std::string> data;        ///< where input comes from: memory, files; an empty list is memory alone
  std::vector<std::string> details;     ///< of step, phases, layers
  bool ranks = false;                   ///< several of them can work together, one for each rank; false where left out
  /// Whether it writes what its last timed step computed where measure asks for it; false where left out.
  bool step_output = false;
  /// Those it applies; those that assay-rank applies for every worker (instances, affinity, memory_bind, allocator,
  /// env) need not be listed.
  std::vector<std::string> settings;
  /// Settings that it takes but that do nothing there, each with the reason.
  std::map<std::string, std::string> inert;
  /// Variables that guides recommend and nothing there reads, each with the reason.
  std::map<std::string, std::string> unread;
  /// How a user's own program is told a setting: by its name, or "spin=false" for one value of it.
  std::map<std::string, Launch> launch;
  json check;  ///< a small workload for `assay worker check`; without it the first network with default options
  /// The virtual environment it runs in, made by `assay worker install`; null: it needs none, and is there as soon as
  /// its folder is.
  std::optional<Environment> environment;

  // Not part of the file.
  std::filesystem::path folder;              ///< where worker.json lies
  std::filesystem::path environment_folder;  ///< of this release; empty where it has none or is not installed

  /// False where it asks for an environment that is not there: it cannot be started.
  bool installed() const { return !environment || !environment_folder.empty(); }
};

template <typename V>
void describe(V& v, WorkerInfo& w) {
  required(v, "name", w.name);
  required(v, "release", w.release);
  required(v, "protocol", w.protocol);
  v("description", w.description);
  required(v, "argv", w.argv);
  required(v, "networks", w.networks);
  v("operators", w.operators);
  v("files", w.files);
  v("modes", w.modes);
  v("precisions", w.precisions);
  v("devices", w.devices);
  v("data", w.data);
  v("details", w.details);
  v("ranks", w.ranks);
  v("step_output", w.step_output);
  v("settings", w.settings);
  v("inert", w.inert);
  v("unread", w.unread);
  v("launch", w.launch);
  v("check", w.check);
  v("environment", w.environment);
}

/// Throws Error{usage} where a field is missing or malformed: names and releases are letters, digits and ._+-.
void check(const WorkerInfo& worker);

/// Whether a file of this kind is itself the network, "file.onnx" or "file.pt", instead of having functions that make
/// one.
bool is_whole_network(std::string_view kind);

/// True where release `a` is older than `b`. Runs of digits compare as numbers (1.9 before 1.10); a release that goes
/// on with letters or '-' is a pre-release (1.0rc1 before 1.0), one that goes on with '.' or '+' a later one.
bool older_release(std::string_view a, std::string_view b);

/// The workers at hand: every folder directly below `roots` that has a worker.json. One that asks for an environment is
/// there once for every release installed; where none is, once and not installed.
class Catalog {
 public:
  Catalog() = default;

  /// A catalog of known workers; throws Error{usage} where one of them is malformed.
  explicit Catalog(std::vector<WorkerInfo> workers);

  /// Reads all; a folder listed earlier wins over a later one of the same name and release. A broken worker.json is
  /// kept in problems(), because one bad worker must not hide the others. `environments` is the folder below which
  /// they are installed.
  static Catalog read(const std::vector<std::filesystem::path>& roots, const std::filesystem::path& environments);

  const std::vector<WorkerInfo>& workers() const { return workers_; }
  const std::vector<std::string>& problems() const { return problems_; }

  /// "fake" or "fake==1.0.0"; without a release the newest installed. Throws Error{usage} that lists what there is, or
  /// says how to install it.
  const WorkerInfo& find(const std::string& reference) const;

  /// The worker of a planned trial, or null where it is not installed.
  const WorkerInfo* find(const Worker& worker) const;

  /// What worker.json itself says of a worker that can be installed. Throws Error{usage} where there is no such worker
  /// or it needs no environment.
  const WorkerInfo& installable(const std::string& name) const;

 private:
  void read_root(const std::filesystem::path& root, const std::filesystem::path& environments);
  void add(const std::filesystem::path& file, const std::filesystem::path& environments);
  void add_releases(const WorkerInfo& worker, const std::filesystem::path& environments);
  [[noreturn]] void not_found(const std::string& reference) const;

  std::vector<WorkerInfo> workers_;
  std::vector<WorkerInfo> installable_;  ///< as their worker.json says
  std::vector<std::string> problems_;
};

/// A worker's reference split at "==": its name, and the release or nothing.
struct Reference {
  std::string name;
  std::optional<std::string> release;
};
Reference parse_reference(const std::string& text);

/// Throws Error{usage} where it is no release: it becomes part of a folder's name and of a command line.
void check_release(const std::string& release);

/// The worker's argv with "{folder}" and "{environment}" replaced; argv[0] is absolute or looked up on PATH by the
/// kernel's rules.
std::vector<std::string> worker_argv(const WorkerInfo& worker);

/// Throws Error{usage} where the worker cannot do the trial: network, mode, precision, device, or a setting it neither
/// applies nor declares inert. The message names the value and what the worker has.
/// What Assay itself sets around any worker is always allowed: instances, affinity, memory_bind, allocator, env.
void check_supported(const WorkerInfo& worker, const Trial& trial);

/// Settings of the trials that do nothing with their workers, each once: "inter_op does nothing on jax 0.10.2: …".
std::vector<std::string> inert_settings(const Catalog& catalog, const std::vector<Trial>& trials);

/// Throws Error{usage} where the worker does not take input from there; the message names those of the catalog that do.
void check_data(const Catalog& catalog, const WorkerInfo& worker, const Workload& workload);

/// Throws Error{usage} where `measure` asks for phases or layers that the worker cannot give.
void check_details(const WorkerInfo& worker, const Measure& measure);

}  // namespace assay::plan
