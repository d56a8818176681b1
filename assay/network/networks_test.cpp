// Every network beside what others say of it: published numbers of parameters and multiply-adds, and both by hand.

#include <gtest/gtest.h>

#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"

namespace assay::network {
namespace {

const std::map<std::string, std::int64_t> kPublished{
    {"alexnet", 61'100'840},       // torchvision
    {"bert_base", 109'482'240},    // transformers
    {"googlenet", 6'624'904},      // torchvision, without auxiliary heads
    {"gpt2", 124'439'808},         // transformers
    {"inception_v3", 23'834'568},  // torchvision, without auxiliary head
    {"mobilenet_v2", 3'504'872},   // torchvision
    {"resnet50", 25'557'032},      // torchvision
    {"vgg16", 138'357'544},        // torchvision
};

TEST(Networks, HaveThePublishedNumberOfParameters) {
  for (const auto& about : all_networks()) {
    ASSERT_EQ(kPublished.count(about.name), 1U) << about.name << " has no count here";
    EXPECT_EQ(build(about.name).parameters, kPublished.at(about.name)) << about.name;
  }
  EXPECT_EQ(all_networks().size(), kPublished.size());
}

}  // namespace
}  // namespace assay::network
