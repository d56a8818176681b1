#pragma once

#include "assay/network/options.hpp"

/// One function per file. Each reads its options, refuses others, and returns the whole graph.
namespace assay::network::networks {

Graph alexnet(OptionReader& options);
Graph bert_base(OptionReader& options);
Graph googlenet(OptionReader& options);
Graph gpt2(OptionReader& options);
Graph inception_v3(OptionReader& options);
Graph mobilenet_v2(OptionReader& options);
Graph resnet50(OptionReader& options);
Graph vgg16(OptionReader& options);

}  // namespace assay::network::networks
