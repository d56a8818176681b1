#include "assay/platform/machine/cpuinfo.hpp"

#include <sstream>

#include "assay/core/text/number.hpp"

namespace assay::platform {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::map<std::int64_t, CpuinfoEntry> parse_cpuinfo(const std::string& text) {
  std::map<std::int64_t, CpuinfoEntry> cpus;
  CpuinfoEntry* current = nullptr;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto key = trimmed(line.substr(0, colon));
    const auto value = trimmed(line.substr(colon + 1));
    const auto number = parse_number<std::int64_t>(value);
    if (key == "processor" && number) {
      current = &cpus[*number];
    } else if (current != nullptr) {
      (*current)[key] = value;
    }
  }
  return cpus;
}

std::optional<std::string> cpuinfo_value(const CpuinfoEntry& entry, const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    const auto it = entry.find(key);
    if (it != entry.end() && !it->second.empty()) return it->second;
  }
  return std::nullopt;
}

}  // namespace assay::platform
