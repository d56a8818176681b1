#include "assay/model/model.hpp"

namespace assay {

template json to_json_value<model::Model>(const model::Model&);
template void from_json_value<model::Model>(const json&, const std::string&, model::Model&);

}  // namespace assay

namespace assay::model {
namespace {

void check(const Law& law, const std::vector<Factor>& factors) {
  static_cast<void>(Evaluator(law, factors));  // refuses what it does not know
}

}  // namespace

std::vector<Factor> factors_of(const Model& model) {
  std::vector<Factor> factors;
  for (const auto& range : model.ranges) factors.push_back({range.factor, range.role, range.names});
  return factors;
}

void check(const Model& model) {
  if (model.model_version > kModelVersion) {
    fail(ErrorKind::bad_input, "a model of version {}; this program knows up to {}. Use a newer Assay.",
         model.model_version, kModelVersion);
  }
  const auto factors = factors_of(model);
  check(model.law, factors);
  for (const auto& law : model.uncertainty.draws) check(law, factors);
  for (const auto& law : model.uncertainty.rivals) check(law, factors);
}

}  // namespace assay::model
