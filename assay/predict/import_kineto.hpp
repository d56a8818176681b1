#pragma once

#include <string>
#include <string_view>

#include "assay/predict/layers.hpp"

namespace assay::predict {

/// A layer table from what PyTorch's profiler wrote (`export_chrome_trace`, with record_shapes=True) of training steps.
///
/// A layer is an operator that no other operator called. Its backward time is that of the autograd nodes that it made,
/// which the profiler joins by their sequence number; its gradients are those that autograd accumulated right after
/// them. Where kernels ran on a device, their times count in place of the operators'. Of several steps
/// (ProfilerStep) the one of median length is taken. Loading and update are what DataLoader and Optimizer annotate.
///
/// Throws Error{bad_input} for what is no such trace, or larger than 1 GiB, and where it has no backward pass or no
/// shapes.
LayerTable import_kineto(std::string_view text, const std::string& name, std::int64_t batch);

}  // namespace assay::predict
