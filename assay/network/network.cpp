#include "assay/network/network.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "assay/network/networks/networks.hpp"
#include "assay/network/options.hpp"

namespace assay::network {
namespace {

struct Entry {
  const char* name;
  const char* description;
  Graph (*build)(OptionReader& options);
};

// Adding a network is one file in networks/, its declaration in networks.hpp, and a line here.
constexpr std::array kNetworks{
    Entry{"alexnet", "AlexNet of 2014 (one column), 224 x 224", networks::alexnet},
    Entry{"bert_base", "BERT base with pooler, 12 layers of 768, 128 tokens", networks::bert_base},
    Entry{"googlenet", "GoogLeNet with batch norm, without auxiliary heads, 224 x 224", networks::googlenet},
    Entry{"gpt2", "GPT-2 small with language-model head, 12 layers of 768, 128 tokens", networks::gpt2},
    Entry{"inception_v3", "Inception v3 without auxiliary head, 299 x 299", networks::inception_v3},
    Entry{"mobilenet_v2", "MobileNetV2, 224 x 224", networks::mobilenet_v2},
    Entry{"resnet50", "ResNet-50 v1.5 (stride in the 3 x 3 convolution), 224 x 224", networks::resnet50},
    Entry{"vgg16", "VGG-16 (configuration D) without batch norm, 224 x 224", networks::vgg16},
};

const Entry* find(const std::string& name) {
  const auto* it = std::find_if(kNetworks.begin(), kNetworks.end(), [&](const Entry& e) { return name == e.name; });
  return it == kNetworks.end() ? nullptr : it;
}

}  // namespace

std::vector<About> all_networks() {
  std::vector<About> all;
  for (const auto& entry : kNetworks) all.push_back({entry.name, entry.description});
  return all;
}

bool is_network(const std::string& name) {
  return find(name) != nullptr;
}

Graph build(const std::string& name, const Options& options) {
  const Entry* entry = find(name);
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const auto& known : kNetworks) names.emplace_back(known.name);
    fail(ErrorKind::usage, "there is no network {}. Networks: {}.", shown(name), fmt::join(names, ", "));
  }
  OptionReader reader(name, options);
  return entry->build(reader);
}

}  // namespace assay::network
