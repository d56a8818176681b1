#pragma once

#include <string>
#include <vector>

#include "assay/core/workload.hpp"
#include "assay/plan/catalog/catalog.hpp"

namespace assay::plan {

/// One cell of the matrix of workers and workloads: what worker.json promises, and a test runs.
struct Ability {
  std::string workload;  ///< a network, a primitive, a kind of files as "*.py", or "-- PROGRAM"
  std::vector<Mode> modes;
  bool ranks = false;  ///< several of the worker can work together on it
};

template <typename V>
void describe(V& v, Ability& a) {
  required(v, "workload", a.workload);
  required(v, "modes", a.modes);
  required(v, "ranks", a.ranks);
}

/// What a worker can run: every network of Assay's whose operators it has, what it knows by name, and files. In the
/// order of all_workloads(), without what it cannot.
std::vector<Ability> abilities_of(const WorkerInfo& worker);

/// The rows of the matrix: Assay's networks, primitives, other names that a worker knows, kinds of files, programs.
std::vector<std::string> all_workloads(const std::vector<WorkerInfo>& workers);

}  // namespace assay::plan
