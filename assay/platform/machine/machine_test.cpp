#include "assay/platform/machine/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "assay/platform/cpus.hpp"
#include "assay/platform/machine/cpuinfo.hpp"
#include "assay/platform/machine/state.hpp"

namespace assay::platform {
namespace {

using testing::ElementsAre;

constexpr const char* kFlagsLine = "fpu hypervisor avx2 fma avx512f amx_tile sse4_2 avx";

/// One paragraph of /proc/cpuinfo on x86; `mhz` changes from reading to reading.
std::string x86_cpu(std::int64_t number, const std::string& mhz = "2100.000") {
  return "processor\t: " + std::to_string(number) +
         "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: A CPU\nstepping\t: "
         "8\nmicrocode\t: "
         "0x2b\ncpu MHz\t\t: " +
         mhz + "\nflags\t\t: " + kFlagsLine + "\n\n";
}

std::string cpuinfo_for(const Topology& topology, const std::string& mhz = "2100.000") {
  std::string text;
  for (const auto& cpu : topology.cpus) text += x86_cpu(cpu.number, mhz);
  return text;
}

MachineFacts facts_of(const Topology& topology) {
  MachineFacts facts;
  facts.architecture = "x86_64";
  facts.topology = topology;
  facts.cpuinfo = cpuinfo_for(topology);
  for (const auto& node : topology.nodes) facts.memory_bytes += node.memory_bytes;
  return facts;
}

std::filesystem::path machines() {
  return std::filesystem::path(ASSAY_RECORDED) / "machines";
}

Topology recorded(const std::string& name) {
  return topology_from_xml(machines() / (name + ".xml"));
}

/// The same hardware as another boot may number it.
Topology shuffled(Topology t, unsigned seed) {
  std::vector<std::int64_t> numbers(t.cpus.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(seed));
  std::map<std::int64_t, std::int64_t> renamed;
  for (std::size_t i = 0; i < t.cpus.size(); ++i) renamed[t.cpus[i].number] = numbers[i];
  const auto rename = [&](std::vector<std::int64_t>& cpus) {
    for (auto& cpu : cpus) cpu = renamed.at(cpu);
    std::sort(cpus.begin(), cpus.end());
  };
  for (auto& cpu : t.cpus) cpu.number = renamed.at(cpu.number);
  for (auto& node : t.nodes) rename(node.cpus);
  for (auto& cache : t.caches) rename(cache.cpus);
  std::shuffle(t.caches.begin(), t.caches.end(), std::mt19937(seed));
  return t;
}

TEST(Machine, twelve_machines_have_twelve_ids) {
  std::set<std::string> ids;
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(machines())) {
    ++files;
    // The same memory for all, so that it is the topology that tells them apart.
    auto facts = facts_of(topology_from_xml(file.path()));
    facts.memory_bytes = 64LL << 30;
    ids.insert(id_of(identity_of(facts)));
  }
  EXPECT_EQ(files, 12u);
  EXPECT_EQ(ids.size(), 12u);
}

TEST(Machine, a_reboot_changes_numbers_load_frequency_and_free_memory_but_not_the_id) {
  for (const auto& file : std::filesystem::directory_iterator(machines())) {
    const auto before = facts_of(topology_from_xml(file.path()));
    for (unsigned seed = 1; seed <= 3; ++seed) {
      auto after = facts_of(shuffled(topology_from_xml(file.path()), seed));
      after.cpuinfo = cpuinfo_for(after.topology, std::to_string(800 + 700 * seed) + ".123");
      after.memory_bytes -= after.memory_bytes / 1000 * 17 * seed;  // what kernels keep: up to 5.1 %
      EXPECT_EQ(id_of(identity_of(before)), id_of(identity_of(after))) << file.path();
    }
  }
}

TEST(Machine, equivalent_cpusets_are_the_same_machine_and_others_another) {
  const auto whole = recorded("server_2s_24c48t");  // the second thread of core i is i + 48
  const auto id = [&](const std::vector<std::int64_t>& cpus) {
    auto facts = facts_of(restricted_to(whole, cpus));
    facts.memory_bytes = 384LL << 30;
    return id_of(identity_of(facts));
  };
  EXPECT_EQ(id({0, 1, 2, 3}), id({20, 9, 11, 7}));
  EXPECT_EQ(id({0, 1, 2, 3}), id({24, 25, 26, 27}));
  EXPECT_EQ(id({0, 48}), id({47, 95}));
  EXPECT_NE(id({0, 1, 2, 3}), id({0, 1, 2}));
  EXPECT_NE(id({0, 1}), id({0, 48}));
  EXPECT_NE(id({0, 1}), id({0, 24}));
}

TEST(Machine, each_part_of_the_identity_changes_the_id) {
  const auto base = facts_of(recorded("server_1s_16c32t"));
  std::set<std::string> ids{id_of(identity_of(base))};
  const auto with = [&](const std::function<void(MachineFacts&)>& change) {
    MachineFacts facts = base;
    change(facts);
    ids.insert(id_of(identity_of(facts)));
  };
  const auto replace = [](std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  with([&](auto& f) { replace(f.cpuinfo, "GenuineIntel", "AuthenticAMD"); });
  with([&](auto& f) { replace(f.cpuinfo, "143", "85"); });
  with([&](auto& f) { replace(f.cpuinfo, "stepping\t: 8", "stepping\t: 9"); });
  with([&](auto& f) { replace(f.cpuinfo, " amx_tile", ""); });
  with([](auto& f) { f.memory_bytes *= 2; });
  with([](auto& f) { f.cpu_quota = 4.0; });
  with([](auto& f) { f.cpu_quota = 2.5; });
  with([](auto& f) { f.gpus = {{"A100", 40LL << 30}}; });
  with([](auto& f) { f.gpus = {{"A100", 40LL << 30}, {"A100", 40LL << 30}}; });
  with([](auto& f) { f.surroundings.virtual_machine = "kvm"; });
  with([](auto& f) { f.surroundings.container = "docker"; });
  with([](auto& f) { f.architecture = "aarch64"; });
  EXPECT_EQ(ids.size(), 13u);
}

TEST(Machine, what_is_no_part_of_the_identity_does_not_change_the_id) {
  const auto base = facts_of(recorded("server_1s_16c32t"));
  auto other = base;
  other.cpu_quota = 32.0;  // as many as there are: no limit
  std::size_t at = 0;
  while ((at = other.cpuinfo.find("0x2b")) != std::string::npos) other.cpuinfo.replace(at, 4, "0x2c");
  while ((at = other.cpuinfo.find(" sse4_2")) != std::string::npos)  // a flag that a newer kernel adds
    other.cpuinfo.replace(at, 7, " avx_of_2040");
  EXPECT_EQ(id_of(identity_of(base)), id_of(identity_of(other)));
}

TEST(Machine, the_order_of_gpus_does_not_count) {
  auto a = facts_of(recorded("desktop_6c"));
  auto b = a;
  a.gpus = {{"T4", 16LL << 30}, {"A100", 40LL << 30}};
  b.gpus = {{"A100", 40LL << 30}, {"T4", 16LL << 30}};
  EXPECT_EQ(id_of(identity_of(a)), id_of(identity_of(b)));
}

TEST(Machine, flags_that_matter_are_kept_sorted) {
  const auto identity = identity_of(facts_of(recorded("laptop_4c8t")));
  ASSERT_EQ(identity.cpus.size(), 1u);
  EXPECT_THAT(identity.cpus[0].flags, ElementsAre("amx_tile", "avx", "avx2", "avx512f", "fma"));
  EXPECT_EQ(identity.cpus[0].threads, 8);
  EXPECT_EQ(identity.cpus[0].model, "143");
}

TEST(Machine, two_kinds_of_cores_are_two_models_whatever_their_numbers) {
  const auto arm = [](std::int64_t number, const std::string& part) {
    return "processor\t: " + std::to_string(number) +
           "\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU part\t: " + part + "\nCPU revision\t: 2\n\n";
  };
  MachineFacts facts = facts_of(topology_from_synthetic("pack:1 [numa(memory=8GiB)] core:3 pu:1"));
  facts.cpuinfo = arm(0, "0xd46") + arm(1, "0xd47") + arm(2, "0xd46");
  const auto identity = identity_of(facts);
  ASSERT_EQ(identity.cpus.size(), 2u);
  EXPECT_EQ(identity.cpus[0].model, "0xd46");
  EXPECT_EQ(identity.cpus[0].threads, 2);
  EXPECT_EQ(identity.cpus[1].threads, 1);
  EXPECT_THAT(identity.cpus[0].flags, ElementsAre("asimd", "sve"));
  auto renumbered = facts;
  renumbered.cpuinfo = arm(0, "0xd47") + arm(1, "0xd46") + arm(2, "0xd46");
  EXPECT_EQ(id_of(identity), id_of(identity_of(renumbered)));
}

TEST(Machine, memory_is_rounded_up_to_what_was_sold) {
  constexpr std::int64_t kMiB = 1LL << 20;
  constexpr std::int64_t kGiB = 1LL << 30;
  // MemTotal of machines with 2, 8, 16, 24, 32, 96, 384 and 512 GiB, 0.8 to 4 % less than that.
  EXPECT_EQ(nominal_memory(1964 * kMiB), 2 * kGiB);
  EXPECT_EQ(nominal_memory(7836 * kMiB), 8 * kGiB);
  EXPECT_EQ(nominal_memory(15891 * kMiB), 16 * kGiB);
  EXPECT_EQ(nominal_memory(24104 * kMiB), 24 * kGiB);
  EXPECT_EQ(nominal_memory(31458 * kMiB), 32 * kGiB);
  EXPECT_EQ(nominal_memory(96 * kGiB * 97 / 100), 96 * kGiB);
  EXPECT_EQ(nominal_memory(384 * kGiB * 98 / 100), 384 * kGiB);
  EXPECT_EQ(nominal_memory(515'000 * kMiB), 512 * kGiB);
  EXPECT_EQ(nominal_memory(16 * kGiB), 16 * kGiB);
  EXPECT_EQ(nominal_memory(0), 0);
}

TEST(Machine, a_known_identity_has_the_id_that_python_computes) {
  Identity identity;
  identity.architecture = "x86_64";
  identity.sockets = identity.nodes = identity.cores = identity.threads = 1;
  identity.shape = "socket[core[thread]]";
  identity.memory_bytes = 1LL << 30;
  identity.cpu_quota = 0.5;
  // hashlib.sha256(json.dumps({...}, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]
  EXPECT_EQ(id_of(identity), "72217b1a4afee85ce6cd6b59066b8bb5");
}

TEST(Machine, this_one_has_the_same_id_each_time_and_another_with_fewer_cpus) {
  const auto machine = this_machine();
  EXPECT_EQ(machine.id, this_machine().id);
  EXPECT_EQ(machine.id.size(), 32u);
  const auto all = allowed_cpus();
  EXPECT_EQ(machine.topology.cpus.size(), all.size());
  if (all.size() < 2) GTEST_SKIP() << "one CPU only";
  ASSERT_TRUE(pin_to({all[0]}));
  const auto first = this_machine().id;
  ASSERT_TRUE(pin_to({all[1]}));
  const auto second = this_machine().id;
  ASSERT_TRUE(pin_to(all));
  EXPECT_NE(machine.id, first);
  if (machine.topology.cores == static_cast<std::int64_t>(all.size()) && machine.identity.cpus.size() == 1) {
    EXPECT_EQ(first, second) << "one of equal cores is like the other";
  }
}

TEST(Machine, state_is_no_part_of_the_identity) {
  const json identity = to_json(this_machine().identity);
  const json state = to_json(read_state(allowed_cpus()));
  for (const auto& [name, value] : state.items()) EXPECT_FALSE(identity.contains(name)) << name;
}

}  // namespace
}  // namespace assay::platform
