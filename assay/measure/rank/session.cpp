#include "assay/measure/rank/session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>

#include "assay/core/clock.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kTickNs = 100'000'000;
constexpr std::int64_t kEndNs = 1'000'000'000;
constexpr std::size_t kTailBytes = 16u << 10;
constexpr std::int64_t kMostStderrBytes = std::int64_t{256} << 20;
constexpr std::size_t kReadBytes = 64u << 10;

std::int64_t deadline_after(double seconds) {
  return monotonic_ns() + static_cast<std::int64_t>(std::min(seconds, 1e8) * 1e9);
}

void make_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/// The kernel's first choice when memory runs out shall be the worker, not Assay.
void prefer_for_oom(pid_t pid) {
  const process::Fd file(open(fmt::format("/proc/{}/oom_score_adj", pid).c_str(), O_WRONLY | O_CLOEXEC));
  if (file && write(file.get(), "900", 3) != 3) return;  // not allowed here: the kernel chooses
}

}  // namespace

void worker_failed(OutcomeKind kind, std::string message) {
  throw WorkerFailure{Outcome{kind, std::move(message), {}, {}, {}, {}}};
}

WorkerSession::WorkerSession(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                             Tick tick)
    : tick_(std::move(tick)) {
  process::Pipe in = process::make_pipe();
  process::Pipe out = process::make_pipe();
  process::Pipe err = process::make_pipe();
  process::SpawnRequest request;
  request.argv = argv;
  request.environment = environment;
  request.stdin_fd = in.read_end.get();
  request.stdout_fd = out.write_end.get();
  request.stderr_fd = err.write_end.get();
  request.parent_death_signal = SIGKILL;
  process_ = process::spawn(request);
  if (process_.pid < 0) {
    worker_failed(OutcomeKind::not_started,
                  fmt::format("{} could not be started: {}", shown(argv.at(0), 200), std::strerror(process_.error)));
  }
  prefer_for_oom(process_.pid);
  input_ = std::move(in.write_end);
  output_ = std::move(out.read_end);
  errors_ = std::move(err.read_end);
  for (const int fd : {input_.get(), output_.get(), errors_.get()}) make_nonblocking(fd);
  next_tick_ns_ = monotonic_ns() + kTickNs;
}

json WorkerSession::receive_a(const char* type, std::int64_t deadline_ns) {
  json answer = receive(deadline_ns);
  try {
    if (message_type(answer) == type) return answer;
    fail(ErrorKind::bad_input, "{} where {} was expected", shown(message_type(answer)), type);
  } catch (const Error& error) {
    worker_failed(OutcomeKind::bad_output, error.what());
  }
}

void WorkerSession::signal(int number) {
  if (!process_ended_) kill(-process_.pid, number);
}

Prepared WorkerSession::prepare(const json& request, double limit_seconds) {
  const std::int64_t deadline = deadline_after(limit_seconds);
  send(request, deadline);
  const json answer = receive_a("prepared", deadline);
  try {
    return read_prepared(answer);
  } catch (const Error& error) {
    worker_failed(OutcomeKind::bad_output, error.what());
  }
}

Evaluated WorkerSession::evaluate(const Evaluation& evaluation, double limit_seconds) {
  const std::int64_t deadline = deadline_after(limit_seconds);
  send({{"type", "evaluate"},
        {"output", evaluation.output},
        {"updates", evaluation.updates},
        {"learning_rate", evaluation.learning_rate},
        {"momentum", evaluation.momentum}},
       deadline);
  const json answer = receive_a("evaluated", deadline);
  try {
    return read_evaluated(answer);
  } catch (const Error& error) {
    worker_failed(OutcomeKind::bad_output, error.what());
  }
}

Scored WorkerSession::score(double limit_seconds) {
  const std::int64_t deadline = deadline_after(limit_seconds);
  send({{"type", "score"}}, deadline);
  const json answer = receive_a("scored", deadline);
  try {
    return read_scored(answer);
  } catch (const Error& error) {
    worker_failed(OutcomeKind::bad_output, error.what());
  }
}

