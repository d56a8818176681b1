#include "assay/platform/machine/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace assay::platform {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Cpus = std::vector<std::int64_t>;

Topology recorded(const std::string& name) {
  return topology_from_xml(std::filesystem::path(ASSAY_RECORDED) / "machines" / (name + ".xml"));
}

/// Two sockets of 24 cores with two threads as Linux numbers them: sockets hold cores 0-23 and 24-47, and the second
/// thread of core i is i + 48.
const Topology& server() {
  static const Topology topology = recorded("server_2s_24c48t");
  return topology;
}

Cpus range(std::int64_t first, std::int64_t last) {
  Cpus out(static_cast<std::size_t>(last - first + 1));
  std::iota(out.begin(), out.end(), first);
  return out;
}

Cpus joined(Cpus a, const Cpus& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Places of sockets, nodes or cores that some CPUs are in.
template <typename Where>
std::set<std::int64_t> places(const Topology& topology, const Cpus& cpus, Where where) {
  std::set<std::int64_t> found;
  for (const auto& cpu : topology.cpus) {
    if (std::find(cpus.begin(), cpus.end(), cpu.number) != cpus.end()) found.insert(where(cpu));
  }
  return found;
}

std::int64_t socket_of(const Cpu& cpu) {
  return cpu.socket;
}
std::int64_t node_of(const Cpu& cpu) {
  return cpu.node.value_or(-1);
}
std::int64_t core_of(const Cpu& cpu) {
  return cpu.core;
}

TEST(Placement, without_an_affinity_nothing_is_pinned) {
  EXPECT_THAT(cpus_of_instance(server(), std::nullopt, 0, 2), IsEmpty());
  EXPECT_THAT(cpus_of_instance(server(), Affinity::none, 0, 2), IsEmpty());
  EXPECT_THAT(cpus_of_instance(Topology{}, Affinity::compact, 0, 2), IsEmpty());
}

TEST(Placement, one_compact_instance_has_cores_first_and_their_second_threads_last) {
  EXPECT_EQ(cpus_of_instance(server(), Affinity::compact, 0, 1), range(0, 95));
}

TEST(Placement, one_spread_instance_takes_turns_between_sockets) {
  const auto cpus = cpus_of_instance(server(), Affinity::spread, 0, 1);
  ASSERT_EQ(cpus.size(), 96u);
  EXPECT_THAT(Cpus(cpus.begin(), cpus.begin() + 6), ElementsAre(0, 24, 1, 25, 2, 26));
  EXPECT_THAT(Cpus(cpus.begin() + 48, cpus.begin() + 52), ElementsAre(48, 72, 49, 73));
}

TEST(Placement, two_compact_instances_have_a_socket_each) {
  EXPECT_EQ(cpus_of_instance(server(), Affinity::compact, 0, 2), joined(range(0, 23), range(48, 71)));
  EXPECT_EQ(cpus_of_instance(server(), Affinity::compact, 1, 2), joined(range(24, 47), range(72, 95)));
}

TEST(Placement, two_spread_instances_have_half_of_each_socket) {
  const auto cpus = cpus_of_instance(server(), Affinity::spread, 1, 2);
  // Every other core of both sockets, with both threads: 1, 3, … 23 and 25, 27, … 47.
  std::set<std::int64_t> expected;
  for (std::int64_t core = 1; core < 48; core += 2) {
    expected.insert(core);
    expected.insert(core + 48);
  }
  EXPECT_EQ(std::set<std::int64_t>(cpus.begin(), cpus.end()), expected);
  EXPECT_THAT(Cpus(cpus.begin(), cpus.begin() + 4), ElementsAre(1, 25, 3, 27));
}

TEST(Placement, compact_instances_of_four_nodes_stay_in_one) {
  const auto topology = recorded("server_2s_24c48t_4nodes");  // nodes hold cores 0-11, 12-23, 24-35, 36-47
  EXPECT_EQ(cpus_of_instance(topology, Affinity::compact, 1, 4), joined(range(12, 23), range(60, 71)));
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(places(topology, cpus_of_instance(topology, Affinity::compact, i, 8), node_of).size(), 1u);
  }
}

TEST(Placement, shares_may_differ_by_one_core_to_stay_in_a_socket) {
  // Sockets of 5 cores, 4 instances: 10 = 3 + 2 + 3 + 2, and 3 + 2 fill a socket.
  const auto topology = topology_from_synthetic("pack:2 [numa] core:5 pu:1");
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto cpus = cpus_of_instance(topology, Affinity::compact, i, 4);
    EXPECT_EQ(places(topology, cpus, socket_of).size(), 1u) << i;
    EXPECT_TRUE(cpus.size() == 2 || cpus.size() == 3);
  }
}

