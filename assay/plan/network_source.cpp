#include "assay/plan/network_source.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "assay/core/text/hash.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/network/network.hpp"
#include "assay/plan/source_files.hpp"

namespace assay::plan {
namespace {

constexpr std::uintmax_t kMostFileBytes = 16u << 20;  // of a file with functions: what is larger is no program

NetworkSource graph_source(const WorkerInfo& worker, const Workload& workload) {
  const auto graph = network::build(workload.network, options_of_network(workload));
  for (const auto& node : graph.nodes) {
    if (std::find(worker.operators.begin(), worker.operators.end(), name_of(node.op)) != worker.operators.end())
      continue;
    fail(ErrorKind::usage, "network: the worker {} {} cannot build {}: it has no operator '{}'.", worker.name,
         worker.release, workload.network, name_of(node.op));
  }
  return {network::to_wire(graph), {}, network::graph_hash(graph)};
}

struct NamedFile {
  std::filesystem::path path;
  std::optional<std::string> function;
};

/// "file.py:function" or "file.onnx", where its kind is one of the worker's.
std::optional<NamedFile> file_named(const WorkerInfo& worker, const std::string& text) {
  const auto colon = text.rfind(':');
  for (const auto& kind : worker.files) {
    const std::string end = "." + kind;
    if (is_whole_network(kind)) {
      if (text.ends_with(end)) return NamedFile{std::filesystem::absolute(text).lexically_normal(), {}};
    } else if (colon != std::string::npos && text.substr(0, colon).ends_with(end)) {
      return NamedFile{std::filesystem::absolute(text.substr(0, colon)).lexically_normal(), text.substr(colon + 1)};
    }
  }
  return {};
}

/// Weights are gigabytes, and are asked for again for each worker and run: read once until the file changes.
std::optional<std::string> hash_of_weights(const std::filesystem::path& path) {
  struct Known {
    std::uintmax_t size = 0;
    std::filesystem::file_time_type written;
    std::string hash;
  };
  static thread_local std::map<std::string, Known> known;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto written = error ? std::filesystem::file_time_type() : std::filesystem::last_write_time(path, error);
  if (error) return std::nullopt;
  const auto it = known.find(path.string());
  if (it != known.end() && it->second.size == size && it->second.written == written) return it->second.hash;
  auto hash = hash_hex_of_file(path);
  if (hash) known[path.string()] = {size, written, *hash};
  return hash;
}

NetworkSource file_source(const NamedFile& file) {
  const auto path = file.path.string();
  std::error_code error;
  const auto size = std::filesystem::file_size(file.path, error);
  const bool weights = file.path.extension() == ".gguf";
  const auto hash = error ? std::nullopt : weights ? hash_of_weights(file.path) : hash_hex_of_file(file.path);
  if (!hash) {
    fail(ErrorKind::usage, "network: {} cannot be read. Write the path of a file{}.", shown_path(path),
         file.function ? " and a function in it, file:function" : "");
  }
  if (file.function && size > kMostFileBytes)
    fail(ErrorKind::usage, "network: {} has more than 16 MiB", shown_path(path));
  if (file.function == "") fail(ErrorKind::usage, "network: {} names no function after the colon.", shown(path + ":"));
  // With the modules it imports, which are as much of what is measured as the file is.
  const auto whole = file.function && file.path.extension() == ".py" ? hash_of_python(file.path) : hash;
  return {nullptr, NetworkFile{path, file.function, *hash}, whole.value_or(*hash)};
}

NetworkSource find_source(const WorkerInfo& worker, const Workload& workload) {
  if (workload.command) return {nullptr, {}, hash_of_command(*workload.command).value_or("")};
  // A worker that lists a name means a network of its own by it.
  const auto& own = worker.networks;
  if (std::find(own.begin(), own.end(), workload.network) != own.end()) return {};
  if (!worker.operators.empty() && network::is_network(workload.network)) return graph_source(worker, workload);
  if (const auto file = file_named(worker, workload.network)) return file_source(*file);
  return {};
}

}  // namespace

const NetworkSource& NetworkSources::find(const WorkerInfo& worker, const Workload& workload) {
  std::string key = worker.name + '\n' + worker.release + '\n' + workload.network;
  for (const auto& word : workload.command.value_or(std::vector<std::string>{})) key += '\n' + word;
  for (const auto& [name, value] : workload.options) key += '\n' + name + '=' + mapping::scalar_to_json(value).dump();
  const auto it = known_.find(key);
  return it != known_.end() ? it->second : known_.emplace(key, find_source(worker, workload)).first->second;
}

void bind_network(NetworkSources& sources, const WorkerInfo& worker, Workload& workload) {
  const auto& source = sources.find(worker, workload);
  if (!source.hash.empty()) workload.graph = source.hash;
}

NetworkSource planned_source(const WorkerInfo& worker, const Workload& workload) {
  auto source = find_source(worker, workload);
  if (source.hash == workload.graph.value_or("")) return source;
  if (workload.command && !workload.graph)
    return source;  // planned where the program was not known, or before it counted
  if (workload.command) {
    fail(ErrorKind::failure,
         "{} is another program here than the one this campaign was planned with. Give the command again: it plans "
         "again.",
         shown(workload.command->front()));
  }
  if (source.file) {
    fail(ErrorKind::failure, "{} has changed since this campaign was planned. Give the command again: it plans again.",
         shown(source.file->path));
  }
  fail(
      ErrorKind::failure,
      "{} is another network in this release of Assay than the one this campaign was planned with (graph {} instead of "
      "{}). Use --again, or the earlier release.",
      workload.network, source.hash, workload.graph.value_or("none"));
}

}  // namespace assay::plan
