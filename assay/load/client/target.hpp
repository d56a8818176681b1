#pragma once

#include <sys/socket.h>

#include <string>

#include "assay/process/descriptor.hpp"

namespace assay::load {

/// Where requests go: a URL, and the address that it had when the run began.
struct Target {
  std::string host;  ///< as the header Host names it, with a port that is not 80
  std::string path;  ///< with what follows a ?
  sockaddr_storage address{};
  socklen_t address_size = 0;
};

/// Reads http://HOST[:PORT][/PATH] and looks the host up once, so that no request waits for a name. Throws Error{usage}
/// for other schemes, for a user or password in it, and for a host that is not known.
Target parse_target(const std::string& url);

/// Whether it is an address of the loopback.
bool is_on_this_machine(const Target& target);

/// A socket that is connected, or about to be; empty, and errno set, where the kernel refuses at once.
process::Fd begin_connection(const Target& target);

}  // namespace assay::load