TEST(Placement, uneven_sockets_are_filled_with_whole_instances) {
  const auto topology = recorded("server_2s_uneven");  // 8 cores and 4 cores
  // Three instances of 4: two on the first socket, one on the second.
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 0, 3), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 1, 3), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 2, 3), ElementsAre(8, 9, 10, 11));
  // Two of 6 cannot but reach over: equal shares come first.
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 1, 2), ElementsAre(6, 7, 8, 9, 10, 11));
}

TEST(Placement, compact_instances_keep_to_one_last_level_cache) {
  const auto topology = recorded("server_1s_64c128t");  // 8 caches of 8 cores
  EXPECT_EQ(cpus_of_instance(topology, Affinity::compact, 2, 8), joined(range(16, 23), range(80, 87)));
  for (std::int64_t i = 0; i < 16; ++i) {
    const auto cpus = cpus_of_instance(topology, Affinity::compact, i, 16);
    EXPECT_EQ(cpus.front() / 8, cpus[3] / 8) << i;  // 4 cores each
  }
}

TEST(Placement, every_cpu_has_one_owner_and_no_core_two_while_there_are_enough) {
  for (const char* name : {"laptop_4c8t", "laptop_hybrid_6c8c", "server_2s_24c48t_4nodes", "server_2s_uneven"}) {
    const auto topology = recorded(name);
    const auto total = static_cast<std::int64_t>(topology.cpus.size());
    for (const auto affinity : {Affinity::compact, Affinity::spread}) {
      for (std::int64_t count = 1; count <= total; ++count) {
        Cpus all;
        std::size_t cores = 0;
        std::size_t least = topology.cpus.size();
        std::size_t most = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          const auto mine = cpus_of_instance(topology, affinity, i, count);
          all.insert(all.end(), mine.begin(), mine.end());
          const auto used = places(topology, mine, core_of).size();
          cores += used;
          least = std::min(least, used);
          most = std::max(most, used);
        }
        std::sort(all.begin(), all.end());
        ASSERT_EQ(static_cast<std::int64_t>(all.size()), total) << name << " " << count;
        ASSERT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "a CPU has two owners";
        ASSERT_LE(most - least, 1u) << name << " " << count;
        const bool shared = static_cast<std::int64_t>(cores) > topology.cores;
        ASSERT_EQ(shared, count > topology.cores) << name << " " << count;
      }
    }
  }
}

TEST(Placement, more_instances_than_cores_share_the_threads_of_a_core) {
  const auto topology = topology_from_synthetic("pack:1 [numa] core:2 pu:2(indexes=2*2:2*1)");  // cores 0+2 and 1+3
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 0, 3), ElementsAre(0));
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 1, 3), ElementsAre(1, 3));
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 2, 3), ElementsAre(2));
}

TEST(Placement, more_instances_than_cpus_share_one_each) {
  const auto topology = topology_from_synthetic("pack:1 core:2 pu:1");
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 2, 3), ElementsAre(0));
  EXPECT_THAT(cpus_of_instance(topology, Affinity::spread, 4, 5), ElementsAre(0));
}

TEST(Placement, many_spread_instances_alternate_between_sockets) {
  for (std::int64_t i = 0; i < 96; ++i) {
    const auto cpus = cpus_of_instance(server(), Affinity::spread, i, 96);
    ASSERT_EQ(cpus.size(), 1u);
    EXPECT_THAT(places(server(), cpus, socket_of), ElementsAre(i % 2)) << i;
  }
}

TEST(Placement, only_the_cpus_allowed_are_dealt_out) {
  const auto topology = restricted_to(server(), {2, 3, 50, 30, 31, 78});
  // Cores 2 (with 50) and 3 on the first socket, 30 (with 78) and 31 on the second.
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 0, 2), ElementsAre(2, 3, 50));
  EXPECT_THAT(cpus_of_instance(topology, Affinity::compact, 1, 2), ElementsAre(30, 31, 78));
  EXPECT_THAT(cpus_of_instance(topology, Affinity::spread, 0, 2), ElementsAre(2, 30, 50, 78));
  EXPECT_THAT(cpus_of_instance(topology, Affinity::spread, 1, 2), ElementsAre(3, 31));
}

}  // namespace
}  // namespace assay::platform
