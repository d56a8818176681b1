#include "assay/load/client/target.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "assay/core/error.hpp"
#include "assay/core/text/number.hpp"

namespace assay::load {
namespace {

void look_up(Target& target, const std::string& name, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    fail(ErrorKind::usage, "the host {} cannot be found: {}. Check the URL.", shown(name), gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  std::memcpy(&target.address, found->ai_addr, found->ai_addrlen);
  target.address_size = found->ai_addrlen;
}

/// HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT.
std::pair<std::string, int> host_and_port(const std::string& authority, const std::string& url) {
  auto host = authority;
  int port = 80;
  const auto colon = authority.rfind(':');
  const auto bracket = authority.rfind(']');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    const auto given = parse_number<int>(authority.substr(colon + 1));
    if (!given || *given < 1 || *given > 65535) {
      fail(ErrorKind::usage, "{} has no valid port. Write it as http://127.0.0.1:8000/v1/completions.", shown(url));
    }
    port = *given;
    host = authority.substr(0, colon);
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host.empty()) fail(ErrorKind::usage, "{} has no host. Write it as http://127.0.0.1:8000/.", shown(url));
  return {host, port};
}

}  // namespace

Target parse_target(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (url.starts_with("https://")) {
    fail(ErrorKind::usage,
         "{}: the client does not speak TLS, whose cost on both sides would be in every latency. Measure the server "
         "before its TLS proxy by http://, or put a proxy on this host that speaks TLS to the server.",
         shown(url));
  }
  if (!url.starts_with(kScheme)) {
    fail(ErrorKind::usage, "{} is not a valid URL. Write it as http://127.0.0.1:8000/v1/completions.", shown(url));
  }
  const auto is_bad = [](char c) { return c <= ' ' || c == '\x7f'; };
  if (std::any_of(url.begin(), url.end(), is_bad)) {
    fail(ErrorKind::usage, "{}: a URL has no spaces or control characters. Write them as %20.", shown(url));
  }
  const auto rest = url.substr(kScheme.size());
  const auto slash = std::min(rest.find_first_of("/?#"), rest.size());
  const auto authority = rest.substr(0, slash);
  if (authority.find('@') != std::string::npos) {
    fail(ErrorKind::usage, "a user or password in a URL can be read by every user of this host. Use --key-file.");
  }
  Target target;
  target.host = authority;
  target.path = rest.substr(slash, rest.find('#') - slash);
  if (!target.path.starts_with('/')) target.path.insert(0, "/");
  const auto [name, port] = host_and_port(authority, url);
  look_up(target, name, port);
  return target;
}

bool is_on_this_machine(const Target& target) {
  if (target.address.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(target.address);
    return ntohl(address.sin_addr.s_addr) >> 24U == IN_LOOPBACKNET;
  }
  const auto& address = reinterpret_cast<const sockaddr_in6&>(target.address);
  return target.address.ss_family == AF_INET6 &&
         std::memcmp(&address.sin6_addr, &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

process::Fd begin_connection(const Target& target) {
  process::Fd fd(socket(target.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto* const address = reinterpret_cast<const sockaddr*>(&target.address);
  if (connect(fd.get(), address, target.address_size) != 0 && errno != EINPROGRESS) {
    const int error = errno;
    fd.reset();
    errno = error;
  }
  return fd;
}

}  // namespace assay::load
