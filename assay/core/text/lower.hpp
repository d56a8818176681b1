#pragma once

#include <string>

namespace assay {

/// With small letters in place of A to Z; other bytes stay as they are.
inline std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace assay
