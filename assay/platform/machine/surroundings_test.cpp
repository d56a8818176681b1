#include "assay/platform/machine/surroundings.hpp"

#include <gtest/gtest.h>

#include "assay/platform/root_fixture.hpp"

namespace assay::platform {
namespace {

const std::string kPlain = "flags\t\t: fpu avx2 lahf_lm\n";
const std::string kVirtual = "flags\t\t: fpu rdrand hypervisor lahf_lm\n";

TEST(Surroundings, bare_metal_has_none) {
  FakeRoot root;
  root.file("proc/cpuinfo", kPlain).file("proc/1/cgroup", "0::/init.scope\n");
  root.file("sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
  const auto s = read_surroundings(std::nullopt, root.path());
  EXPECT_FALSE(s.virtual_machine || s.container);
}

TEST(Surroundings, a_hypervisor_is_named_by_its_firmware_or_its_cpus) {
  const struct {
    const char* vendor;
    const char* product;
    std::optional<std::string> cpu_name;
    const char* expected;
  } kCases[] = {{"QEMU", "Standard PC (Q35 + ICH9, 2009)", "KVMKVMKVM", "kvm"},
                {"VMware, Inc.", "VMware7,1", "VMwareVMware", "vmware"},
                {"Microsoft Corporation", "Virtual Machine", "Microsoft Hv", "hyperv"},
                {"Amazon EC2", "c5.large", "KVMKVMKVM", "ec2"},
                {"innotek GmbH", "VirtualBox", {}, "virtualbox"},
                {"Google", "Google Compute Engine", "KVMKVMKVM", "google"},
                {"", "", "KVMKVMKVM", "kvm"},
                {"", "", "Microsoft Hv", "hyperv"},
                {"", "", "Something new", "unknown"},
                {"", "", {}, "unknown"}};
  for (const auto& one : kCases) {
    FakeRoot root;
    root.file("proc/cpuinfo", kVirtual);
    root.file("sys/class/dmi/id/sys_vendor", one.vendor).file("sys/class/dmi/id/product_name", one.product);
    EXPECT_EQ(read_surroundings(one.cpu_name, root.path()).virtual_machine, one.expected) << one.vendor;
  }
}

TEST(Surroundings, the_bare_metal_of_a_cloud_is_no_virtual_machine) {
  FakeRoot root;
  root.file("proc/cpuinfo", kPlain).file("sys/class/dmi/id/sys_vendor", "Amazon EC2");
  root.file("sys/class/dmi/id/product_name", "c5.metal");
  EXPECT_FALSE(read_surroundings(std::nullopt, root.path()).virtual_machine.has_value());
}

TEST(Surroundings, an_arm_machine_without_flags_is_known_by_its_firmware) {
  FakeRoot root;
  root.file("proc/cpuinfo", "Features\t: fp asimd\n").file("sys/class/dmi/id/sys_vendor", "QEMU");
  EXPECT_EQ(read_surroundings(std::nullopt, root.path()).virtual_machine, "kvm");
}

TEST(Surroundings, xen_says_so_itself) {
  FakeRoot root;
  root.file("proc/cpuinfo", kVirtual).file("sys/hypervisor/type", "xen\n");
  EXPECT_EQ(read_surroundings(std::nullopt, root.path()).virtual_machine, "xen");
}

TEST(Surroundings, containers_are_known_by_the_marks_they_leave) {
  const struct {
    const char* file;
    std::string text;
    const char* expected;
  } kCases[] = {{".dockerenv", "", "docker"},
                {"run/.containerenv", "", "podman"},
                {"run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"},
                {"proc/1/cgroup", "2:cpu:/docker/0a1b\n", "docker"},
                {"proc/1/cgroup", "0::/kubepods/besteffort/pod1/2\n", "kubernetes"},
                {"proc/1/cgroup", "0::/system.slice/docker-0a.scope\n", "docker"},
                {"proc/1/cgroup", "1:name=systemd:/lxc/web\n", "lxc"},
                {"proc/1/environ", std::string("A=1\0container=lxc\0B=2\0", 22), "lxc"}};
  for (const auto& one : kCases) {
    FakeRoot root;
    root.file(one.file, one.text);
    EXPECT_EQ(read_surroundings(std::nullopt, root.path()).container, one.expected) << one.file << one.text;
  }
}

TEST(Surroundings, kubernetes_is_told_from_the_docker_it_runs) {
  FakeRoot root;
  root.file(".dockerenv", "").file("proc/1/cgroup", "4:cpu:/kubepods/burstable/pod7/8\n");
  EXPECT_EQ(read_surroundings(std::nullopt, root.path()).container, "kubernetes");
}

TEST(Surroundings, a_variable_that_only_ends_in_container_is_none) {
  FakeRoot root;
  root.file("proc/1/environ", std::string("my_container=x\0", 15));
  EXPECT_FALSE(read_surroundings(std::nullopt, root.path()).container.has_value());
}

}  // namespace
}  // namespace assay::platform
