#include "assay/measure/rank/meter.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>

#include "assay/core/clock.hpp"
#include "assay/core/text/number.hpp"
#include "assay/core/text/utf8.hpp"

namespace assay::measure {
namespace {

constexpr std::size_t kLongestAnswer = 64;
constexpr std::int64_t kAnswerWithinNs = 2'000'000'000;

}  // namespace

std::optional<double> parse_joules(const std::string& line) {
  const auto value = parse_number<double>(line);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

Meter::Meter(const std::string& program, const std::vector<std::string>& environment) : program_(program) {
  auto to = process::make_pipe();
  auto from = process::make_pipe();
  process::SpawnRequest request;
  request.argv = {program};
  request.environment = environment;
  request.stdin_fd = to.read_end.get();
  request.stdout_fd = from.write_end.get();
  request.stderr_fd = -1;
  request.parent_death_signal = SIGKILL;
  process_ = process::spawn(request);
  if (process_.pid < 0) {
    problem_ = fmt::format("meter {} does not start: {}", program, std::strerror(process_.error));
    return;
  }
  to.read_end.reset();  // so that its end is seen
  from.write_end.reset();
  questions_ = std::move(to.write_end);
  answers_ = std::move(from.read_end);
  read();  // it may have to load something first: that must not be in a window
}

Meter::~Meter() {
  if (process_.pid < 0) return;
  kill(process_.pid, SIGKILL);
  waitpid(process_.pid, nullptr, 0);
}

std::optional<double> Meter::read() {
  if (problem_) return std::nullopt;
  const auto answer = ask();
  if (!answer) return std::nullopt;
  const auto joules = parse_joules(*answer);
  if (!joules) {
    problem_ = fmt::format("meter {} answered '{}', which is not a number of joules", program_,
                           printable(*answer, kLongestAnswer));
  }
  return joules;
}

/// One line of its, without the end; null and a problem where none comes.
std::optional<std::string> Meter::ask() {
  const std::int64_t deadline = monotonic_ns() + kAnswerWithinNs;
  if (write(questions_.get(), "\n", 1) != 1) {
    problem_ = fmt::format("meter {} has ended", program_);
    return std::nullopt;
  }
  std::string line;
  while (line.size() <= kLongestAnswer) {
    const std::int64_t left_ns = deadline - monotonic_ns();
    pollfd wait{answers_.get(), POLLIN, 0};
    const int ready = left_ns > 0 ? poll(&wait, 1, static_cast<int>(left_ns / 1'000'000) + 1) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      problem_ = fmt::format("meter {} did not answer within {} s", program_, kAnswerWithinNs / 1'000'000'000);
      return std::nullopt;
    }
    char next = 0;
    if (::read(answers_.get(), &next, 1) != 1) {
      problem_ = fmt::format("meter {} has ended", program_);
      return std::nullopt;
    }
    if (next == '\n') return line;
    line += next;
  }
  problem_ = fmt::format("meter {} answered more than {} characters without an end of line", program_, kLongestAnswer);
  return std::nullopt;
}

}  // namespace assay::measure
