#include "assay/process/program.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "assay/process/spawn.hpp"

namespace assay::process {
namespace {

constexpr std::size_t kMostOutputBytes = 1u << 20;
constexpr std::size_t kTailBytes = 16u << 10;

/// One stream of a program.
struct Stream {
  Fd fd;
  std::string rest;  ///< begun, not yet ended by a line feed

  /// What is there now; closes itself at the end.
  std::string read_some() {
    std::array<char, 16384> chunk;
    const ssize_t got = read(fd.get(), chunk.data(), chunk.size());
    if (got <= 0) {
      fd.reset();
      return "";
    }
    return {chunk.data(), static_cast<std::size_t>(got)};
  }
};

void take_lines(Stream& stream, const std::string& text, const std::function<void(const std::string&)>& line) {
  stream.rest += text;
  for (std::size_t end = 0; (end = stream.rest.find_first_of("\r\n")) != std::string::npos;) {
    if (end > 0) line(stream.rest.substr(0, end));
    stream.rest.erase(0, end + 1);
  }
  if (stream.rest.size() > kTailBytes) stream.rest.clear();  // a line that long tells a person nothing
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& argv, const std::vector<std::string>& environment, int stop_fd,
                       const std::function<void(const std::string&)>& line, int input_fd) {
  ProgramEnd end;
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  SpawnRequest request;
  request.argv = argv;
  request.environment = environment;
  request.stdin_fd = input_fd;
  request.stdout_fd = out.write_end.get();
  request.stderr_fd = err.write_end.get();
  request.parent_death_signal = SIGKILL;
  const Spawned program = spawn(request);
  if (program.pid < 0) {
    end.error = program.error;
    return end;
  }
  out.write_end.reset();
  err.write_end.reset();
  std::array<Stream, 2> streams{{{std::move(out.read_end), ""}, {std::move(err.read_end), ""}}};
  bool ended = false;
  // Until the program has ended, not until its streams have: a child of its own may hold them open.
  while (!ended) {
    std::array<pollfd, 4> fds{{{streams[0].fd.get(), POLLIN, 0},
                               {streams[1].fd.get(), POLLIN, 0},
                               {program.pidfd.get(), POLLIN, 0},
                               {stop_fd, POLLIN, 0}}};
    if (poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[3].revents != 0) {
      end.stopped = true;
      end_tree(program.pid, 1);
      return end;
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (fds[i].revents == 0) continue;
      const std::string text = streams[i].read_some();
      if (i == 0) end.output.append(text, 0, kMostOutputBytes - std::min(kMostOutputBytes, end.output.size()));
      end.tail += text;
      if (end.tail.size() > kTailBytes) end.tail.erase(0, end.tail.size() - kTailBytes);
      take_lines(streams[i], text, line);
    }
    // Whatever was written before the end is read first.
    ended = fds[2].revents != 0 && fds[0].revents == 0 && fds[1].revents == 0;
  }
  int status = 0;
  waitpid(program.pid, &status, 0);
  if (WIFEXITED(status)) {
    end.exit_code = WEXITSTATUS(status);
  } else {
    end.signal = WTERMSIG(status);
  }
  return end;
}

}  // namespace assay::process
