#pragma once

#include <string>

#include "assay/core/text/json.hpp"

namespace assay::predict {

/// Of a file that others wrote: empty where an object has no such member, or it is no text.
inline std::string member_text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace assay::predict
