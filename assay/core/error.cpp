#include "assay/core/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "assay/core/text/utf8.hpp"

namespace assay {

std::string shown(const std::string& text, std::size_t limit) {
  return "'" + printable(text, limit) + "'";
}

std::string shown_path(const std::string& path) {
  constexpr std::size_t kLongestPath = 4096;  // bytes of a path that Linux opens
  return shown(path, kLongestPath);
}

void file_failed(int error, const char* what, const std::string& path) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const std::string advice = full ? " Free space, then run the same command again: nothing finished is lost." : "";
  throw FileError(full ? ErrorKind::no_space : ErrorKind::failure,
                  fmt::format("cannot {} {}: {}.{}", what, path, std::strerror(error), advice), error);
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "assay: internal error: %s does not hold at %s:%d. Please report this.\n", condition, file,
               line);
  std::abort();
}

}  // namespace assay
