#include "cli/stop.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include <cmath>
#include <csignal>

#include "assay/core/error.hpp"

namespace assay::cli {

process::Fd stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return process::Fd(signalfd(-1, &signals, SFD_CLOEXEC));
}

StopSources::StopSources()
    : signals_(stop_signals()),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      all_(epoll_create1(EPOLL_CLOEXEC)) {
  for (const auto* one : {&signals_, &timer_, &event_}) watch(one->get());
}

void StopSources::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  ASSAY_CHECK(epoll_ctl(all_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0);
}

void StopSources::after(double seconds) {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(seconds);
  when.it_value.tv_nsec = std::max(1L, std::lround((seconds - std::floor(seconds)) * 999'999'999));
  ASSAY_CHECK(timerfd_settime(timer_.get(), 0, &when, nullptr) == 0);
}

void StopSources::now() {
  ASSAY_CHECK(eventfd_write(event_.get(), 1) == 0);
}

bool StopSources::by_signal() const {
  return asked_to_stop(signals_.get(), 0);
}

bool asked_to_stop(int stop_fd, double seconds) {
  pollfd fd{stop_fd, POLLIN, 0};
  return poll(&fd, 1, static_cast<int>(seconds * 1000)) > 0;
}

}  // namespace assay::cli
