#pragma once

#include "assay/predict/training/training.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// Stages, time, price and goodput of whole trainings with their ranges and what they rest on; clusters beside each
/// other.
Document training_document(const predict::TrainingPlans& said);

}  // namespace assay::report
