#pragma once

#include <string>

#include "assay/core/text/json.hpp"

namespace assay::cli {

/// The value of an enumeration that a person named after `flag`. Throws Error{usage} that lists those there are.
template <typename Enum>
Enum choice_of(const std::string& text, const std::string& flag) {
  const auto& names = EnumNames<Enum>::names;
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text == names[i]) return static_cast<Enum>(i);
    all += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  fail(ErrorKind::usage, "{}: {} is not known. There are {}.", flag, shown(text), all);
}

}  // namespace assay::cli
