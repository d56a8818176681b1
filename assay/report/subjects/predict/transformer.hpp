#pragma once

#include <string>

#include "assay/predict/transformer/transformer_scaling.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// A transformer that is split over devices: every number of devices, where the time of the last one's step goes, what
/// limits it and what would help.
std::string transformer_report(const predict::TransformerPrediction& said, const Look& look);

}  // namespace assay::report
