#include "assay/platform/cpus.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

/// A set that holds any CPU number the kernel knows, not only the first 1024.
class CpuSet {
 public:
  static constexpr int kMost = 8192;
  CpuSet() : set_(CPU_ALLOC(kMost)) { CPU_ZERO_S(size(), set_); }
  ~CpuSet() { CPU_FREE(set_); }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;
  static std::size_t size() { return CPU_ALLOC_SIZE(kMost); }
  cpu_set_t* get() { return set_; }

 private:
  cpu_set_t* set_;
};

}  // namespace

std::vector<std::int64_t> allowed_cpus() {
  CpuSet set;
  std::vector<std::int64_t> cpus;
  if (sched_getaffinity(0, CpuSet::size(), set.get()) != 0) return cpus;
  for (int cpu = 0; cpu < CpuSet::kMost; ++cpu) {
    if (CPU_ISSET_S(cpu, CpuSet::size(), set.get())) cpus.push_back(cpu);
  }
  return cpus;
}

bool pin_to(const std::vector<std::int64_t>& cpus) {
  CpuSet set;
  for (const auto cpu : cpus) {
    if (cpu >= 0 && cpu < CpuSet::kMost) CPU_SET_S(static_cast<std::size_t>(cpu), CpuSet::size(), set.get());
  }
  return sched_setaffinity(0, CpuSet::size(), set.get()) == 0;
}

bool bind_memory(MemoryBind bind) {
  switch (bind) {
    case MemoryBind::none:
      return true;
    case MemoryBind::local:
      return syscall(SYS_set_mempolicy, MPOL_LOCAL, nullptr, 0) == 0;
    case MemoryBind::interleave: {
      // All nodes that have memory; the mask of 1024 nodes is the kernel's own limit.
      unsigned long nodes[16] = {};
      const auto online = read_word("/sys/devices/system/node/has_memory");
      if (!online) return false;
      for (std::size_t at = 0; at < online->size();) {
        char* end = nullptr;
        const long first = std::strtol(online->c_str() + at, &end, 10);
        long last = first;
        if (*end == '-') last = std::strtol(end + 1, &end, 10);
        for (long node = first; node <= last && node < 1024; ++node) nodes[node / 64] |= 1UL << (node % 64);
        at = static_cast<std::size_t>(end - online->c_str()) + 1;
      }
      return syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, nodes, 1024) == 0;
    }
  }
  return false;
}

}  // namespace assay::platform
