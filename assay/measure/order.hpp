#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/trial.hpp"
#include "assay/measure/rank/gang.hpp"
#include "assay/plan/network_source.hpp"

namespace assay::measure {

/// One process that assay-rank starts and measures. The n-th of an order writes rank-n.json.
struct Process {
  std::int64_t part = 0;      ///< which run of the lease it belongs to: its number in a lock-step group, else 0
  std::int64_t rank = 0;      ///< within the run
  std::int64_t instance = 0;  ///< within the run
  std::vector<std::int64_t> cpus;
};

template <typename V>
void describe(V& v, Process& p) {
  v("part", p.part);
  v("rank", p.rank);
  v("instance", p.instance);
  v("cpus", p.cpus);
}

/// One run of the lease: what its processes are told.
struct Part {
  Trial trial;
  std::int64_t seed = 0;
  std::vector<std::string> argv;                   ///< of the worker
  std::map<std::string, std::string> environment;  ///< all of it: nothing is inherited
  std::vector<std::string> details;                ///< what the worker can time besides steps, by its own word
  json graph;                                      ///< of the network, as it travels to the worker; null where none
  std::optional<plan::NetworkFile> file;           ///< the user's own network
  std::optional<std::string> values;               ///< file of weights and inputs, where those are given
  std::optional<std::string> cache;                ///< folder for what a worker makes from a graph
  std::optional<std::string> data_folder;          ///< below which data sets lie, where input comes from files
};

template <typename V>
void describe(V& v, Part& p) {
  required(v, "trial", p.trial);
  v("seed", p.seed);
  required(v, "argv", p.argv);
  v("environment", p.environment);
  v("details", p.details);
  v("graph", p.graph);
  v("file", p.file);
  v("values", p.values);
  v("cache", p.cache);
  v("data_folder", p.data_folder);
}

/// What a run directory holds as run.json: everything assay-rank needs to know.
struct Order {
  std::int64_t order_version = 1;
  Measure measure;
  std::string powercap;  ///< folder of the machine's counters of energy
  bool lockstep = false;
  std::vector<Part> parts;
  std::vector<Process> processes;
  std::optional<Meeting> meeting;  ///< where the processes are ranks that work together
};

template <typename V>
void describe(V& v, Order& o) {
  required(v, "order_version", o.order_version);
  v("measure", o.measure);
  v("powercap", o.powercap);
  v("lockstep", o.lockstep);
  required(v, "parts", o.parts);
  required(v, "processes", o.processes);
  v("meeting", o.meeting);
}

}  // namespace assay::measure
