#pragma once

#include "assay/predict/transformer/transformer_scaling.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// A transformer that is split over devices: every number of devices, where the time of the last one's step goes, what
/// limits it and what would help.
Document transformer_document(const predict::TransformerPrediction& said);

}  // namespace assay::report
