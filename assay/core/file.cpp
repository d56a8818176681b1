#include "assay/core/file.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "assay/core/error.hpp"

namespace assay {

std::string read_file(const std::filesystem::path& path, std::size_t limit, const char* what) {
  constexpr std::size_t kAtFirst = 64u << 10;
  std::ifstream file(path, std::ios::binary);
  if (!file) file_failed(errno, what, path.string());
  std::string text;
  // Room grows with what is read: the limit may be a gigabyte, and the file of no known size.
  for (std::size_t room = kAtFirst; text.size() <= limit; room *= 2) {
    const auto before = text.size();
    const auto wanted = std::min(room, limit + 1 - before);
    text.resize(before + wanted);
    // A folder opens and fails to be read.
    if (file.read(text.data() + before, static_cast<std::streamsize>(wanted)).bad()) {
      file_failed(errno, what, path.string());
    }
    text.resize(before + static_cast<std::size_t>(file.gcount()));
    if (!file) break;
  }
  return text;
}

}  // namespace assay