Measured WorkerSession::measure(const std::string& detail, double seconds, std::int64_t max_samples,
                                double patience_seconds, const std::optional<std::string>& output) {
  const std::int64_t deadline = deadline_after(patience_seconds);
  json command{{"type", "measure"}, {"detail", detail}, {"seconds", seconds}, {"max_samples", max_samples}};
  if (output) command["output"] = *output;
  send(command, deadline);
  Measured measured;
  while (true) {
    const json answer = receive(deadline);
    try {
      const std::string type = message_type(answer);
      if (type == "done") {
        finish(answer, detail, measured);
        return measured;
      }
      if (type != "samples" && type != "layers") {
        fail(ErrorKind::bad_input, "{} where samples or done was expected", shown(type));
      }
      add_samples(answer, detail, max_samples, measured);
    } catch (const Error& error) {
      worker_failed(OutcomeKind::bad_output, error.what());
    }
  }
}

bool WorkerSession::exit(double limit_seconds, Farewell farewell) {
  const std::int64_t deadline = deadline_after(limit_seconds);
  if (farewell == Farewell::message) send({{"type", "exit"}}, deadline);
  asked_to_exit_ = true;
  input_.reset();
  while (!process_ended_ && monotonic_ns() < deadline) wait(deadline, false);
  read_output();
  if (!buffer_.empty()) worker_failed(OutcomeKind::bad_output, "said something more after its last result");
  if (!process_ended_) return false;
  if (!WIFEXITED(wait_status_) || WEXITSTATUS(wait_status_) != 0) report_end();
  if (errors_) read_errors();
  return true;
}

bool WorkerSession::wait_end(double limit_seconds) {
  const std::int64_t deadline = deadline_after(limit_seconds);
  input_.reset();
  while (!process_ended_ && monotonic_ns() < deadline) wait(deadline, false);
  return process_ended_;
}

void WorkerSession::attend() {
  wait(monotonic_ns(), false);
  if (process_ended_) report_end();
  if (!buffer_.empty()) worker_failed(OutcomeKind::bad_output, "spoke although nothing was asked");
}

void WorkerSession::send(const json& message, std::int64_t deadline_ns) {
  read_output();
  if (!buffer_.empty()) worker_failed(OutcomeKind::bad_output, "spoke although nothing was asked");
  const std::string line = message.dump() + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = write(input_.get(), line.data() + done, line.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EPIPE) {
      report_end_or("closed its input");
    } else if (errno == EAGAIN || errno == EINTR) {
      if (monotonic_ns() >= deadline_ns) worker_failed(OutcomeKind::timed_out, "does not read what it is asked");
      wait(deadline_ns, true);
      if (process_ended_) report_end();
    } else {
      fail(ErrorKind::failure, "cannot write to the worker: {}", std::strerror(errno));
    }
  }
}

json WorkerSession::receive(std::int64_t deadline_ns) {
  std::optional<std::string> line;
  while (!(line = take_line())) {
    if (process_ended_) report_end();
    if (output_ended_) report_end_or("closed its output");
    if (monotonic_ns() >= deadline_ns) worker_failed(OutcomeKind::timed_out, "no answer within the limit");
    wait(deadline_ns, false);
  }
  try {
    json message = parse_message(*line);
    if (message_type(message) == "error") {
      const Reported reported = read_error(message);
      worker_failed(reported.kind, reported.message);
    }
    return message;
  } catch (const Error& error) {
    worker_failed(OutcomeKind::bad_output, error.what());
  }
}

