#pragma once

#include <string>
#include <utility>

#include "assay/core/error.hpp"

namespace assay {

/// Runs `body`; an Error leaves with "name: " in front of its message, so that a person knows which file is meant.
template <typename Body>
decltype(auto) naming(const std::string& name, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& error) {
    throw Error(error.kind(), name + ": " + error.what());
  }
}

}  // namespace assay
