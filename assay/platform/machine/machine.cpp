#include "assay/platform/machine/machine.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <tuple>

#include "assay/core/text/hash.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/machine/cpuinfo.hpp"
#include "assay/platform/memory.hpp"
#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

constexpr std::size_t kMostCpuinfo = 32U << 20;  // some 3 KiB for each CPU

// A fixed list, and only of what Linux 5.18 and later show: a newer kernel that knows more flags must not make another
// machine of an old one.
constexpr std::array<std::string_view, 36> kFlags{"avx",          "avx2",        "fma",           "f16c",
                                                  "avx_vnni",     "avx512f",     "avx512dq",      "avx512cd",
                                                  "avx512bw",     "avx512vl",    "avx512ifma",    "avx512vbmi",
                                                  "avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq",
                                                  "avx512_bf16",  "avx512_fp16", "avx512_4vnniw", "avx512_4fmaps",
                                                  "amx_tile",     "amx_int8",    "amx_bf16",      "asimd",
                                                  "asimdhp",      "asimddp",     "asimdfhm",      "bf16",
                                                  "i8mm",         "sve",         "sve2",          "svebf16",
                                                  "svei8mm",      "svef32mm",    "sme",           "vsx"};

std::vector<std::string> flags_of(const CpuinfoEntry& entry) {
  std::istringstream all(cpuinfo_value(entry, {"flags", "Features"}).value_or(""));
  std::vector<std::string> found;
  for (std::string flag; all >> flag;) {
    if (std::find(kFlags.begin(), kFlags.end(), flag) != kFlags.end()) found.push_back(flag);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// Text of the kernel may hold anything; what goes into JSON must be UTF-8.
std::optional<std::string> clean(const std::optional<std::string>& text) {
  return text && !text->empty() ? std::optional(printable(*text, 200)) : std::nullopt;
}

CpuModel model_of(const CpuinfoEntry& entry) {
  CpuModel cpu;
  cpu.name = clean(cpuinfo_value(entry, {"model name", "cpu", "Processor"}));
  cpu.vendor = clean(cpuinfo_value(entry, {"vendor_id", "CPU implementer"}));
  cpu.family = clean(cpuinfo_value(entry, {"cpu family", "CPU architecture"}));
  cpu.model = clean(cpuinfo_value(entry, {"model", "CPU part"}));
  cpu.stepping = clean(cpuinfo_value(entry, {"stepping", "CPU revision", "revision"}));
  cpu.flags = flags_of(entry);
  return cpu;
}

/// The kinds of CPU among those allowed, each with how many there are, in an order that numbers do not change.
std::vector<CpuModel> models_of(const std::string& cpuinfo, const Topology& topology) {
  const auto entries = parse_cpuinfo(cpuinfo);
  std::map<std::string, CpuModel> kinds;
  for (const auto& cpu : topology.cpus) {
    const auto it = entries.find(cpu.number);
    if (it == entries.end()) continue;
    CpuModel model = model_of(it->second);
    const auto place = kinds.try_emplace(canonical_json(to_json(model)), model).first;
    ++place->second.threads;
  }
  std::vector<CpuModel> out;
  for (auto& [text, model] : kinds) out.push_back(std::move(model));
  return out;
}

std::optional<std::string> os_name() {
  const auto text = read_small_file("/etc/os-release");
  if (!text) return std::nullopt;
  const std::string key = "PRETTY_NAME=\"";
  const auto at = text->find(key);
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + key.size();
  return clean(text->substr(begin, text->find('"', begin) - begin));
}

std::optional<std::string> dmi(const char* first, const char* second) {
  std::string out;
  for (const char* name : {first, second}) {
    const auto word = read_word(std::string("/sys/class/dmi/id/") + name);
    if (word && !word->empty()) out += (out.empty() ? "" : " ") + *word;
  }
  return clean(out);
}

About about_this(const std::string& cpuinfo, const Topology& whole, const std::optional<Gpus>& gpus) {
  About about;
  const auto entries = parse_cpuinfo(cpuinfo);
  about.os = os_name();
  about.board = dmi("sys_vendor", "product_name");
  about.bios = dmi("bios_vendor", "bios_version");
  if (!entries.empty()) about.microcode = clean(cpuinfo_value(entries.begin()->second, {"microcode"}));
  if (gpus) about.gpu_driver = gpus->driver;
  about.cpu_list = cpu_list(allowed_cpus());
  about.machine_cpus = static_cast<std::int64_t>(whole.cpus.size());
  about.memory_bytes = total_memory_bytes();
  return about;
}

}  // namespace

std::int64_t nominal_memory(std::int64_t bytes) {
  if (bytes <= 8) return bytes;
  std::int64_t power = 1;
  while (power * 2 <= bytes) power *= 2;
  const std::int64_t step = power / 8;
  return (bytes + step - 1) / step * step;
}

Identity identity_of(const MachineFacts& facts) {
  Identity identity;
  identity.architecture = facts.architecture;
  identity.cpus = models_of(facts.cpuinfo, facts.topology);
  identity.sockets = facts.topology.sockets;
  identity.nodes = static_cast<std::int64_t>(facts.topology.nodes.size());
  identity.cores = facts.topology.cores;
  identity.threads = static_cast<std::int64_t>(facts.topology.cpus.size());
  identity.shape = shape(facts.topology);
  identity.memory_bytes = nominal_memory(facts.memory_bytes);
  if (facts.cpu_quota && *facts.cpu_quota < static_cast<double>(identity.threads)) identity.cpu_quota = facts.cpu_quota;
  identity.gpus = facts.gpus;
  for (auto& gpu : identity.gpus) {
    if (gpu.memory_bytes) gpu.memory_bytes = nominal_memory(*gpu.memory_bytes);
  }
  std::sort(identity.gpus.begin(), identity.gpus.end(), [](const Gpu& a, const Gpu& b) {
    return std::tie(a.name, a.memory_bytes) < std::tie(b.name, b.memory_bytes);
  });
  identity.virtual_machine = facts.surroundings.virtual_machine;
  identity.container = facts.surroundings.container;
  return identity;
}

std::string id_of(const Identity& identity) {
  return hash_hex(canonical_json(to_json(identity)));
}

Machine this_machine() {
  utsname names{};
  uname(&names);
  const Topology whole = read_topology();
  const auto gpus = read_gpus();
  MachineFacts facts;
  facts.architecture = names.machine;
  facts.cpuinfo = read_small_file("/proc/cpuinfo", kMostCpuinfo).value_or("");
  facts.topology = restricted_to(whole, allowed_cpus());
  facts.memory_bytes = total_memory_bytes();
  facts.cpu_quota = read_cgroup_limits().cpus;
  if (gpus) facts.gpus = gpus->gpus;
  facts.surroundings = read_surroundings(hypervisor_name());
  Machine machine;
  machine.identity = identity_of(facts);
  machine.id = id_of(machine.identity);
  machine.about = about_this(facts.cpuinfo, whole, gpus);
  machine.topology = std::move(facts.topology);
  return machine;
}

json description_of(const Machine& machine) {
  return {{"identity", to_json(machine.identity)}, {"about", to_json(machine.about)}};
}

}  // namespace assay::platform
