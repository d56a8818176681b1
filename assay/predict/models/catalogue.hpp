#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/predict/models/model_shape.hpp"

namespace assay::predict {

/// Public models by name, each with the source of its numbers, in order of their names.
const std::vector<ModelShape>& model_catalogue();

/// The model of that name, whatever its case and what is between its parts: "LLAMA3.1_405B" is llama3.1-405b. What is
/// in parentheses is left out. Null where the catalogue lacks it.
std::optional<ModelShape> find_model(std::string_view name);

/// The same. Throws Error{usage} with the names that are closest.
ModelShape model_named(std::string_view name);

/// A plain decoder of so many parameters with about the proportions of Llama 3, for a job whose model has no public
/// configuration. A guess, to be labelled as such.
ModelShape guessed_model(std::string name, double parameters, double active_parameters);

/// The numbers of parameters that a name states, such as 70B or 30B_a3B; null where it states none.
struct StatedSize {
  double parameters = 0;
  double active = 0;  ///< equal to parameters where the name states one number
};
std::optional<StatedSize> stated_size(std::string_view name);

}  // namespace assay::predict
