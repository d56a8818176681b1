#pragma once

#include <string>
#include <string_view>

#include "assay/predict/layers.hpp"

namespace assay::predict {

/// A layer table from the profile of ONNX Runtime (`enable_profiling`): an array of events in Chrome's format.
///
/// A layer is a node that was run; of several runs (model_run) the one of median length is taken. Times are forward
/// times: such a profile is of inference, and there are no gradients in it.
///
/// Throws Error{bad_input} for what is no such profile, or larger than 1 GiB, and where no node ran.
LayerTable import_onnxruntime(std::string_view text, const std::string& name, std::int64_t batch);

}  // namespace assay::predict
