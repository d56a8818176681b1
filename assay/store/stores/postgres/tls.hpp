#pragma once

#include <string>

namespace assay::store::postgres {

/// Whether what is sent to this host stays on this machine: a unix socket, or an address of the loopback device. `host`
/// is as libpq takes it: a name, an address, the folder of a socket, or nothing.
bool is_local_host(const std::string& host);

/// The sslmode for a URL and an environment that say none: "require", unless every host of the URL is local, where it
/// is "prefer" as libpq's own. Null where the user has said one, and where a service file may.
const char* default_sslmode(const std::string& url);

/// Whether libpq says of a connection that failed that it could not be made secure.
bool is_insecure(const std::string& text);

}  // namespace assay::store::postgres
