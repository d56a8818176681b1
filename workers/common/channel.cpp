#include "workers/common/channel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "assay/core/error.hpp"

namespace assay::worker {
namespace {

constexpr int kFirstPrivate = 3;

int private_copy(int descriptor) {
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstPrivate);
  if (copy < 0) {
    fail(ErrorKind::failure, "descriptor {} is not open: {}. A worker is started by assay-rank.", descriptor,
         std::strerror(errno));
  }
  return copy;
}

}  // namespace

Channel::Channel() : input_(private_copy(0)), output_(private_copy(1)) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) fail(ErrorKind::failure, "cannot open /dev/null: {}", std::strerror(errno));
  dup2(nothing, 0);
  if (dup2(2, 1) < 0) dup2(nothing, 1);  // stderr is closed: what is printed goes nowhere
  close(nothing);
}

Channel::~Channel() {
  close(input_);
  close_output();
}

std::optional<std::string> Channel::read_line() {
  std::array<char, 65536> chunk{};
  while (true) {
    const auto end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = buffer_.size();
    if (buffer_.size() > kMostLineBytes) {
      fail(ErrorKind::bad_input, "a command is longer than {} bytes", kMostLineBytes);
    }
    const ssize_t got = read(input_, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorKind::failure, "cannot read commands: {}", std::strerror(errno));
    if (got == 0) return std::nullopt;
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

void Channel::send(std::string_view line) {
  std::string text;
  text.reserve(line.size() + 1);
  text.append(line).push_back('\n');
  write_raw(text);
}

void Channel::write_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(output_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(ErrorKind::failure, "cannot answer: {}", std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Channel::close_output() {
  if (output_ >= 0) close(output_);
  output_ = -1;
}

}  // namespace assay::worker
