#include "assay/platform/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include "assay/core/hash.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

/// The value behind "key\t: " in /proc/cpuinfo; null where there is none.
json cpuinfo_value(const std::string& cpuinfo, const std::string& key) {
  const auto at = cpuinfo.find(key);
  if (at == std::string::npos) return nullptr;
  const auto colon = cpuinfo.find(": ", at);
  const auto end = cpuinfo.find('\n', at);
  if (colon == std::string::npos || colon > end) return nullptr;
  return cpuinfo.substr(colon + 2, end - colon - 2);
}

json word_or_null(const std::string& path) {
  const auto word = read_word(path);
  return word ? json(*word) : json(nullptr);
}

}  // namespace

Machine this_machine() {
  const std::string cpuinfo = read_small_file("/proc/cpuinfo").value_or("");
  utsname names{};
  uname(&names);
  Machine machine;
  // Memory in whole GiB: what the kernel reports changes by a few pages from boot to boot.
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t memory_gib = (pages * sysconf(_SC_PAGESIZE) + (1LL << 29)) >> 30;
  machine.description = {{"architecture", names.machine},
                         {"cpu_model", cpuinfo_value(cpuinfo, "model name")},
                         {"cpus", sysconf(_SC_NPROCESSORS_CONF)},
                         {"cpus_allowed", static_cast<std::int64_t>(allowed_cpus().size())},
                         {"memory_gib", memory_gib}};
  machine.id = hash_hex(canonical_json(machine.description));
  return machine;
}

json machine_state() {
  utsname names{};
  uname(&names);
  return {{"kernel", names.release},
          {"load", word_or_null("/proc/loadavg")},
          {"governor", word_or_null("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"huge_pages", word_or_null("/sys/kernel/mm/transparent_hugepage/enabled")}};
}

}  // namespace assay::platform
