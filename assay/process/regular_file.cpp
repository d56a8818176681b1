#include "assay/process/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "assay/core/error.hpp"

namespace assay::process {
namespace {

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFIFO:
      return "a FIFO";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFDIR:
      return "a folder";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

OpenedFile refused(int error, mode_t mode) {
  if (error != 0) return {{}, error, std::strerror(error)};
  return {{}, 0, fmt::format("it is {}, not a regular file", kind_of(mode))};
}

}  // namespace

OpenedFile open_regular(const std::filesystem::path& path, int flags, mode_t mode) {
  struct stat status {};
  // Without O_NONBLOCK the call itself would wait for the other end of a FIFO, and begin again after each signal.
  Fd file(open(path.c_str(), flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) {
    const int error = errno;
    const bool other = lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    return refused(other ? 0 : error, status.st_mode);
  }
  if (fstat(file.get(), &status) != 0) return refused(errno, 0);
  if (!S_ISREG(status.st_mode)) return refused(0, status.st_mode);
  fcntl(file.get(), F_SETFL, fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  return {std::move(file), 0, {}};
}

Fd open_or_fail(const std::filesystem::path& path, int flags, const char* what, mode_t mode) {
  auto opened = open_regular(path, flags, mode);
  if (opened.file) return std::move(opened.file);
  if (opened.error != 0) file_failed(opened.error, what, path.string());
  fail(ErrorKind::failure, "cannot {} {}: {}. Remove it.", what, path.string(), opened.reason);
}

std::optional<std::string> read_regular(const std::filesystem::path& path, std::size_t limit) {
  const auto opened = open_regular(path, O_RDONLY);
  struct stat status {};
  if (!opened.file || fstat(opened.file.get(), &status) != 0) return std::nullopt;
  if (static_cast<std::size_t>(status.st_size) > limit) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  ssize_t got = 0;
  while (done < text.size() && (got = read(opened.file.get(), text.data() + done, text.size() - done)) > 0) {
    done += static_cast<std::size_t>(got);
  }
  if (done != text.size()) return std::nullopt;
  return text;
}

}  // namespace assay::process
