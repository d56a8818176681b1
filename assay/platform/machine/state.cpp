#include "assay/platform/machine/state.hpp"

#include <set>
#include <sstream>

#include "assay/platform/cgroup.hpp"
#include "assay/platform/machine/surroundings.hpp"
#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

namespace fs = std::filesystem;

fs::path frequency_folder(const fs::path& root, std::int64_t cpu) {
  return root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cpufreq";
}

std::optional<std::string> governors(const std::vector<std::int64_t>& cpus, const fs::path& root) {
  std::set<std::string> found;
  for (const auto cpu : cpus) {
    if (const auto word = read_word(frequency_folder(root, cpu) / "scaling_governor")) found.insert(*word);
  }
  if (found.empty()) return std::nullopt;
  std::string out;
  for (const auto& name : found) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::optional<bool> turbo(const fs::path& root) {
  const auto cpu = root / "sys/devices/system/cpu";
  if (const auto off = read_integer_file(cpu / "intel_pstate/no_turbo")) return *off == 0;
  if (const auto on = read_integer_file(cpu / "cpufreq/boost")) return *on != 0;
  return std::nullopt;
}

/// "always [madvise] never" as madvise.
std::optional<std::string> chosen(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto open = text->find('[');
  const auto close = text->find(']', open);
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  return text->substr(open + 1, close - open - 1);
}

std::optional<std::vector<double>> load(const fs::path& root) {
  std::istringstream in(read_word(root / "proc/loadavg").value_or(""));
  std::vector<double> values(3);
  if (!(in >> values[0] >> values[1] >> values[2])) return std::nullopt;
  return values;
}

void read_memory(const fs::path& root, MachineState& state) {
  const auto text = read_small_file(root / "proc/meminfo");
  if (!text) return;
  const auto bytes = [&](const char* key) -> std::optional<std::int64_t> {
    const auto kilobytes = integer_after(*text, key);
    return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
  };
  state.memory_available_bytes = bytes("MemAvailable:");
  state.swap_total_bytes = bytes("SwapTotal:");
  const auto free = bytes("SwapFree:");
  if (state.swap_total_bytes && free) state.swap_used_bytes = *state.swap_total_bytes - *free;
}

}  // namespace

MachineState read_state(const std::vector<std::int64_t>& cpus, const fs::path& root) {
  MachineState state;
  state.kernel = read_word(root / "proc/sys/kernel/osrelease");
  if (root == "/") state.hypervisor = hypervisor_name();
  state.governor = governors(cpus, root);
  state.turbo = turbo(root);
  if (!cpus.empty()) state.frequency_khz = read_integer_file(frequency_folder(root, cpus[0]) / "scaling_cur_freq");
  state.huge_pages = chosen(read_word(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  state.clocksource = read_word(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  state.load = load(root);
  read_memory(root, state);
  if (const auto throttling = read_throttling(cgroup_directories("cpu", root))) {
    state.throttled_periods = throttling->throttled_periods;
    state.throttled_ns = throttling->throttled_ns;
  }
  return state;
}

}  // namespace assay::platform
