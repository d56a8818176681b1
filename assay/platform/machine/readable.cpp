#include "assay/platform/machine/readable.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "assay/platform/cgroup.hpp"
#include "assay/platform/counters.hpp"
#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

namespace fs = std::filesystem;

Counter readable(const char* name) {
  return {name, true, std::nullopt};
}

Counter unreadable(const char* name, std::string why) {
  return {name, false, std::move(why)};
}

Counter pressure(const fs::path& root) {
  const auto text = read_small_file(root / "proc/pressure/cpu");
  if (text && read_pressure_total(*text)) return readable("pressure");
  return unreadable("pressure", "the kernel keeps none; boot it with psi=1");
}

Counter steal(const fs::path& root) {
  const auto text = read_small_file(root / "proc/stat");
  Counters counters;
  if (text) read_cpu_times(*text, {0}, counters);
  // Any CPU would do; a machine whose CPU 0 is off line is a rare one.
  if (counters.so_far.steal_ns) return readable("steal");
  return unreadable("steal", "/proc/stat does not list it");
}

Counter energy(const fs::path& root) {
  const auto folder = root / "sys/class/powercap";
  std::error_code ignored;
  bool there = false;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto file = entry.path() / "energy_uj";
    if (!fs::exists(file, ignored)) continue;
    there = true;
    // Some virtual machines show the file and never count.
    if (const auto value = read_integer_file(file); value && *value > 0) return readable("energy");
  }
  if (!there) return unreadable("energy", "no RAPL here");
  return unreadable("energy", "RAPL is for root only, or counts nothing");
}

}  // namespace

std::vector<CounterText> counter_texts() {
  return {{"schedstat", "the worker's CPU time, and time it waited for a CPU", "/proc/PID/task/*/schedstat"},
          {"pressure", "time in which something waited for a CPU", "/proc/pressure/cpu"},
          {"steal", "time that a hypervisor took", "/proc/stat"},
          {"throttling", "time that the quota of a control group took", "cpu.stat"},
          {"frequency", "the clock at the end of a run", "cpufreq"},
          {"energy", "energy that RAPL counted", "/sys/class/powercap"},
          {"perf", "whether hardware counters can be opened; no record has them", "perf_event_open"}};
}

std::vector<Counter> counters_in_files(const fs::path& root) {
  std::vector<Counter> out;
  out.push_back(read_word(root / "proc/self/schedstat") ? readable("schedstat")
                                                        : unreadable("schedstat", "the kernel keeps none"));
  out.push_back(pressure(root));
  out.push_back(steal(root));
  out.push_back(read_throttling(cgroup_directories("cpu", root))
                    ? readable("throttling")
                    : unreadable("throttling", "no control group for CPU time"));
  out.push_back(read_integer_file(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
                    ? readable("frequency")
                    : unreadable("frequency", "no cpufreq here"));
  out.push_back(energy(root));
  return out;
}

Counter perf_counter() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd >= 0) {
    close(static_cast<int>(fd));
    return readable("perf");
  }
  if (errno == EACCES || errno == EPERM) {
    return unreadable("perf", "not allowed; set kernel.perf_event_paranoid to 2 or less, or add CAP_PERFMON");
  }
  if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV) return unreadable("perf", "no hardware counters here");
  return unreadable("perf", std::strerror(errno));
}

}  // namespace assay::platform
