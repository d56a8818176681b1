#include "cli/stop.hpp"

#include <poll.h>
#include <sys/signalfd.h>

#include <csignal>

namespace assay::cli {

process::Fd stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return process::Fd(signalfd(-1, &signals, SFD_CLOEXEC));
}

bool asked_to_stop(int stop_fd, double seconds) {
  pollfd fd{stop_fd, POLLIN, 0};
  return poll(&fd, 1, static_cast<int>(seconds * 1000)) > 0;
}

}  // namespace assay::cli
