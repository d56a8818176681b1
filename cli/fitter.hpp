#pragma once

#include "assay/model/request.hpp"

namespace assay::cli {

/// Has `assay-fit` in the libexec folder fit a model. Throws Error with what it said where it fails.
model::Model fit_model(const model::FitRequest& request);

}  // namespace assay::cli
