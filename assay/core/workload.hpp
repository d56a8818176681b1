#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/core/workloads/generation.hpp"
#include "assay/core/workloads/server_load.hpp"

namespace assay {

enum class Mode { infer, train, generate };

template <>
struct EnumNames<Mode> {
  static constexpr std::array<const char*, 3> names{"infer", "train", "generate"};
};

/// *What* is computed. Two equal workloads are the same computation on every worker.
struct Workload {
  std::string network;               ///< a network or primitive by name, or a user's file
  std::optional<std::string> graph;  ///< hash of the graph, or of the user's file or program; null where there is none
  Mode mode = Mode::infer;
  std::int64_t batch = 1;  ///< samples per step and process
  std::string precision = "fp32";
  std::map<std::string, Scalar> options;   ///< what the network leaves open: width, depth, sequence, …
  std::string data = "memory";             ///< where input comes from: memory, or files of a generated data set
  std::optional<std::int64_t> data_count;  ///< samples in the data set
  std::optional<std::int64_t> data_side;   ///< pixels along each side of its images
  /// Files that the data set is cut into; null: one for each image, or one for all tokens.
  std::optional<std::int64_t> data_chunks;
  std::optional<Generation> generate;  ///< where the mode is generate, and only there
  std::optional<std::vector<std::string>>
      command;                     ///< argv with {batch}-like placeholders, for the command worker only
  std::optional<ServerLoad> load;  ///< requests to a server; null for all that a worker computes
};

template <typename V>
void describe(V& v, Workload& w) {
  required(v, "network", w.network);
  v("graph", w.graph);
  v("mode", w.mode);
  v("batch", w.batch);
  v("precision", w.precision);
  v("options", w.options);
  v("data", w.data);
  v("data_count", w.data_count);
  v("data_side", w.data_side);
  v("data_chunks", w.data_chunks);
  v("generate", w.generate);
  v("command", w.command);
  v("load", w.load);
}

/// Throws Error{usage} naming the field where a value is outside its range.
void check(const Workload& workload);

/// "toy train b8", with options and a precision other than fp32 after it: one line for a person.
std::string title(const Workload& workload);

// Instantiated once, in the source: the mapping is what costs most to compile.
extern template json to_json_value<Workload>(const Workload&);
extern template void from_json_value<Workload>(const json&, const std::string&, Workload&);

}  // namespace assay
