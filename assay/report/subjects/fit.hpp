#pragma once

#include <string>

#include "assay/model/prediction.hpp"
#include "assay/report/look.hpp"

namespace assay::report {

/// A model for a person: its law as a formula, its constants with intervals and a sentence each, how every family did,
/// and how far it can be trusted.
std::string model_report(const model::Model& model, const Look& look);

/// How a model does on measurements that it has not seen.
std::string score_report(const model::Model& model, const model::Score& score);

/// What a model says of one point.
std::string prediction_report(const model::Prediction& prediction);

}  // namespace assay::report
