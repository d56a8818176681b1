#include "assay/platform/process.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>

#include "assay/core/clock.hpp"
#include "assay/core/text/number.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

constexpr double kLeastBusy = 0.1;
constexpr std::size_t kFirstStatField = 3;  // of stat_fields()

/// Fields of /proc/PID/stat behind the name, which may itself hold spaces and brackets. [0] is the state, field 3.
std::optional<std::vector<std::string>> stat_fields(pid_t pid, std::string* name = nullptr) {
  const auto text = read_small_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  const auto close = text->rfind(')');
  const auto open = text->find('(');
  if (name != nullptr && open < close && close != std::string::npos) *name = text->substr(open + 1, close - open - 1);
  if (close == std::string::npos || close + 2 > text->size()) return std::nullopt;
  std::vector<std::string> fields;
  std::size_t at = close + 2;
  while (at < text->size()) {
    const auto end = text->find_first_of(" \n", at);
    fields.push_back(text->substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return fields;
}

std::string name_of_process(pid_t pid) {
  std::string name;
  stat_fields(pid, &name);
  return printable(name, 32);
}

/// Calls `visit` with every number that names an entry of a directory such as /proc.
template <typename Visit>
void for_each_number(const std::string& directory, Visit visit) {
  DIR* entries = opendir(directory.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    const std::string name = entry->d_name;
    if (const auto number = parse_number<pid_t>(name)) visit(*number);
  }
  closedir(entries);
}

void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

/// The kernel's own list of a process's children; null where it keeps none.
std::optional<std::vector<pid_t>> listed_children(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  std::optional<std::vector<pid_t>> children;
  for_each_number(tasks, [&](pid_t task) {
    const auto text = read_small_file(tasks + "/" + std::to_string(task) + "/children");
    if (!text) return;
    if (!children) children.emplace();
    std::string_view rest = *text;
    while (const auto child = take_number<pid_t>(rest)) {
      children->push_back(*child);
      if (!rest.empty()) rest.remove_prefix(1);
    }
  });
  return children;
}

/// Parents of all processes, for kernels without lists of children.
std::vector<pid_t> scanned_descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for_each_number("/proc", [&](pid_t pid) {
    const auto fields = stat_fields(pid);
    if (fields && fields->size() > 1) children.emplace(std::atoi((*fields)[1].c_str()), pid);  // NOLINT(cert-err34-c)
  });
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto it = begin; it != end; ++it) found.push_back(it->second);
  }
  found.erase(found.begin());
  return found;
}

/// CPU time of a process and of its threads that have ended; null where there is no such process.
std::optional<std::int64_t> process_clock_ns(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return std::nullopt;
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// The same with children that have ended and were waited for. Theirs is known in ticks only.
std::optional<std::int64_t> process_cpu_ns(pid_t pid) {
  static const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  const auto own = process_clock_ns(pid);
  const auto fields = stat_fields(pid);
  if (!own || !fields || fields->size() < 15) return own;
  const std::int64_t ticks = std::atoll((*fields)[13].c_str()) + std::atoll((*fields)[14].c_str());  // NOLINT
  return *own + ticks * tick_ns;
}

std::optional<ThreadUse> read_schedstat(const std::string& path) {
  const auto text = read_word(path);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const auto cpu_ns = take_number<std::int64_t>(rest);
  if (!cpu_ns || rest.empty()) return std::nullopt;
  rest.remove_prefix(1);
  const auto wait_ns = take_number<std::int64_t>(rest);
  if (!wait_ns) return std::nullopt;
  ThreadUse use;
  use.cpu_ns = *cpu_ns;
  use.wait_ns = *wait_ns;
  return use;
}

/// Whether one of the process's threads ran last on one of `cpus`.
bool last_ran_on(pid_t pid, const std::vector<std::int64_t>& cpus) {
  bool found = false;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for_each_number(tasks, [&](pid_t task) {
    const auto fields = stat_fields(task);
    if (!fields || fields->size() < 37) return;
    const std::int64_t cpu = std::atoll((*fields)[36].c_str());  // NOLINT(cert-err34-c): the kernel wrote it
    found = found || std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
  });
  return found;
}

}  // namespace

std::string boot_id() {
  return read_word("/proc/sys/kernel/random/boot_id").value_or("");
}

std::string pid_namespace() {
  std::error_code error;
  const auto name = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  return error ? "" : name.string();
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::optional<std::int64_t> start_ticks(pid_t pid) {
  const auto fields = stat_fields(pid);
  // A zombie has ended: whoever waits for it is not to be waited for.
  if (!fields || fields->size() < 20 || (*fields)[0] == "Z" || (*fields)[0] == "X") return std::nullopt;
  return std::atoll((*fields)[19].c_str());  // NOLINT(cert-err34-c): the kernel wrote it
}

bool is_stopped(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields && !fields->empty() && (*fields)[0] == "T";
}

std::vector<pid_t> descendants(pid_t root) {
  if (!listed_children(getpid())) return scanned_descendants(root);
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (const auto children = listed_children(found[i])) found.insert(found.end(), children->begin(), children->end());
  }
  found.erase(found.begin());
  return found;
}

