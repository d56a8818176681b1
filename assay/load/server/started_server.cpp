#include "assay/load/server/started_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/process/command_line.hpp"

namespace assay::load {
namespace {

constexpr std::size_t kTailBytes = 4096;
constexpr double kGraceSeconds = 5;
constexpr int kProbeMs = 100;

bool looks_like_key(const std::string& word) {
  for (const char* flag : {"--api-key", "--api_key", "--token", "--hf-token", "--hf_token", "--password", "--secret"}) {
    if (word == flag || word.starts_with(std::string(flag) + "=")) return true;
  }
  return false;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

/// A file without a name, for what the server writes.
process::Fd open_log() {
  const auto folder = std::filesystem::temp_directory_path().string();
  process::Fd file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
  if (!file) fail(ErrorKind::failure, "cannot make a file in {}: {}.", folder, std::strerror(errno));
  return file;
}

/// Whether a descriptor is readable within so long.
bool is_readable(int fd, int ms) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, ms) > 0;
}

/// A single short request, as the ones that count.
bool answers(const Target& target, const Sending& sending) {
  auto probe = sending;
  probe.connections = 1;
  probe.timeout_ns = probe.drain_ns = 10'000'000'000;
  probe.prefix_words = 0;
  probe.form.point = 1 << 23;  // a prompt that no run has
  Arrival arrival;
  arrival.input_words = arrival.output_tokens = 1;
  const auto sent = send_schedule(target, probe, {arrival}, {});
  return !sent.requests.empty() && sent.requests.front().outcome == RequestOutcome::ok;
}

}  // namespace

std::vector<std::string> words_of_command(const std::string& text) {
  const auto words = process::command_line_words(text, process::Backslash::escapes);
  if (!words) fail(ErrorKind::usage, "--start: {} has a quote without its end.", shown(text));
  if (words->empty()) fail(ErrorKind::usage, "--start: it is empty. Give the program and its arguments.");
  for (const auto& one : *words) {
    if (!looks_like_key(one)) continue;
    fail(ErrorKind::usage,
         "--start: {} would be in every record. Give the server its key by a variable, such as LLAMA_API_KEY or "
         "VLLM_API_KEY, or by a file.",
         shown(one.substr(0, one.find('='))));
  }
  return *words;
}

StartedServer::StartedServer(const std::vector<std::string>& argv, const Target& target, const Sending& sending,
                             double limit_seconds)
    : log_(open_log()) {
  if (answers(target, sending)) {
    fail(ErrorKind::usage,
         "--start: another server answers at {} already. End it, leave out --start, or choose another port.",
         shown(target.host));
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  process::SpawnRequest request;
  request.argv = argv;
  request.environment = own_environment();
  request.stdout_fd = request.stderr_fd = log_.get();
  request.parent_death_signal = SIGKILL;
  server_ = process::spawn(request);
  if (server_.error != 0) {
    fail(ErrorKind::failure, "--start: {} cannot be started: {}.", shown(argv.front()), std::strerror(server_.error));
  }
  try {
    wait_until_ready(target, sending, limit_seconds);
  } catch (...) {
    process::end_tree(server_.pid, kGraceSeconds);
    throw;
  }
}

StartedServer::~StartedServer() {
  process::end_tree(server_.pid, kGraceSeconds);
}

void StartedServer::wait_until_ready(const Target& target, const Sending& sending, double limit_seconds) {
  const auto end_ns = monotonic_ns() + static_cast<std::int64_t>(limit_seconds * 1e9);
  while (true) {
    if (has_ended()) fail(ErrorKind::failure, "the server ended before it answered. It wrote: {}", tail());
    if (answers(target, sending)) {
      ready_ = true;
      return;
    }
    if (monotonic_ns() > end_ns) {
      fail(ErrorKind::failure, "the server has not answered within {:g} s (--start-limit). It wrote: {}", limit_seconds,
           tail());
    }
    if (sending.stop_fd >= 0 && is_readable(sending.stop_fd, kProbeMs)) return;
    if (sending.stop_fd < 0) sleep_until_ns(monotonic_ns() + std::int64_t{kProbeMs} * 1'000'000);
  }
}

bool StartedServer::has_ended() const {
  return is_readable(server_.pidfd.get(), 0);
}

std::string StartedServer::tail() const {
  struct stat status {};
  if (fstat(log_.get(), &status) != 0) return "";
  const auto from = std::max<off_t>(0, status.st_size - static_cast<off_t>(kTailBytes));
  std::array<char, kTailBytes> bytes{};
  const auto count = pread(log_.get(), bytes.data(), bytes.size(), from);
  return count > 0 ? printable({bytes.data(), static_cast<std::size_t>(count)}, kTailBytes) : "nothing";
}

}  // namespace assay::load
