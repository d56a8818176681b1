#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <openvino/openvino.hpp>

#include "workers/common/worker.hpp"

namespace assay::openvino {

/// What is to be compiled, and what it is run on, in the order of the model's inputs.
struct Network {
  std::shared_ptr<ov::Model> model;
  std::vector<ov::Tensor> inputs;
  std::optional<std::int64_t> parameters;  ///< null where they are not known
};

/// A graph of Assay's, with weights and inputs from a file or drawn. Fails where it has not the parameters that the
/// graph says; refuses what it cannot build.
Network build_graph(const worker::Prepare& prepare);

/// A user's own network in an ONNX file. Refuses by name a file that has changed, and an input with a dimension that is
/// open and not the batch.
Network read_onnx(ov::Core& core, const worker::Prepare& prepare);

}  // namespace assay::openvino
