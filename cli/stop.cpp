#include "cli/stop.hpp"

#include <sys/signalfd.h>

#include <csignal>

namespace assay::cli {

measure::Fd stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return measure::Fd(signalfd(-1, &signals, SFD_CLOEXEC));
}

}  // namespace assay::cli
