#pragma once

#include <string>

namespace assay::cli {

/// Has the program `name` of the libexec folder answer a request: what it reads from stdin, and what it writes to
/// stdout. Where `shows_progress`, it writes to a terminal itself how far it is. Throws Error with what it said where
/// it fails.
std::string ask_libexec(const std::string& name, const std::string& request, bool shows_progress);

}  // namespace assay::cli
