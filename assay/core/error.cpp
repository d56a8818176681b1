#include "assay/core/error.hpp"

#include <cstdio>
#include <cstdlib>

#include "assay/core/utf8.hpp"

namespace assay {

std::string shown(const std::string& text, std::size_t limit) {
  return "'" + printable(text, limit) + "'";
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "assay: internal error: %s does not hold at %s:%d. Please report this.\n", condition, file,
               line);
  std::abort();
}

}  // namespace assay
