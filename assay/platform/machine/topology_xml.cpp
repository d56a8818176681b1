#include "assay/platform/machine/topology_xml.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "assay/core/error.hpp"
#include "assay/core/text/file.hpp"

namespace assay::platform {
namespace {

constexpr std::size_t kMostXmlBytes = 64U << 20;
constexpr std::size_t kMostAnswerBytes = 64U << 20;
constexpr rlim_t kMostSeconds = 10;

std::string read_xml(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_file(file, kMostXmlBytes);
  } catch (const FileError& error) {
    fail(ErrorKind::bad_input, "{}: cannot be read: {}", file.string(), std::strerror(error.number()));
  }
  if (text.size() > kMostXmlBytes) {
    fail(ErrorKind::bad_input, "{}: is longer than a description of a machine (at most {} bytes)", file.string(),
         kMostXmlBytes);
  }
  if (text.empty()) fail(ErrorKind::bad_input, "{}: is empty", file.string());
  return text;
}

/// What lstopo never writes, and what XML parsers have been tricked with.
void refuse_tricks(const std::string& text, const std::string& name) {
  for (const char* trick : {"<!ENTITY", "<!ELEMENT", "<!ATTLIST", "<![CDATA["}) {
    if (text.find(trick) != std::string::npos) {
      fail(ErrorKind::bad_input, "{}: '{}' does not belong into a description of a machine. Write it with lstopo.",
           name, trick);
    }
  }
  if (text.find('\0') != std::string::npos) fail(ErrorKind::bad_input, "{}: has a zero byte, so it is not XML", name);
}

[[noreturn]] void no_machine(const std::string& name, const std::string& why) {
  fail(ErrorKind::bad_input, "{}: is not a machine as `lstopo FILE.xml` writes it ({})", name, why);
}

/// Dies of its own mistakes, silently and soon.
void prepare_to_crash() {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU}) std::signal(number, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlimit seconds{kMostSeconds, kMostSeconds};
  setrlimit(RLIMIT_CPU, &seconds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
  constexpr rlim_t kMostMemoryBytes = rlim_t{4} << 30;
  const rlimit memory{kMostMemoryBytes, kMostMemoryBytes};  // sanitizers map far more than they use
  setrlimit(RLIMIT_AS, &memory);
#endif
  // What an assertion of hwloc prints is of no use to anybody.
  if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) dup2(nowhere, STDERR_FILENO);
}

/// The child's part: a topology as JSON, or why there is none.
[[noreturn]] void answer(int out, const std::string& text, const std::string& name) {
  prepare_to_crash();
  json reply;
  try {
    reply["topology"] = to_json(topology_from_trusted_xml(text, name));
  } catch (const std::exception& error) {
    reply["error"] = error.what();
  }
  const std::string line = reply.dump(-1, ' ', false, json::error_handler_t::replace);
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t wrote = write(out, line.data() + at, line.size() - at);
    if (wrote <= 0) break;
    at += static_cast<std::size_t>(wrote);
  }
  _exit(0);
}

std::string read_all(int in) {
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= kMostAnswerBytes) {
    const ssize_t got = read(in, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

Topology topology_from_xml(const std::filesystem::path& file) {
  return topology_from_xml_text(read_xml(file), file.string());
}

Topology topology_from_xml_text(const std::string& text, const std::string& name) {
  refuse_tricks(text, name);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(ErrorKind::failure, "cannot make a pipe: {}", std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) answer(ends[1], text, name);
  close(ends[1]);
  const std::string reply = child > 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  if (child < 0) fail(ErrorKind::failure, "cannot start a process to read {}: {}", name, std::strerror(errno));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || reply.empty()) no_machine(name, "hwloc broke on it");
  const json parsed = parse_json(reply, {kMostAnswerBytes, 8, 4'000'000});
  if (parsed.contains("error")) throw Error(ErrorKind::bad_input, parsed["error"].get<std::string>());
  return from_json<Topology>(parsed.at("topology"), name);
}

}  // namespace assay::platform
