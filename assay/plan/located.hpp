#pragma once

#include <string>

#include "assay/core/error.hpp"

namespace assay::plan {

/// An Error whose message already begins with the place in the user's file.
class LocatedError : public Error {
 public:
  LocatedError(const std::string& place, const std::string& message)
      : Error(ErrorKind::usage, place + ": " + message) {}
};

/// Runs `body`; an Error leaves with "place: " in front of its message, unless a place nearer to its cause is there.
template <typename Body>
decltype(auto) located(const std::string& place, Body&& body) {
  try {
    return body();
  } catch (const LocatedError&) {
    throw;
  } catch (const Error& error) {
    if (place.empty()) throw;
    throw LocatedError(place, error.what());
  }
}

}  // namespace assay::plan
