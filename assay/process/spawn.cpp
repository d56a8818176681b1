#include "assay/process/spawn.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"
#include "assay/platform/process.hpp"

namespace assay::process {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// execvpe's lookup, done before the fork so that the child only calls what is safe there.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t at = 0; at <= rest.size();) {
    const auto end = std::min(rest.find(':', at), rest.size());
    std::string candidate = rest.substr(at, end - at) + "/" + name;
    if (end > at && access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  return name;
}

struct ChildPlan {
  const char* program;
  char* const* argv;
  char* const* environment;
  std::array<int, 3> standard;
  const int* inherit;
  std::size_t inherit_count;
  int parent_death_signal;
  pid_t parent;
  int report_fd;
};

/// Runs between fork and exec: only async-signal-safe calls. Returns only on failure, with errno set.
void become(const ChildPlan& plan) {
  setpgid(0, 0);
  if (plan.parent_death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, plan.parent_death_signal);
    if (getppid() != plan.parent) _exit(127);  // the parent ended before the line above
  }
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < 65; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int target = 0; target < 3; ++target) {
    const int source = plan.standard[static_cast<std::size_t>(target)];
    if (source == target) {
      fcntl(source, F_SETFD, 0);
    } else if (dup2(source, target) < 0) {
      return;
    }
  }
  // Also what this program itself was started with: a shell may leave descriptors open without the flag.
  syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  for (std::size_t i = 0; i < plan.inherit_count; ++i) fcntl(plan.inherit[i], F_SETFD, 0);
  execve(plan.program, plan.argv, plan.environment);
}

int open_pidfd(pid_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

/// Reaps whatever has ended; false when there is no child left at all.
bool reap() {
  while (true) {
    const pid_t got = waitpid(-1, nullptr, WNOHANG);
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
  }
}

}  // namespace

Spawned spawn(const SpawnRequest& request) {
  const std::string program = find_program(request.argv.at(0));
  const auto argv = pointers(request.argv);
  const auto environment = pointers(request.environment);
  const Fd null_in(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd null_out(open("/dev/null", O_WRONLY | O_CLOEXEC));
  Pipe report = make_pipe();  // closed by a successful exec, else carries errno
  const ChildPlan plan{program.c_str(),
                       argv.data(),
                       environment.data(),
                       {request.stdin_fd < 0 ? null_in.get() : request.stdin_fd,
                        request.stdout_fd < 0 ? null_out.get() : request.stdout_fd,
                        request.stderr_fd < 0 ? null_out.get() : request.stderr_fd},
                       request.inherit.data(),
                       request.inherit.size(),
                       request.parent_death_signal,
                       getpid(),
                       report.write_end.get()};
  Spawned spawned;
  const pid_t pid = fork();
  if (pid < 0) {
    spawned.error = errno;
    return spawned;
  }
  if (pid == 0) {
    become(plan);
    const int error = errno;
    if (write(plan.report_fd, &error, sizeof error) < 0) _exit(126);
    _exit(127);
  }
  report.write_end.reset();
  int error = 0;
  ssize_t got = 0;
  while ((got = read(report.read_end.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got == sizeof error) {
    waitpid(pid, nullptr, 0);
    spawned.error = error;
    return spawned;
  }
  spawned.pid = pid;
  spawned.pidfd = Fd(open_pidfd(pid));
  return spawned;
}

std::size_t signal_descendants(int signal) {
  const auto below = platform::descendants(getpid());
  for (const pid_t pid : below) kill(pid, signal);
  return below.size();
}

bool end_tree(pid_t polite, double grace_seconds) {
  if (polite > 0) {
    kill(-polite, SIGTERM);
    kill(-polite, SIGCONT);  // a stopped process sees SIGTERM only when it goes on
    const std::int64_t patience = monotonic_ns() + static_cast<std::int64_t>(grace_seconds * 1e9);
    while (reap() && monotonic_ns() < patience) sleep_until_ns(monotonic_ns() + 1'000'000);
  }
  const std::int64_t deadline = monotonic_ns() + 5'000'000'000;
  while (reap()) {
    if (monotonic_ns() > deadline) return false;
    // Stopped first, a tree that keeps forking cannot outrun the killing.
    signal_descendants(SIGSTOP);
    if (signal_descendants(SIGKILL) == 0) continue;
    sleep_until_ns(monotonic_ns() + 500'000);
  }
  return true;
}

}  // namespace assay::process
