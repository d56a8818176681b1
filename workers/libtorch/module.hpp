#pragma once

#include "workers/common/worker.hpp"

namespace assay::libtorch {

/// The module that the program loads, and the function in it that makes the framework; the caller owns what it returns.
constexpr const char* kModule = "assay-libtorch.so";
constexpr const char* kMakeFramework = "assay_make_libtorch";
using MakeFramework = worker::Framework*();

}  // namespace assay::libtorch
