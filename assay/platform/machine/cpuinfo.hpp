#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::platform {

/// One processor's paragraph of /proc/cpuinfo.
using CpuinfoEntry = std::map<std::string, std::string>;

/// The paragraphs by the number of the CPU. Architectures name their fields each in their own way.
std::map<std::int64_t, CpuinfoEntry> parse_cpuinfo(const std::string& text);

/// The first of `keys` that an entry has, not empty; null where it has none.
std::optional<std::string> cpuinfo_value(const CpuinfoEntry& entry, const std::vector<std::string>& keys);

}  // namespace assay::platform
