#pragma once

#include "assay/model/model.hpp"

namespace assay::model {

/// Puts a sentence to each constant of a model, and notes on which term takes most of the time at the smallest and the
/// largest point.
void explain(Model& model, const Table& points);

}  // namespace assay::model
