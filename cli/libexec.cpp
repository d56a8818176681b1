#include "cli/libexec.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "assay/process/spawn.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

/// A file without a name. What is written to it and read from it may be of any size, so that neither side waits for
/// the other.
process::Fd nameless_file(const char* what) {
  process::Fd file(memfd_create(what, MFD_CLOEXEC));
  if (!file) fail(ErrorKind::failure, "cannot make a file in memory: {}", std::strerror(errno));
  return file;
}

void write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto written = write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) fail(ErrorKind::failure, "cannot write to memory: {}", std::strerror(errno));
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  lseek(fd, 0, SEEK_SET);
}

std::string read_all(int fd) {
  std::string text;
  char part[65536];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t got = 0; (got = read(fd, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
  return text;
}

/// Its exit code; 128 and the signal where one ended it.
int await(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  if (text.starts_with("assay: ")) text.erase(0, 7);
  return text;
}

}  // namespace

std::string ask_libexec(const std::string& name, const std::string& request, bool shows_progress) {
  const auto program = libexec_folder() / name;
  const auto in = nameless_file((name + "-request").c_str());
  const auto out = nameless_file((name + "-answer").c_str());
  const auto errors = nameless_file((name + "-errors").c_str());
  write_all(in.get(), request);
  const bool shows = shows_progress && isatty(STDERR_FILENO) != 0;
  const auto started = process::spawn({.argv = {program.string()},
                                       .environment = {},
                                       .stdin_fd = in.get(),
                                       .stdout_fd = out.get(),
                                       .stderr_fd = shows ? STDERR_FILENO : errors.get(),
                                       .inherit = {},
                                       .parent_death_signal = SIGKILL});
  if (started.error != 0) {
    fail(ErrorKind::failure, "cannot start {}: {}. It belongs to Assay; ASSAY_LIBEXEC may name its folder.",
         program.string(), std::strerror(started.error));
  }
  const int code = await(started.pid);
  if (code == 0) return read_all(out.get());
  const auto said = last_line(read_all(errors.get()));
  if (code > 2) fail(ErrorKind::failure, "{} ended with {}. {}", name, code, said);
  throw Error(code == 2 ? ErrorKind::usage : ErrorKind::failure, said.empty() ? name + " failed." : said);
}

}  // namespace assay::cli