std::optional<std::string> WorkerSession::take_line() {
  const auto end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    if (buffer_.size() > kMostLineBytes) {
      worker_failed(OutcomeKind::bad_output, fmt::format("a line longer than {} bytes", kMostLineBytes));
    }
    return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

void WorkerSession::wait(std::int64_t deadline_ns, bool to_write) {
  // A negative descriptor is skipped by poll; an ended stream must not wake it for ever.
  std::array<pollfd, 4> fds{{{output_ended_ ? -1 : output_.get(), POLLIN, 0},
                             {errors_.get(), POLLIN, 0},
                             {process_ended_ ? -1 : process_.pidfd.get(), POLLIN, 0},
                             {to_write ? input_.get() : -1, POLLOUT, 0}}};
  const std::int64_t now = monotonic_ns();
  const std::int64_t until = std::min(deadline_ns, next_tick_ns_);
  const std::int64_t patience = std::max<std::int64_t>(0, until - now);
  const timespec timeout{patience / 1'000'000'000, patience % 1'000'000'000};
  ppoll(fds.data(), fds.size(), &timeout, nullptr);
  // The exit is looked at before the streams, so that whatever was written before it has been read when it counts.
  const bool ended = fds[2].revents != 0;
  if (fds[1].revents != 0) read_errors();
  if (fds[0].revents != 0 || ended) read_output();
  if (ended) reap();
  if (monotonic_ns() >= next_tick_ns_) {
    next_tick_ns_ = monotonic_ns() + kTickNs;
    tick_();
  }
}

void WorkerSession::read_output() {
  std::array<char, kReadBytes> chunk;
  while (!output_ended_ && buffer_.size() <= kMostLineBytes) {
    const ssize_t got = read(output_.get(), chunk.data(), chunk.size());
    if (got > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      output_ended_ = true;
    } else if (errno != EINTR) {
      return;
    }
  }
}

void WorkerSession::read_errors() {
  std::array<char, kReadBytes> chunk;
  // Bounded, so that a flood on stderr cannot keep us from the clock.
  for (int i = 0; i < 64; ++i) {
    const ssize_t got = read(errors_.get(), chunk.data(), chunk.size());
    if (got < 0) return;
    if (got == 0) {
      errors_.reset();
      return;
    }
    stderr_bytes_ += got;
    stderr_tail_.append(chunk.data(), static_cast<std::size_t>(got));
    if (stderr_tail_.size() > kTailBytes) stderr_tail_.erase(0, stderr_tail_.size() - kTailBytes);
    if (stderr_bytes_ > kMostStderrBytes) worker_failed(OutcomeKind::bad_output, "wrote more than 256 MiB to stderr");
  }
}

void WorkerSession::reap() {
  rusage usage{};
  if (wait4(process_.pid, &wait_status_, 0, &usage) == process_.pid) peak_memory_bytes_ = usage.ru_maxrss * 1024;
  process_ended_ = true;
}

void WorkerSession::report_end_or(const char* what) {
  // A process that ends closes its pipes a moment before it can be waited for; with much memory, a longer moment.
  const std::int64_t until = monotonic_ns() + kEndNs;
  while (!process_ended_ && monotonic_ns() < until) wait(until, false);
  if (process_ended_) report_end();
  worker_failed(OutcomeKind::bad_output, what);
}

void WorkerSession::report_end() {
  if (errors_) read_errors();
  Outcome outcome;
  outcome.kind = OutcomeKind::crashed;
  if (!buffer_.empty()) worker_failed(OutcomeKind::bad_output, "ended in the middle of a line");
  if (WIFSIGNALED(wait_status_)) {
    outcome.signal = WTERMSIG(wait_status_);
    outcome.message = fmt::format("ended by signal {} ({})", *outcome.signal, strsignal(WTERMSIG(wait_status_)));
  } else {
    outcome.exit_code = WEXITSTATUS(wait_status_);
    outcome.message =
        fmt::format("ended with code {}{}", *outcome.exit_code, asked_to_exit_ ? "" : " before it gave a result");
  }
  throw WorkerFailure{outcome};
}

std::unique_ptr<Session> start_worker(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                                      WorkerSession::Tick tick) {
  return std::make_unique<WorkerSession>(argv, environment, std::move(tick));
}

}  // namespace assay::measure
