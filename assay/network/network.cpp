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

constexpr std::array kNetworks{
#define NETWORK(name, description) Entry{#name, description, networks::name},
#include "assay/network/networks/networks.inc"
#undef NETWORK
};

const Entry* find(const std::string& name) {
  const auto* it = std::find_if(kNetworks.begin(), kNetworks.end(), [&](const Entry& e) { return name == e.name; });
  return it == kNetworks.end() ? nullptr : it;
}

}  // namespace

std::vector<NetworkSummary> all_networks() {
  std::vector<NetworkSummary> all;
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
