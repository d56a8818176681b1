#include "assay/core/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace assay {

std::string shown(const std::string& text, std::size_t limit) {
  std::string out = "'";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == limit) {
      out += "…";
      break;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += text[i];
    }
  }
  // A cut inside a UTF-8 sequence is harmless on a terminal; the closing quote follows it.
  return out + "'";
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "assay: internal error: %s does not hold at %s:%d. Please report this.\n", condition, file,
               line);
  std::abort();
}

}  // namespace assay
