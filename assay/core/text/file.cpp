#include "assay/core/text/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "assay/core/error.hpp"

namespace assay {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : path_(path.string()), fd_(open(path.c_str(), flags, 0600)) {
    if (fd_ < 0) file_failed(errno, "open", path_);
  }
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write_all(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const auto wrote = write(fd_, text.data() + at, text.size() - at);
      if (wrote < 0 && errno != EINTR) file_failed(errno, "write", path_);
      if (wrote > 0) at += static_cast<std::size_t>(wrote);
    }
  }
  void sync() const {
    if (fsync(fd_) != 0) file_failed(errno, "write", path_);
  }

 private:
  std::string path_;
  int fd_;
};

/// Removes a file that was not finished.
class Unfinished {
 public:
  explicit Unfinished(std::filesystem::path path) : path_(std::move(path)) {}
  ~Unfinished() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  void keep() { path_.clear(); }

 private:
  std::filesystem::path path_;
};

/// From where the file is.
std::string read_at_most(std::ifstream& file, std::size_t most, const char* what, const std::filesystem::path& path) {
  constexpr std::size_t kAtFirst = 64u << 10;
  std::string text;
  // Room grows with what is read: the most may be a gigabyte, and the file of no known size.
  for (std::size_t room = kAtFirst; text.size() < most; room *= 2) {
    const auto before = text.size();
    const auto wanted = std::min(room, most - before);
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

}  // namespace

void write_durably(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path unfinished = path.string() + "." + std::to_string(getpid());
  Unfinished guard(unfinished);
  {
    const Descriptor file(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
    file.write_all(text);
    file.sync();
  }
  if (rename(unfinished.c_str(), path.c_str()) != 0) file_failed(errno, "write", path.string());
  guard.keep();
  Descriptor(path.parent_path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC).sync();
}

std::string read_file(const std::filesystem::path& path, std::size_t limit, const char* what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) file_failed(errno, what, path.string());
  return read_at_most(file, limit + 1, what, path);
}

std::string read_file_part(const std::filesystem::path& path, std::size_t begin, std::size_t length) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !file.seekg(static_cast<std::streamoff>(begin))) file_failed(errno, "read", path.string());
  return read_at_most(file, length, "read", path);
}

}  // namespace assay
