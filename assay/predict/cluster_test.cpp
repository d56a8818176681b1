#include "assay/predict/cluster.hpp"
#include "assay/core/text/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using testing::HasSubstr;

constexpr const char* kGood = R"(name: four by four
nodes: 4
devices_per_node: 4
device: {name: K80, peak: 4.37 TFLOP/s, memory_bandwidth: 240 GB/s, memory: 12 GiB, efficiency: 35%-50%}
inside: {latency: 10 us, bandwidth: 12 GB/s}
across: {latency: 50us, bandwidth: 10 Gbit/s, per: device, burst: 64 KiB}
topology: {kind: fat_tree, nodes_per_leaf: 2, oversubscription: 2}
storage: {bandwidth: 500 MB/s, per: cluster}
price_per_hour: 3.06
slow_down: 1.05
)";

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(parse_cluster(text, "c.yaml"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Cluster, IsReadWithItsUnits) {
  const auto cluster = parse_cluster(kGood, "c.yaml");
  EXPECT_EQ(cluster.name, "four by four");
  EXPECT_EQ(cluster.devices(), 16);
  EXPECT_DOUBLE_EQ(*cluster.device.flops_per_second, 4.37e12);
  EXPECT_DOUBLE_EQ(*cluster.device.memory_bytes, 12.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(cluster.device.efficiency.middle(), 0.425);
  EXPECT_DOUBLE_EQ(cluster.across->bytes_per_second, 1.25e9);
  EXPECT_DOUBLE_EQ(cluster.across->latency_seconds, 50e-6);
  EXPECT_EQ(cluster.across_per, Sharing::device);
  EXPECT_EQ(cluster.across_burst_bytes, 65536.0);
  EXPECT_EQ(cluster.topology.kind, TopologyKind::fat_tree);
  EXPECT_EQ(cluster.storage->per, Sharing::cluster);
  EXPECT_DOUBLE_EQ(*cluster.slow_down, 1.05);
}

TEST(Cluster, SaysWhereAFileIsWrongAndWhatToWrite) {
  EXPECT_THAT(refusal_of("nodes: 2\n"), HasSubstr("c.yaml:1:1: cluster needs across. Add, for example: across: {"));
  EXPECT_THAT(refusal_of("nodes: 1\ndevice: {peek: 1 TFLOP/s}\n"), HasSubstr("c.yaml:2:10: device: the key 'peek'"));
  EXPECT_THAT(refusal_of("nodes: 1\ndevice: {peak: 15.7}\n"),
              HasSubstr("c.yaml:2:16: device.peak: '15.7' is not a valid quantity."));
  EXPECT_THAT(refusal_of("nodes: 0\n"), HasSubstr("c.yaml:1:8: nodes: '0' is not a number from 1 to 1000000"));
  EXPECT_THAT(refusal_of("nodes: 2.5\n"), HasSubstr("is not a whole number"));
  EXPECT_THAT(refusal_of("nodes: 1\ndevice: {efficiency: 60%-50%}\n"), HasSubstr("Swap them"));
  EXPECT_THAT(refusal_of("nodes: 1\ndevice: {efficiency: 150%}\n"), HasSubstr("not a share of the peak"));
  EXPECT_THAT(refusal_of("nodes: 1\nslow_down: 0.5\n"),
              HasSubstr("c.yaml:2:12: slow_down: '0.5' is not a number from 1"));
  EXPECT_THAT(refusal_of("nodes: 1\ntopology: ring\n"), HasSubstr("Write star, or {kind: fat_tree"));
  EXPECT_THAT(refusal_of("nodes: 1\nstorage: {bandwidth: 1 GB/s, per: device}\n"), HasSubstr("storage.per: 'device'"));
  EXPECT_THAT(refusal_of("[1, 2]\n"), HasSubstr("c.yaml:1:1: cluster: write keys with values here"));
  EXPECT_THAT(refusal_of(""), HasSubstr("c.yaml:1:1: cluster"));
}

TEST(Cluster, IsUsedInWholeNodesOrPartOfOne) {
  const auto cluster = parse_cluster(kGood, "c.yaml");
  EXPECT_EQ(part_of(cluster, 2).nodes, 1);
  EXPECT_EQ(part_of(cluster, 2).devices_per_node, 2);
  EXPECT_EQ(part_of(cluster, 12).nodes, 3);
  EXPECT_THROW(static_cast<void>(part_of(cluster, 6)), Error);
  EXPECT_THROW(static_cast<void>(part_of(cluster, 32)), Error);
}

TEST(Quantity, NeedsAUnitThatIsKnown) {
  EXPECT_DOUBLE_EQ(parse_byte_rate("100Mbit/s", "x"), 12.5e6);
  EXPECT_DOUBLE_EQ(parse_byte_rate("2 GiB/s", "x"), 2147483648.0);
  EXPECT_DOUBLE_EQ(parse_latency("1.5 us", "x"), 1.5e-6);
  for (const char* bad : {"", "10", "-1 GB/s", "10 Gb/s", "nan GB/s", "1e308 PB/s", "GB/s", "1 GB/s x"}) {
    EXPECT_THROW(static_cast<void>(parse_byte_rate(bad, "x")), Error) << bad;
  }
}

}  // namespace
}  // namespace assay::predict
