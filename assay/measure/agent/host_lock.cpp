#include "assay/measure/agent/host_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"
#include "assay/process/regular_file.hpp"

namespace assay::measure {
namespace {

constexpr const char* kCommonPath = "/tmp/assay-host.lock";

/// A new open file description each time: flock belongs to it, and children share it.
process::Fd open_lock(const std::string& path) {
  // In a sticky directory the kernel refuses O_CREAT on another user's file, so it is opened plainly first.
  auto opened = process::open_regular(path, O_RDONLY);
  if (!opened.file && opened.error == ENOENT) {
    opened = process::open_regular(path, O_RDONLY | O_CREAT, 0644);
    if (opened.file) fchmod(opened.file.get(), 0644);
  }
  if (opened.file) return std::move(opened.file);
  fail(ErrorKind::failure,
       "cannot open the host lock {}: {}. {} another with --host-lock, or none with --no-host-lock.", path,
       opened.reason, opened.error == 0 ? "Remove it, or name" : "Name");
}

}  // namespace

HostLock::HostLock(const std::string& path) : path_(path.empty() ? kCommonPath : path) {}

bool HostLock::take(const std::function<bool()>& waiting) {
  process::Fd file = open_lock(path_);
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      fail(ErrorKind::failure, "cannot lock {}: {}", path_, std::strerror(errno));
    if (!waiting()) return false;
    sleep_until_ns(monotonic_ns() + 20'000'000);
  }
  held_ = std::move(file);
  return true;
}

std::optional<bool> HostLock::is_held() const {
  const auto opened = process::open_regular(path_, O_RDONLY);
  if (!opened.file) return opened.error == ENOENT ? std::optional(false) : std::nullopt;
  // A shared lock fits beside those of others who only look; closing the file gives it back.
  if (flock(opened.file.get(), LOCK_SH | LOCK_NB) == 0) return false;
  return errno == EWOULDBLOCK ? std::optional(true) : std::nullopt;
}

void HostLock::give_back() {
  held_.reset();
}

}  // namespace assay::measure
