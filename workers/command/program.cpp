#include "workers/command/program.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"

namespace assay::command {
namespace {

constexpr std::size_t kMostOutputBytes = 65536;

std::atomic<pid_t> running{0};  // the one thing a signal handler can reach

extern "C" void end_running(int) {
  const pid_t group = running.load();
  if (group > 0) kill(-group, SIGKILL);
  _exit(128 + SIGTERM);
}

/// Closes a descriptor at the end of its scope.
struct Descriptor {
  int value = -1;
  Descriptor() = default;
  explicit Descriptor(int descriptor) : value(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  void reset() {
    if (value >= 0) close(value);
    value = -1;
  }
};

/// Holds SIGTERM back while it lives, so that the handler never sees a program started and not yet known to it.
class HeldTermination {
 public:
  HeldTermination() {
    sigset_t termination;
    sigemptyset(&termination);
    sigaddset(&termination, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &termination, &before_);
  }
  ~HeldTermination() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldTermination(const HeldTermination&) = delete;
  HeldTermination& operator=(const HeldTermination&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

/// Starts the program in a process group of its own, with the signals blocked that `mask` blocks.
pid_t start(const std::vector<std::string>& argv, int stdout_descriptor, const sigset_t& mask) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (stdout_descriptor >= 0) {
    posix_spawn_file_actions_adddup2(&actions, stdout_descriptor, 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &mask);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);

  std::vector<char*> pointers;
  for (const auto& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::runtime_error(fmt::format("cannot start {}: {}", shown(argv[0]), std::strerror(error)));
  return child;
}

void keep_tail(std::string& output, const char* bytes, std::size_t size) {
  output.append(bytes, size);
  if (output.size() > 2 * kMostOutputBytes) output.erase(0, output.size() - kMostOutputBytes);
}

/// One read of what is there. False at the end of the output, or where nothing more is there now.
bool read_some(int pipe, std::string& output) {
  std::array<char, 65536> chunk{};
  const ssize_t got = read(pipe, chunk.data(), chunk.size());
  if (got > 0) keep_tail(output, chunk.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

/// Reads until the program itself has ended, even where one of its children keeps the pipe open.
void capture_until_end(int pipe, pid_t child, std::string& output) {
  // By number: the header of glibc 2.36 declares pidfd_open() for C only.
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (process.value < 0) throw std::runtime_error(fmt::format("pidfd_open: {}", std::strerror(errno)));
  std::array<pollfd, 2> wanted{pollfd{process.value, POLLIN, 0}, pollfd{pipe, POLLIN, 0}};
  while (wanted[0].revents == 0) {
    if (poll(wanted.data(), wanted.size(), -1) < 0) {
      if (errno != EINTR) throw std::runtime_error(fmt::format("poll: {}", std::strerror(errno)));
      wanted[0].revents = 0;
      continue;
    }
    if (wanted[1].revents != 0 && !read_some(pipe, output)) wanted[1].fd = -1;  // poll skips it from now on
  }
  constexpr int kMostReads = 32;  // a pipe holds no more than 1 MiB; a child that goes on writing is not waited for
  for (int i = 0; i < kMostReads && read_some(pipe, output); ++i) {
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(fmt::format("waitpid: {}", std::strerror(errno)));
  }
  return status;
}

/// The parent of a process by /proc, or 0.
pid_t parent_of(const char* pid) {
  const Descriptor file(open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  if (file.value < 0 || read(file.value, text.data(), text.size() - 1) <= 0) return 0;
  const char* after_name = std::strrchr(text.data(), ')');  // a name may hold anything, also ") S 1"
  char state = 0;
  int parent = 0;
  // NOLINTNEXTLINE(cert-err34-c): the kernel wrote it
  if (after_name == nullptr || std::sscanf(after_name + 1, " %c %d", &state, &parent) != 2) return 0;
  return parent;
}

void kill_own_children() {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  if (!processes) return;
  while (const dirent* entry = readdir(processes.get())) {
    const pid_t pid = std::atoi(entry->d_name);  // NOLINT(cert-err34-c): what is no number is 0
    if (pid > 0 && parent_of(entry->d_name) == getpid()) kill(pid, SIGKILL);
  }
}

/// Kills and reaps what the program left: its group at once, then whatever came to this process as their reaper.
void end_leftovers(pid_t group) {
  kill(-group, SIGKILL);
  while (true) {
    const pid_t reaped = waitpid(-1, nullptr, WNOHANG);
    if (reaped < 0) return;  // no children left
    if (reaped > 0) continue;
    kill_own_children();
    sleep_until_ns(monotonic_ns() + 1'000'000);
  }
}

}  // namespace

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  struct sigaction action {};
  action.sa_handler = end_running;
  sigaction(SIGTERM, &action, nullptr);
}

bool is_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/bin:/usr/bin";
  rest += ':';
  for (std::size_t begin = 0, end = 0; (end = rest.find(':', begin)) != std::string::npos; begin = end + 1) {
    const std::string folder = end == begin ? "." : rest.substr(begin, end - begin);
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Ended run_program(const std::vector<std::string>& argv, bool capture) {
  Ended ended;
  std::array<int, 2> ends{-1, -1};
  if (capture && pipe2(ends.data(), O_CLOEXEC) < 0) {
    throw std::runtime_error(fmt::format("pipe: {}", std::strerror(errno)));
  }
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  if (capture) fcntl(reader.value, F_SETFL, O_NONBLOCK);

  const std::int64_t begin_ns = monotonic_ns();
  pid_t child = 0;
  {
    const HeldTermination held;
    child = start(argv, writer.value, held.before());
    running = child;
  }
  writer.reset();
  if (capture) capture_until_end(reader.value, child, ended.output);
  const int status = wait_for(child);
  ended.took_ns = monotonic_ns() - begin_ns;

  end_leftovers(child);
  running = 0;
  if (ended.output.size() > kMostOutputBytes) ended.output.erase(0, ended.output.size() - kMostOutputBytes);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

}  // namespace assay::command