std::vector<MarkedProcess> processes_with_variable(const std::string& variable, const std::string& begin) {
  std::vector<MarkedProcess> found;
  const std::string wanted = variable + '=';
  for_each_number("/proc", [&](pid_t pid) {
    if (pid == getpid()) return;
    const auto text = read_small_file("/proc/" + std::to_string(pid) + "/environ");
    if (!text) return;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\0', at), text->size());
      const std::string_view entry = std::string_view(*text).substr(at, end - at);
      at = end + 1;
      if (!entry.starts_with(wanted)) continue;
      const auto value = entry.substr(wanted.size());
      if (value.starts_with(begin)) found.push_back({pid, name_of_process(pid), std::string(value)});
      return;
    }
  });
  return found;
}

std::vector<pid_t> processes_with_environment(const std::string& entry) {
  const auto equals = entry.find('=');
  const std::string value = entry.substr(equals + 1);
  std::vector<pid_t> found;
  for (const auto& one : processes_with_variable(entry.substr(0, equals), value)) {
    if (one.value == value) found.push_back(one.pid);
  }
  return found;
}

std::vector<std::string> names_above(pid_t pid) {
  std::vector<std::string> names;
  while (pid > 1 && names.size() < 1000) {
    const auto fields = stat_fields(pid);
    pid = fields && fields->size() > 1 ? std::atoi((*fields)[1].c_str()) : 0;  // NOLINT(cert-err34-c)
    if (pid > 0) names.push_back(name_of_process(pid));
  }
  return names;
}

std::optional<std::int64_t> stat_number(pid_t pid, std::size_t field) {
  const auto fields = stat_fields(pid);
  if (!fields || field < kFirstStatField || field - kFirstStatField >= fields->size()) return std::nullopt;
  return parse_number<std::int64_t>((*fields)[field - kFirstStatField]);
}

TreeUse tree_use(const std::vector<pid_t>& processes) {
  TreeUse use;
  for (const pid_t pid : processes) {
    add(use.cpu_ns, process_cpu_ns(pid));
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    for_each_number(tasks, [&](pid_t task) {
      const std::string base = tasks + "/" + std::to_string(task);
      auto thread = read_schedstat(base + "/schedstat");
      if (!thread) return;
      if (const auto status = read_small_file(base + "/status")) {
        thread->involuntary_switches = integer_after(*status, "nonvoluntary_ctxt_switches:");
      }
      use.threads[task] = *thread;
    });
  }
  return use;
}

std::vector<ProcessTime> process_times() {
  std::vector<ProcessTime> found;
  for_each_number("/proc", [&](pid_t pid) {
    ProcessTime one;
    const auto fields = stat_fields(pid, &one.name);
    const auto used = process_clock_ns(pid);
    if (!fields || fields->size() < 20 || !used) return;
    one.pid = pid;
    one.name = printable(one.name, 40);
    one.cpu_ns = *used;
    one.start_ticks = std::atoll((*fields)[19].c_str());  // NOLINT(cert-err34-c): the kernel wrote it
    found.push_back(std::move(one));
  });
  return found;
}

std::vector<ProcessUse> busiest_since(const std::vector<ProcessTime>& before, const std::vector<std::int64_t>& cpus,
                                      std::size_t most) {
  std::map<std::pair<pid_t, std::int64_t>, std::int64_t> earlier;
  for (const auto& one : before) earlier[{one.pid, one.start_ticks}] = one.cpu_ns;
  auto own = descendants(getpid());
  own.push_back(getpid());
  std::vector<ProcessUse> uses;
  for (const auto& one : process_times()) {
    if (std::find(own.begin(), own.end(), one.pid) != own.end()) continue;
    const auto it = earlier.find({one.pid, one.start_ticks});
    const std::int64_t used = one.cpu_ns - (it == earlier.end() ? 0 : it->second);  // else it began meanwhile
    if (used > 0 && last_ran_on(one.pid, cpus)) uses.push_back({one.pid, one.name, used});
  }
  std::sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.cpu_ns > b.cpu_ns; });
  if (uses.size() > most) uses.resize(most);
  return uses;
}

std::vector<BusyProcess> busiest_processes(const std::vector<std::int64_t>& cpus, std::size_t most,
                                           std::int64_t interval_ns) {
  const std::int64_t begin = monotonic_ns();
  const auto before = process_times();
  sleep_until_ns(monotonic_ns() + interval_ns);
  const auto uses = busiest_since(before, cpus, most);
  const auto elapsed = static_cast<double>(monotonic_ns() - begin);
  std::vector<BusyProcess> busy;
  for (const auto& use : uses) {
    const double share = static_cast<double>(use.cpu_ns) / elapsed;
    if (share >= kLeastBusy) busy.push_back({use.pid, use.name, share});
  }
  return busy;
}

std::int64_t resident_bytes(const std::vector<pid_t>& processes) {
  static const std::int64_t page = sysconf(_SC_PAGESIZE);
  std::int64_t bytes = 0;
  for (const pid_t pid : processes) {
    const auto text = read_small_file("/proc/" + std::to_string(pid) + "/statm");
    if (!text) continue;
    const auto space = text->find(' ');
    auto rest = std::string_view(*text).substr(space == std::string::npos ? text->size() : space + 1);
    bytes += take_number<std::int64_t>(rest).value_or(0) * page;
  }
  return bytes;
}

std::optional<std::int64_t> proportional_bytes(const std::vector<pid_t>& processes) {
  std::optional<std::int64_t> bytes;
  for (const pid_t pid : processes) {
    const auto text = read_small_file("/proc/" + std::to_string(pid) + "/smaps_rollup");
    if (!text) continue;  // ended meanwhile
    if (const auto kilobytes = integer_after(*text, "Pss:")) add(bytes, *kilobytes * 1024);
  }
  return bytes;
}

}  // namespace assay::platform
