#include "assay/platform/machine/surroundings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

namespace fs = std::filesystem;
using Names = std::pair<const char*, const char*>;

// What is found on the left, anywhere in the text, means the name on the right; the first that fits wins.
constexpr std::array<Names, 10> kVendors{{{"firecracker", "firecracker"},
                                          {"amazon ec2", "ec2"},
                                          {"google compute engine", "google"},
                                          {"vmware", "vmware"},
                                          {"virtualbox", "virtualbox"},
                                          {"innotek", "virtualbox"},
                                          {"microsoft corporation virtual machine", "hyperv"},
                                          {"xen", "xen"},
                                          {"qemu", "kvm"},
                                          {"kvm", "kvm"}}};
constexpr std::array<Names, 6> kCpuNames{{{"kvmkvmkvm", "kvm"},
                                          {"microsoft hv", "hyperv"},
                                          {"vmwarevmware", "vmware"},
                                          {"xenvmmxenvmm", "xen"},
                                          {"tcgtcgtcg", "qemu"},
                                          {"bhyve", "bhyve"}}};
constexpr std::array<Names, 8> kGroups{{{"kubepods", "kubernetes"},
                                        {"/docker/", "docker"},
                                        {"docker-", "docker"},
                                        {"libpod", "podman"},
                                        {"/lxc", "lxc"},
                                        {"machine.slice/systemd-nspawn", "systemd-nspawn"},
                                        {"containerd", "containerd"},
                                        {"/garden/", "garden"}}};

template <std::size_t N>
std::optional<std::string> lookup(const std::array<Names, N>& table, std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& [part, name] : table) {
    if (text.find(part) != std::string::npos) return name;
  }
  return std::nullopt;
}

std::string word_of(const fs::path& path) {
  return read_word(path).value_or("");
}

std::optional<std::string> find_virtual_machine(const std::optional<std::string>& hypervisor, const fs::path& root) {
  const std::string vendor =
      word_of(root / "sys/class/dmi/id/sys_vendor") + " " + word_of(root / "sys/class/dmi/id/product_name");
  // The bare-metal machines of a cloud carry its name too: only a hypervisor's flag makes a virtual machine.
  const std::string cpuinfo = read_small_file(root / "proc/cpuinfo").value_or("");
  const bool flag = cpuinfo.find(" hypervisor") != std::string::npos;
  if (const auto type = read_word(root / "sys/hypervisor/type"); type && !type->empty()) return *type;
  if (!flag && !hypervisor && lookup(kVendors, vendor) != "kvm") return std::nullopt;
  if (auto name = lookup(kVendors, vendor)) return name;
  if (hypervisor) return lookup(kCpuNames, *hypervisor).value_or("unknown");
  return "unknown";
}

std::optional<std::string> find_container(const fs::path& root) {
  std::error_code ignored;
  if (const auto word = read_word(root / "run/systemd/container"); word && !word->empty()) return *word;
  if (fs::exists(root / "run/.containerenv", ignored)) return "podman";
  const std::string groups = read_small_file(root / "proc/1/cgroup").value_or("");
  auto by_group = lookup(kGroups, groups);
  if (by_group == "kubernetes") return by_group;  // it runs docker's images, which bring docker's file
  if (fs::exists(root / ".dockerenv", ignored)) return "docker";
  if (by_group) return by_group;
  if (const auto environment = read_small_file(root / "proc/1/environ")) {
    const std::string text = '\0' + *environment;
    const std::string key("\0container=", 11);
    if (const auto at = text.find(key); at != std::string::npos) return std::string(text.c_str() + at + key.size());
  }
  return std::nullopt;
}

}  // namespace

Surroundings read_surroundings(const std::optional<std::string>& hypervisor, const fs::path& root) {
  return {find_virtual_machine(hypervisor, root), find_container(root)};
}

std::optional<std::string> hypervisor_name() {
#ifdef __x86_64__
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kHypervisorBit = 1U << 31;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kHypervisorBit) == 0) return std::nullopt;
  __cpuid(0x40000000, a, b, c, d);
  std::array<char, 13> name{};
  std::memcpy(name.data(), &b, 4);
  std::memcpy(name.data() + 4, &c, 4);
  std::memcpy(name.data() + 8, &d, 4);
  return std::string(name.data());
#else
  return std::nullopt;
#endif
}

}  // namespace assay::platform
