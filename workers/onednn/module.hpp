#pragma once

#include "workers/common/worker.hpp"

namespace assay::onednn {

/// The module that the program loads, and the function in it that makes the framework; the caller owns what it returns.
constexpr const char* kModule = "assay-onednn.so";
constexpr const char* kMakeFramework = "assay_make_onednn";
using MakeFramework = worker::Framework*();

}  // namespace assay::onednn
