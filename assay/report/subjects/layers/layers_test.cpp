#include "assay/report/subjects/layers/layers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/terminal.hpp"

#include "assay/network/network.hpp"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Record record(std::vector<Layer> layers) {
  Record out;
  out.ranks.resize(1);
  out.ranks[0].layers = std::move(layers);
  return out;
}

// Medians of the processes are 3 and 5, so 4; the pool of all samples would have 3.
TEST(Layers, AreMediansOverProcesses) {
  LayerTimes times;
  times.add(record({{"a", {3, 3, 3, 3}, {10, 10, 10, 10}}, {"b", {1}, {}}}));
  times.add(record({{"a", {5}, {20}}, {"b", {1}, {}}}));
  auto failed = record({{"a", {1000}, {1000}}});
  failed.outcome.kind = OutcomeKind::crashed;
  times.add(failed);
  const auto layers = times.times();
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].node, "a");
  EXPECT_DOUBLE_EQ(layers[0].forward_ns, 4);
  EXPECT_DOUBLE_EQ(layers[0].backward_ns, 15);
  EXPECT_DOUBLE_EQ(layers[1].backward_ns, 0);
}

// conv1 of ResNet-50 has 236.03 MFLOP; in 2 ms that is 118.0 GFLOP/s, and 2 of 4 ms are half.
TEST(Layers, TheSlowestStandFirstWithTheirRate) {
  Workload workload;
  workload.network = "resnet50";
  workload.graph = network::graph_hash(network::build("resnet50"));
  const auto text =
      as_terminal(layers_document(workload, {{"bn1", 1e6, 0}, {"conv1", 2e6, 0}, {"relu1", 1e6, 0}}, 2), {});
  EXPECT_THAT(text, HasSubstr("convolution"));
  EXPECT_THAT(text, HasSubstr("118.0"));
  EXPECT_THAT(text, HasSubstr("50.0 %"));
  EXPECT_LT(text.find("conv1"), text.find("bn1"));
  EXPECT_THAT(text, HasSubstr("1 other layers take 1 ms (25.0 %)"));
  EXPECT_THAT(text, Not(HasSubstr("relu1")));
}

}  // namespace
}  // namespace assay::report
