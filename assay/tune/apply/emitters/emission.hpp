#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/tune/search/told.hpp"
#include "assay/tune/tuning.hpp"

namespace assay::tune {

/// What every format is written from.
struct Emission {
  const Tuning& tuning;
  Told told;  ///< without the allocator's library
  std::int64_t instances = 1;
  std::vector<std::vector<std::int64_t>> cpus;  ///< of each instance, ascending; empty where they are not known
  std::optional<std::string> preload;           ///< library of the allocator
};

// One for each format that is more than a line or two; each is in a file of its name.
std::string emit_sh(const Emission& emission);
std::string emit_python(const Emission& emission);
std::string emit_slurm(const Emission& emission);
std::string emit_k8s(const Emission& emission);
std::string emit_gunicorn(const Emission& emission);
std::string emit_triton(const Emission& emission);

/// Variables together with LD_PRELOAD.
std::map<std::string, std::string> variables(const Emission& emission);

/// Lines of comment behind '#': what it is, and what the user must do himself. `cannot` are settings, by name, that
/// the format has no place for.
std::string comments(const Emission& emission, const std::vector<std::string>& cannot);

/// A line of comment on the queue of a tuning for a rate, for formats that have no place for it; else empty.
std::string queue_comment(const Emission& emission);

/// The value of a setting by name; empty where it is null.
std::string value_of(const Settings& settings, const std::string& setting);

/// One word for a POSIX shell, whatever is in it.
std::string shell_quoted(const std::string& text);
/// A literal of Python.
std::string python_quoted(const std::string& text);
/// "export NAME='value'" for each variable; LD_PRELOAD keeps what is there.
std::string shell_exports(const Emission& emission);
/// CPU numbers of each instance as a literal of Python; null where they are not known.
std::optional<std::string> python_cpus(const Emission& emission);

}  // namespace assay::tune
