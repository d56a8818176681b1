#include "assay/tune/apply/supervise.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"
#include "assay/platform/cpus.hpp"

namespace assay::tune {
namespace {

constexpr std::array<int, 6> kForwarded{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
/// How long an instance may take to end after SIGTERM because another one failed.
constexpr std::int64_t kGraceNs = 10'000'000'000;
constexpr int kNotFound = 127;
constexpr int kNotStarted = 126;

/// Ends this process as a child ended. Only init of a container survives its own signal.
int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const int number = WTERMSIG(status);
  const rlimit no_core{0, 0};  // the child has left one, where they are wanted
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(number, SIG_DFL);
  sigset_t just_this;
  sigemptyset(&just_this);
  sigaddset(&just_this, number);
  std::fflush(nullptr);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &just_this, nullptr);
  return 128 + number;
}

class Supervisor {
 public:
  Supervisor() {
    sigemptyset(&waited_);
    for (const int number : kForwarded) sigaddset(&waited_, number);
    sigaddset(&waited_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &waited_, &before_);
    std::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the ends of children away
  }

  void start(const LaunchPlan& plan, const std::vector<std::string>& program, std::int64_t instance) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
      fail_status_ = kNotStarted << 8;
      std::fprintf(stderr, "assay exec: cannot start instance %ld: %s\n", static_cast<long>(instance),
                   std::strerror(errno));
      end_others();
      return;
    }
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(kNotStarted);  // it died before it was watched
      sigprocmask(SIG_SETMASK, &before_, nullptr);
      _exit(become(plan, program, instance));
    }
    children_.push_back(child);
  }

  int wait() {
    while (!children_.empty()) {
      siginfo_t info{};
      const int number = next_signal(info);
      if (number == SIGCHLD) {
        reap();
      } else if (number > 0) {
        pass_on(number, info);
      }
      if (kill_at_ns_ && monotonic_ns() >= *kill_at_ns_) {
        kill_at_ns_.reset();
        send(SIGKILL);
      }
    }
    return fail_status_ ? end_like(*fail_status_) : 0;
  }

  bool failed() const { return fail_status_.has_value(); }

 private:
  int next_signal(siginfo_t& info) const {
    if (!kill_at_ns_) return sigwaitinfo(&waited_, &info);
    const std::int64_t left = std::max<std::int64_t>(*kill_at_ns_ - monotonic_ns(), 0);
    const timespec patience{left / 1'000'000'000, left % 1'000'000'000};
    return sigtimedwait(&waited_, &info, &patience);
  }

  void pass_on(int number, const siginfo_t& info) {
    if (number != SIGUSR1 && number != SIGUSR2) asked_to_end_ = true;
    // What the terminal sends has reached every instance already: they are in its group like this process.
    if (info.si_code != SI_KERNEL) send(number);
  }

  void send(int number) {
    for (const pid_t child : children_) kill(child, number);
  }

  void end_others() {
    kill_at_ns_ = monotonic_ns() + kGraceNs;
    send(SIGTERM);
    send(SIGCONT);  // one that is stopped would never see it
  }

  void reap() {
    int status = 0;
    for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
      children_.erase(std::remove(children_.begin(), children_.end(), child), children_.end());
      if (status == 0 || fail_status_) continue;
      fail_status_ = status;
      if (!asked_to_end_) end_others();  // else all are about to end, in their own time
    }
  }

  sigset_t waited_{};
  sigset_t before_{};
  std::vector<pid_t> children_;
  bool asked_to_end_ = false;
  std::optional<int> fail_status_;          ///< of the instance that failed first
  std::optional<std::int64_t> kill_at_ns_;  ///< when those that do not end by themselves are killed
};

}  // namespace

int become(const LaunchPlan& plan, const std::vector<std::string>& program, std::int64_t instance) {
  const auto& cpus = plan.cpus.at(static_cast<std::size_t>(instance));
  if (!cpus.empty() && !platform::pin_to(cpus)) {
    std::fprintf(stderr, "assay exec: warning: the kernel refused the CPUs: %s\n", std::strerror(errno));
  }
  if (plan.settings.memory_bind && !platform::bind_memory(*plan.settings.memory_bind)) {
    std::fprintf(stderr, "assay exec: warning: the kernel refused memory_bind=%s: %s\n",
                 name_of(*plan.settings.memory_bind), std::strerror(errno));
  }
  for (const auto& [name, value] : plan.env) setenv(name.c_str(), value.c_str(), 1);
  setenv(kInstanceVariable, std::to_string(instance).c_str(), 1);
  auto arguments = arguments_of(plan, program, instance);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  const int error = errno;
  std::fprintf(stderr, "assay exec: cannot start %s: %s\n", shown(arguments[0]).c_str(), std::strerror(error));
  return error == ENOENT ? kNotFound : kNotStarted;
}

int supervise(const LaunchPlan& plan, const std::vector<std::string>& program) {
  Supervisor supervisor;
  for (std::size_t i = 0; i < plan.cpus.size() && !supervisor.failed(); ++i) {
    supervisor.start(plan, program, static_cast<std::int64_t>(i));
  }
  return supervisor.wait();
}

}  // namespace assay::tune
