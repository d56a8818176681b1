// Configurations that the formulas of `assay predict` say in a second, on one core: ResNet-50 in fixed buckets, on 1 to
// 1,024 nodes with links of 1 to 100 Gbit/s. Prints their number and the seconds.

#include <cstdio>
#include <vector>

#include "assay/core/clock.hpp"
#include "assay/network/network.hpp"
#include "assay/predict/iteration.hpp"

namespace {

assay::predict::Cluster cluster_of(std::int64_t nodes, double bytes_per_second) {
  assay::predict::Cluster cluster;
  cluster.nodes = nodes;
  cluster.devices_per_node = 8;
  cluster.inside = assay::predict::Wire{5e-6, 1e11};
  cluster.across = assay::predict::Wire{2e-5, bytes_per_second};
  return cluster;
}

}  // namespace

int main() {
  using namespace assay;
  const predict::Device device{"device", 15.7e12, 900e9, 32e9, 12e9, {0.5, 0.5}};
  const auto table = predict::assumed_layers(network::build("resnet50"), {64, "fp32"}, device, 0.5);
  std::vector<predict::Cluster> clusters;
  for (std::int64_t nodes = 1; nodes <= 1024; nodes *= 2) {
    for (double gbit = 1; gbit <= 100; gbit += 1) clusters.push_back(cluster_of(nodes, gbit * 1.25e8));
  }
  predict::Practice practice;
  practice.slow_down = 1.1;
  const auto begin_ns = monotonic_ns();
  std::int64_t count = 0;
  double sum = 0;
  while (monotonic_ns() - begin_ns < 1'000'000'000) {
    for (const auto& cluster : clusters) sum += iterate(table, cluster, practice).seconds;
    count += static_cast<std::int64_t>(clusters.size());
  }
  const double seconds = 1e-9 * static_cast<double>(monotonic_ns() - begin_ns);
  std::printf("%ld %.6f %.3f\n", static_cast<long>(count), seconds, sum);  // the sum, so that nothing is left out
  return 0;
}
