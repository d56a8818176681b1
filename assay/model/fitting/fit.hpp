#pragma once

#include <cstddef>
#include <functional>

#include "assay/model/request.hpp"

namespace assay::model {

/// Throws Error{usage} that names what is out of range.
void check(const FitRequest& request);

/// Told of each fit that has ended: how many of how many.
using FitProgress = std::function<void(std::size_t done, std::size_t of)>;

/// Fits every family, chooses the one that says the largest scales best when they are held out, and finds how sure it
/// is. The same request gives the same model, on any number of threads. Throws Error{usage} where no family can be
/// fitted, with each one's reason.
Model fit(const FitRequest& request, const FitProgress& progress);

}  // namespace assay::model
