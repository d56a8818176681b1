#pragma once

#include <string>

#include "assay/core/text/json.hpp"

namespace assay::store {

/// Whether a person named a file (NAME.json, or with a folder), and no artifact of a store.
bool names_a_file(const std::string& named);

/// What a person asked for by name, for messages.
struct WantedArtifact {
  const char* kind;    ///< such as "model"
  const char* flag;    ///< that named it
  const char* advice;  ///< what to do where the store has none of that kind
};

/// The content of the newest artifact of that kind and name. Throws Error{usage} that names those there are.
json named_artifact(const std::string& store, const std::string& name, const WantedArtifact& wanted);

}  // namespace assay::store
