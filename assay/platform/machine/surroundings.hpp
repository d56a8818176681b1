#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace assay::platform {

/// What lies between this process and the hardware. Null: nothing that could be seen.
struct Surroundings {
  std::optional<std::string>
      virtual_machine;  ///< kvm, firecracker, vmware, hyperv, xen, …; "unknown" where it hides its name
  std::optional<std::string> container;  ///< docker, podman, kubernetes, lxc, systemd-nspawn, …
};

/// `root` stands for / in every path. `hypervisor` is what hypervisor_name() tells.
Surroundings read_surroundings(const std::optional<std::string>& hypervisor, const std::filesystem::path& root = "/");

/// The 12 letters by which a hypervisor names itself to the CPUs it emulates ("KVMKVMKVM"); null where there is none or
/// the processor has no such instruction.
std::optional<std::string> hypervisor_name();

}  // namespace assay::platform
