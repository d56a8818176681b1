#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/network/cost.hpp"
#include "assay/network/graph.hpp"

namespace assay::network {

/// A matrix product or convolution of an ONNX file.
struct OnnxOperator {
  std::string node;
  std::string op;               ///< as ONNX calls it
  Shape shape;                  ///< of its output, with the batch in front; empty where it is not known
  std::optional<double> flops;  ///< forward, of one sample
};

/// What an ONNX file says of its network, without being run. A file that leaves the batch open is read with a batch
/// of 1.
struct OnnxSummary {
  std::string name;             ///< of the graph in the file
  std::int64_t parameters = 0;  ///< real numbers stored, but for running statistics and single numbers
  std::optional<double> flops;  ///< forward, of one sample; nothing where a heavy operator's are not known
  Width width;                  ///< attention written out is two matrix products, as in cost.hpp
  std::vector<OnnxOperator> heavy;
  std::optional<Graph> graph;  ///< the same network as a graph of Assay's, where every node has a counterpart
  std::string why_no_graph;    ///< else: the first node that has none
};

/// From a file's bytes. Throws Error{bad_input} where they are no ONNX model or it makes no sense.
OnnxSummary summarize_onnx(std::string_view bytes);

/// The same of a file; weights in it are not read. Throws Error{usage} where it cannot be opened.
OnnxSummary read_onnx(const std::filesystem::path& path);

}  // namespace assay::network
