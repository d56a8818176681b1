#pragma once

#include <optional>

#include "assay/platform/machine/findings/health.hpp"

namespace assay::platform::findings {

// Each looks at one thing and says what it found; null where what it needs could not be read. A new one is a function
// here, a place in the list of health.cpp and a line of cases.inc.

// cpus.cpp
std::optional<Finding> quota(const Situation& s);
std::optional<Finding> cpuset(const Situation& s);
std::optional<Finding> smt(const Situation& s);
std::optional<Finding> governor(const Situation& s);
std::optional<Finding> turbo(const Situation& s);
std::optional<Finding> clocksource(const Situation& s);

// noise.cpp
std::optional<Finding> host_lock(const Situation& s);
std::optional<Finding> neighbours(const Situation& s);
std::optional<Finding> steal(const Situation& s);
std::optional<Finding> probe(const Situation& s);
std::optional<Finding> virtual_machine(const Situation& s);

// memory.cpp
std::optional<Finding> memory(const Situation& s);
std::optional<Finding> swap(const Situation& s);
std::optional<Finding> huge_pages(const Situation& s);
std::optional<Finding> disk(const Situation& s);

// tools.cpp
std::optional<Finding> workers(const Situation& s);
std::optional<Finding> allocators(const Situation& s);
std::optional<Finding> gpus(const Situation& s);

}  // namespace assay::platform::findings
