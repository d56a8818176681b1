#pragma once

#include <string>

#include "assay/model/prediction.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// A model for a person: its law as a formula, its constants with intervals and a sentence each, how every family did,
/// and how far it can be trusted.
Document model_document(const model::Model& model);

/// How a model does on measurements that it has not seen.
std::string score_sentence(const model::Model& model, const model::Score& score);

/// What a model says of one point.
std::string prediction_sentence(const model::Prediction& prediction);

}  // namespace assay::report
