#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/core/trial.hpp"
#include "workers/common/channel.hpp"

namespace assay::worker {

/// The worker cannot do this workload or setting: becomes an `error` of kind `refused`. Name what it cannot do.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Refused(fmt::format(format, std::forward<Args>(args)...));
}

/// A user's own network.
struct NetworkFile {
  std::string path;  ///< absolute
  std::optional<std::string> function;
  std::string hash;  ///< of its bytes when the run was planned
};

template <typename V>
void describe(V& v, NetworkFile& f) {
  required(v, "path", f.path);
  v("function", f.function);
  required(v, "hash", f.hash);
}

/// What is to be measured: the message `prepare`.
struct Prepare {
  Workload workload;
  json graph;  ///< null where the workload is no network of Assay's
  std::optional<NetworkFile> file;
  std::optional<std::string> values;  ///< file to take weights, inputs and targets from
  Settings settings;
  Placement placement;
  std::int64_t seed = 0;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  std::vector<std::string> peers;  ///< "address:port" of each rank, where there are several
  std::int64_t instance = 0;
  std::int64_t instances = 1;
  std::optional<std::string> cache;  ///< folder for what is costly to make from a graph
};

template <typename V>
void describe(V& v, Prepare& p) {
  required(v, "workload", p.workload);
  v("graph", p.graph);
  v("file", p.file);
  v("values", p.values);
  v("settings", p.settings);
  v("placement", p.placement);
  v("seed", p.seed);
  v("rank", p.rank);
  v("ranks", p.ranks);
  v("peers", p.peers);
  v("instance", p.instance);
  v("instances", p.instances);
  v("cache", p.cache);
}

/// The message `evaluate`.
struct Evaluate {
  std::string output;  ///< file to write when inferring
  std::int64_t updates = 0;
  double learning_rate = 0;
  double momentum = 0;
};

template <typename V>
void describe(V& v, Evaluate& e) {
  required(v, "output", e.output);
  required(v, "updates", e.updates);
  required(v, "learning_rate", e.learning_rate);
  required(v, "momentum", e.momentum);
}

/// The message `evaluated`: both empty when inferring.
struct Evaluated {
  std::vector<double> losses;
  std::map<std::string, double> gradient_norms;
};

/// The message `scored`.
struct Scored {
  std::int64_t correct = 0;    ///< held-out samples that are right
  std::int64_t of = 0;         ///< how many there are
  std::vector<double> losses;  ///< of the steps since the last score; the first that is not finite ends what is sent
};

/// What stands ready: the message `prepared`, and what the loop must know of the framework.
struct Prepared {
  std::map<std::string, std::string> versions;
  std::optional<std::int64_t> parameters;
  json effective = json::object();              ///< settings read back from the framework
  std::vector<std::string> phases;              ///< in which step_with_phases() splits a step; empty: it cannot
  std::vector<std::string> nodes;               ///< which step_with_layers() times; empty: it cannot
  std::map<std::string, std::string> refusals;  ///< detail to the reason why a step cannot be split so
  std::size_t tokens = 0;                       ///< of a step, where text is generated: of all sequences together
  std::optional<std::int64_t> weights_bytes;    ///< of the model, where text is generated
  std::optional<std::int64_t> cache_bytes;      ///< of keys and values
  /// Steps cost no real time: limits count what the steps say they took, and begin_ns, end_ns follow them.
  bool virtual_time = false;
};

/// One step, as the loop hands it to the framework. All lists have their size already: a step fills, never grows them.
struct Step {
  std::int64_t number = 0;                ///< steps done before in this process, whatever their detail
  std::optional<std::int64_t> took_ns;    ///< set it to give a duration of the framework's own instead of the loop's
  std::vector<std::int64_t> phases_ns;    ///< one for each of Prepared::phases
  std::vector<std::int64_t> forward_ns;   ///< one for each of Prepared::nodes
  std::vector<std::int64_t> backward_ns;  ///< the same; left alone when inferring
  std::vector<std::int64_t> tokens_ns;    ///< Prepared::tokens of them: when each was there, from the step's beginning
};

/// What a worker's author writes. Whatever is thrown becomes the message `error` and ends the worker: Refused as
/// `refused`, std::bad_alloc as `out_of_memory`, anything else as `failed`.
///
/// The loop reads CLOCK_MONOTONIC right before and after each step; a step returns when the device is idle. It neither
/// allocates, reads nor writes for the sake of measuring.
class Framework {
 public:
  virtual ~Framework() = default;
  /// Loads the framework and builds the workload. Called once, first.
  virtual Prepared prepare(const Prepare& prepare) = 0;
  /// One plain step.
  virtual void step(Step& step) = 0;
  /// One step that fills `phases_ns`. Called only where there are phases.
  virtual void step_with_phases(Step& step);
  /// One step that fills `forward_ns` and, when training, `backward_ns`. Called only where there are nodes.
  virtual void step_with_layers(Step& step);
  /// Waits for the other ranks. Called only where there are several, before the first step of each `measure`.
  virtual void barrier();
  /// What the network computes on Prepare::values. Inferring: writes Evaluate::output.
  virtual Evaluated evaluate(const Evaluate& evaluate);
  /// Where digits are learnt, after each epoch and outside of what is timed.
  virtual Scored score();
  /// Writes what the last step() computed to a file, in the form of evaluate(), and computes nothing for it.
  virtual void write_output(const std::string& path);
};

/// Serves commands until `exit` or end of file. Returns the exit code of the worker: 0, or 1 after an `error`.
///   int main() { assay::worker::Channel channel; MyFramework framework; return assay::worker::serve(channel,
///   framework); }
int serve(Channel& channel, Framework& framework);

}  // namespace assay::worker
