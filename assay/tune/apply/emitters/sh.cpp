#include "assay/platform/cgroup.hpp"
#include "assay/tune/apply/emitters/emission.hpp"

namespace assay::tune {
namespace {

/// Sets $cpus to those of the instance.
std::string choose_cpus(const Emission& emission) {
  std::string text = "case \"$ASSAY_INSTANCE\" in\n";
  for (std::size_t i = 0; i < emission.cpus.size(); ++i) {
    text += fmt::format("  {}) cpus={} ;;\n", i, platform::cpu_list(emission.cpus[i]));
  }
  text += fmt::format("  *) echo \"ASSAY_INSTANCE=$ASSAY_INSTANCE: there are instances 0 to {}\" >&2; exit 2 ;;\n",
                      emission.cpus.size() - 1);
  return text + "esac\n";
}

std::string memory_policy(MemoryBind bind) {
  const char* flag = bind == MemoryBind::local ? "--localalloc" : "--interleave=all";
  return fmt::format(
      "if command -v numactl >/dev/null; then\n"
      "  set -- numactl {} -- \"$@\"\n"
      "else\n"
      "  echo \"memory_bind={} is not set: numactl is not installed\" >&2\n"
      "fi\n",
      flag, name_of(bind));
}

}  // namespace

std::string emit_sh(const Emission& emission) {
  std::vector<std::string> cannot;
  if (emission.cpus.empty() && emission.tuning.settings.affinity != Affinity::none) cannot.emplace_back("affinity");
  std::string text = "#!/bin/sh\n# Starts a program with a tuning: sh THIS_FILE PROGRAM ARGUMENTS\n";
  if (emission.instances > 1) {
    text +=
        fmt::format("# Start it {} times, with ASSAY_INSTANCE=0 to {}.\n", emission.instances, emission.instances - 1);
  }
  text += comments(emission, cannot) + queue_comment(emission);
  text += shell_exports(emission);
  text += "export ASSAY_INSTANCE=\"${ASSAY_INSTANCE:-0}\"\n";
  if (!emission.cpus.empty()) text += choose_cpus(emission) + "set -- taskset -c \"$cpus\" \"$@\"\n";
  const auto bind = emission.tuning.settings.memory_bind.value_or(MemoryBind::none);
  if (bind != MemoryBind::none) text += memory_policy(bind);
  return text + "exec \"$@\"\n";
}

}  // namespace assay::tune
