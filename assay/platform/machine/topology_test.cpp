#include "assay/platform/machine/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "assay/core/error.hpp"
#include "assay/platform/cpus.hpp"

namespace assay::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Topology recorded(const std::string& name) {
  return topology_from_xml(std::filesystem::path(ASSAY_RECORDED) / "machines" / (name + ".xml"));
}

std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "nothing was thrown";
}

/// A file of the test's own, gone at its end.
class File {
 public:
  explicit File(const std::string& text)
      : path_(testing::TempDir() + "topology_test_" + std::to_string(getpid()) + ".xml") {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Topology, a_synthetic_machine_has_the_parts_it_was_described_with) {
  const auto t = topology_from_synthetic(
      "pack:2 [numa(memory=64GiB)] l3:1(size=32MiB) l2:8(size=1MiB) core:1 pu:2(indexes=2*16:16*1)");
  EXPECT_EQ(t.sockets, 2);
  EXPECT_EQ(t.cores, 16);
  ASSERT_EQ(t.cpus.size(), 32u);
  ASSERT_EQ(t.nodes.size(), 2u);
  EXPECT_EQ(t.nodes[1].memory_bytes, 64LL << 30);
  EXPECT_EQ(t.nodes[1].cpus.size(), 16u);
  // Linux: the second thread of core 9, which lies on the second socket, is CPU 9 + 16.
  const Cpu& sibling = t.cpus[19];
  EXPECT_EQ(sibling.number, 25);
  EXPECT_EQ(sibling.core, 9);
  EXPECT_EQ(sibling.socket, 1);
  EXPECT_EQ(sibling.node, 1);
  std::size_t l2 = 0;
  for (const auto& cache : t.caches) {
    if (cache.level != 2) continue;
    ++l2;
    EXPECT_EQ(cache.size_bytes, 1 << 20);
    EXPECT_EQ(cache.cpus.size(), 2u);
  }
  EXPECT_EQ(l2, 16u);
}

TEST(Topology, the_shape_says_how_many_of_what_lies_in_what) {
  EXPECT_EQ(shape(topology_from_synthetic("pack:2 [numa] l3:1(size=32MiB) l2:8(size=1MiB) core:1 pu:2")),
            "2 socket[node[L3 32768K[8 L2 1024K[core[2 thread]]]]]");
  EXPECT_EQ(shape(recorded("laptop_hybrid_6c8c")),
            "socket[node[L3 24576K[6 L2 1280K[L1 32K[core[2 thread]]], 8 L2 1280K[L1 32K[core[thread]]]]]]");
  EXPECT_EQ(shape(recorded("server_2s_uneven")),
            "socket[node[L3 20480K[4 L2 256K[L1 32K[core[thread]]]]]], "
            "socket[node[L3 20480K[8 L2 256K[L1 32K[core[thread]]]]]]");
}

TEST(Topology, numbers_are_no_part_of_the_shape) {
  const std::string machine = "pack:2 [numa] l3:1(size=32MiB) core:4 ";
  EXPECT_EQ(shape(topology_from_synthetic(machine + "pu:2")),
            shape(topology_from_synthetic(machine + "pu:2(indexes=2*8:8*1)")));
}

TEST(Topology, equal_cpusets_of_a_machine_leave_the_same_shape_and_others_another) {
  const auto whole = recorded("server_2s_24c48t");  // cores 0-23 and 24-47; the second thread of core i is i + 48
  const auto of = [&](const std::vector<std::int64_t>& cpus) { return shape(restricted_to(whole, cpus)); };
  EXPECT_EQ(of({0}), of({1}));
  EXPECT_EQ(of({0}), of({95}));
  EXPECT_EQ(of({0, 48}), of({30, 78}));        // one core with both threads
  EXPECT_EQ(of({0, 1, 2}), of({30, 40, 25}));  // three cores of one socket
  EXPECT_NE(of({0, 1}), of({0, 48}));          // two cores or two threads of one
  EXPECT_NE(of({0, 1}), of({0, 24}));          // on one socket or two
  EXPECT_NE(of({0}), of({0, 1}));
}

TEST(Topology, what_is_left_for_a_process_is_counted_anew) {
  const auto t = restricted_to(recorded("server_2s_24c48t_4nodes"), {12, 60, 36, 500});
  // CPU 12 and its sibling 60 are the first core of node 1, CPU 36 is the first of node 3.
  EXPECT_EQ(t.sockets, 2);
  EXPECT_EQ(t.cores, 2);
  ASSERT_EQ(t.nodes.size(), 2u);
  EXPECT_EQ(t.nodes[0].number, 1);
  EXPECT_THAT(t.nodes[0].cpus, ElementsAre(12, 60));
  ASSERT_EQ(t.cpus.size(), 3u);
  EXPECT_EQ(t.cpus[2].number, 36);
  EXPECT_EQ(t.cpus[2].socket, 1);
  EXPECT_EQ(t.cpus[2].core, 1);
  EXPECT_EQ(t.cpus[2].node, 1);
}

TEST(Topology, memory_without_cpus_stays_when_cpus_are_taken_away) {
  Topology t = topology_from_synthetic("pack:1 [numa] core:2 pu:1");
  t.nodes.push_back({1, 1LL << 37, {}});
  EXPECT_EQ(shape(restricted_to(t, {1})), "socket[node[core[thread]]], 1 node without CPUs");
}

TEST(Topology, this_machine_has_every_cpu_that_this_process_may_use) {
  const auto t = read_topology();
  std::set<std::int64_t> numbers;
  for (const auto& cpu : t.cpus) {
    numbers.insert(cpu.number);
    EXPECT_LT(cpu.core, t.cores);
    EXPECT_LT(cpu.socket, t.sockets);
  }
  for (const auto cpu : allowed_cpus()) EXPECT_TRUE(numbers.count(cpu)) << cpu;
  EXPECT_EQ(restricted_to(t, allowed_cpus()).cpus.size(), allowed_cpus().size());
}

TEST(Topology, what_describes_no_machine_is_an_error_that_names_it) {
  EXPECT_THAT(failure_of([] { topology_from_synthetic("a big one"); }), HasSubstr("'a big one'"));
  EXPECT_THAT(failure_of([] { topology_from_synthetic("pack:100000 core:100000 pu:2"); }), HasSubstr("20000000000"));
  EXPECT_THAT(failure_of([] { topology_from_xml("/nowhere/m.xml"); }), HasSubstr("/nowhere/m.xml"));
  for (const char* text : {"", "no XML", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n", "<topology/>"}) {
    const File file(text);
    EXPECT_THAT(failure_of([&] { topology_from_xml(file.path()); }), HasSubstr("topology_test_")) << text;
  }
}

TEST(Topology, a_file_cut_anywhere_is_an_error_and_no_crash) {
  std::ifstream in(std::filesystem::path(ASSAY_RECORDED) / "machines" / "laptop_4c8t.xml");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto end = text.find("</topology>");
  ASSERT_NE(end, std::string::npos);
  for (std::size_t length = 1; length < end; length += 97) {
    const File file(text.substr(0, length));
    EXPECT_THROW(topology_from_xml(file.path()), Error) << length;
  }
}

TEST(Topology, a_file_on_which_hwloc_breaks_is_an_error_of_ours) {
  // Without one of these attributes hwloc 2.9 follows a null pointer, as `lstopo -i FILE` shows.
  std::ifstream in(std::filesystem::path(ASSAY_RECORDED) / "machines" / "laptop_4c8t.xml");
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::pair<const char*, const char*> kMissing[] = {
      {"Machine", " complete_cpuset="}, {"NUMANode", " complete_nodeset="}, {"L2Cache", " complete_cpuset="}};
  for (const auto& [type, attribute] : kMissing) {
    const auto at = whole.find(attribute, whole.find(std::string("type=\"") + type + "\""));
    ASSERT_NE(at, std::string::npos);
    const auto end = whole.find('"', whole.find('"', at) + 1) + 1;
    const std::string text = whole.substr(0, at) + whole.substr(end);
    EXPECT_THAT(failure_of([&] { topology_from_xml_text(text, "broken.xml"); }),
                HasSubstr("broken.xml: is not a machine as `lstopo FILE.xml` writes it"));
  }
}

TEST(Topology, a_topology_survives_its_json) {
  const auto topology = recorded("server_2s_24c48t_4nodes");
  EXPECT_EQ(to_json(from_json<Topology>(to_json(topology))), to_json(topology));
  EXPECT_EQ(topology.cpus.size(), 96u);
}

TEST(Topology, entities_are_refused) {
  const File file("<?xml version=\"1.0\"?><!DOCTYPE t [<!ENTITY a \"b\">]><topology version=\"2.0\"></topology>");
  EXPECT_THAT(failure_of([&] { topology_from_xml(file.path()); }), HasSubstr("<!ENTITY"));
}

}  // namespace
}  // namespace assay::platform
