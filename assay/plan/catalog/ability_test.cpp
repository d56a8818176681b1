#include "assay/plan/catalog/ability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/network/network.hpp"
#include "assay/plan/plan_fixture.hpp"

namespace assay::plan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

std::vector<std::string> names(const WorkerInfo& worker) {
  std::vector<std::string> out;
  for (const auto& ability : abilities_of(worker)) out.push_back(ability.workload);
  return out;
}

Ability find(const WorkerInfo& worker, const std::string& workload) {
  for (const auto& ability : abilities_of(worker)) {
    if (ability.workload == workload) return ability;
  }
  return {};
}

/// A framework with the operators of `network` and no others.
WorkerInfo builder_of(const std::string& network) {
  WorkerInfo worker = fake_worker();
  worker.name = "framework";
  worker.networks = {"gemm", "all_reduce"};
  for (const auto& node : network::build(network).nodes) worker.operators.emplace_back(name_of(node.op));
  worker.files = {"py"};
  worker.ranks = true;
  return worker;
}

TEST(Ability, AWorkerBuildsTheNetworksWhoseOperatorsItHas) {
  // VGG needs convolution, relu, max_pool, flatten, linear, dropout; AlexNet the same, LeNet and the perceptron fewer,
  // ResNet also batch_norm.
  EXPECT_THAT(names(builder_of("vgg16")),
              ElementsAre("alexnet", "lenet", "mlp", "vgg16", "vgg19", "gemm", "all_reduce", "*.py"));
  EXPECT_THAT(names(builder_of("resnet50")), Contains("resnet50"));
  EXPECT_THAT(names(builder_of("resnet50")), Not(Contains("bert_base")));
}

TEST(Ability, WithoutOneOperatorANetworkIsNotThere) {
  auto worker = builder_of("vgg16");
  std::erase(worker.operators, std::string("max_pool"));
  EXPECT_THAT(names(worker), ElementsAre("mlp", "gemm", "all_reduce", "*.py"));
}

TEST(Ability, ModesAreThoseOfTheWorkerAndAPrimitiveOnlyInfers) {
  auto worker = builder_of("vgg16");
  EXPECT_THAT(find(worker, "vgg16").modes, ElementsAre(Mode::infer, Mode::train));
  EXPECT_THAT(find(worker, "*.py").modes, ElementsAre(Mode::infer, Mode::train));
  EXPECT_THAT(find(worker, "gemm").modes, ElementsAre(Mode::infer));
  worker.modes = {"train"};
  EXPECT_THAT(names(worker), ElementsAre("alexnet", "lenet", "mlp", "vgg16", "vgg19", "*.py"));
  worker.modes = {};
  EXPECT_THAT(find(worker, "vgg16").modes, ElementsAre(Mode::infer, Mode::train));
}

TEST(Ability, RanksWorkTogetherWhereTheWorkerSaysSoAndThereIsSomethingToExchange) {
  auto worker = builder_of("vgg16");
  EXPECT_TRUE(find(worker, "vgg16").ranks);
  EXPECT_TRUE(find(worker, "all_reduce").ranks);
  EXPECT_FALSE(find(worker, "gemm").ranks);
  worker.files = {"gguf"};
  EXPECT_FALSE(find(worker, "*.gguf").ranks);
  worker.ranks = false;
  EXPECT_FALSE(find(worker, "vgg16").ranks);
}

TEST(Ability, OwnNamesAndProgramsAreRowsToo) {
  EXPECT_THAT(names(fake_worker()), ElementsAre("toy"));
  EXPECT_THAT(names(command_worker()), ElementsAre("-- PROGRAM"));
  EXPECT_THAT(all_workloads({fake_worker(), command_worker(), builder_of("vgg16")}),
              IsSupersetOf({"bert_base", "triad", "ping_pong", "toy", "*.py", "-- PROGRAM"}));
}

}  // namespace
}  // namespace assay::plan
