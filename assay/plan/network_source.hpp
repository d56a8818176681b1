#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "assay/core/workload.hpp"
#include "assay/plan/catalog/catalog.hpp"

namespace assay::plan {

/// A user's own network: a function in a file, or the file itself.
struct NetworkFile {
  std::string path;                     ///< absolute
  std::optional<std::string> function;  ///< null where the file is the network
  std::string hash;                     ///< of the file's bytes alone
};

template <typename V>
void describe(V& v, NetworkFile& f) {
  required(v, "path", f.path);
  v("function", f.function);
  required(v, "hash", f.hash);
}

/// What a worker builds the network of a workload from. Neither: the name is all it needs, as for a primitive.
struct NetworkSource {
  json graph;  ///< as it travels, or null
  std::optional<NetworkFile> file;
  std::string hash;  ///< of either, with what a file imports, or of a program; empty where there is none
};

/// Finds the source of networks, each once. A network of Assay's is a graph for every worker that builds graphs;
/// "folder/file.py:function", or "folder/file.onnx", is a file for every worker that takes such files.
class NetworkSources {
 public:
  /// Throws Error{usage} where the worker cannot build the network, the network refuses an option, or a file is
  /// missing.
  const NetworkSource& find(const WorkerInfo& worker, const Workload& workload);

 private:
  std::map<std::string, NetworkSource> known_;
};

/// Sets workload.graph, and thereby what the trial is.
void bind_network(NetworkSources& sources, const WorkerInfo& worker, Workload& workload);

/// The source for a run that was planned before. Throws Error{failure} where the network or file is another one now.
NetworkSource planned_source(const WorkerInfo& worker, const Workload& workload);

}  // namespace assay::plan
