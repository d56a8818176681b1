#include <algorithm>
#include <filesystem>
#include <vector>

#include "assay/core/text/file.hpp"
#include "assay/core/text/number.hpp"
#include "assay/core/text/units.hpp"
#include "assay/plan/section.hpp"
#include "assay/predict/cluster.hpp"

namespace assay::predict {
namespace {

using plan::LocatedError;
using plan::Section;
using plan::Yaml;
using Keys = std::vector<std::string>;

constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::size_t kMostName = 200;

double share_in(const Section& section, const Yaml& node, std::string_view part) {
  const bool percent = part.ends_with('%');
  if (percent) part.remove_suffix(1);
  const auto number = parse_number<double>(part);
  const double value = number.value_or(0) / (percent ? 100 : 1);
  if (value > 0 && value <= 1) return value;
  throw LocatedError(
      section.place(node),
      fmt::format("device.efficiency: {} is not a share of the peak. Write a range, such as 35%-50%, or one "
                  "share.",
                  shown(node.text)));
}

ShareRange read_efficiency(const Section& section, const Yaml& node) {
  const std::string_view text = section.text(node, "efficiency");
  const auto dash = text.find('-');
  const double low = share_in(section, node, text.substr(0, dash));
  const double high = dash == std::string_view::npos ? low : share_in(section, node, text.substr(dash + 1));
  if (high >= low) return {low, high};
  throw LocatedError(section.place(node), "device.efficiency: the first share is larger than the second. Swap them.");
}

Device read_device(const std::string& file, const Yaml& node) {
  const Section section(file, node, "device",
                        {"name", "peak", "memory_bandwidth", "memory", "host_bandwidth", "efficiency"});
  Device device;
  if (const auto* name = section.find("name")) device.name = section.text(*name, "name").substr(0, kMostName);
  if (const auto* peak = section.find("peak")) {
    device.flops_per_second = section.quantity(*peak, "peak", parse_flop_rate);
  }
  if (const auto* rate = section.find("memory_bandwidth")) {
    device.memory_bytes_per_second = section.quantity(*rate, "memory_bandwidth", parse_byte_rate);
  }
  if (const auto* memory = section.find("memory")) {
    device.memory_bytes = section.quantity(*memory, "memory", parse_memory);
  }
  if (const auto* rate = section.find("host_bandwidth")) {
    device.host_bytes_per_second = section.quantity(*rate, "host_bandwidth", parse_byte_rate);
  }
  if (const auto* share = section.find("efficiency")) device.efficiency = read_efficiency(section, *share);
  return device;
}

Wire read_wire(const Section& section) {
  Wire wire;
  wire.latency_seconds = section.quantity(section.need("latency", "5 us"), "latency", parse_latency);
  wire.bytes_per_second = section.quantity(section.need("bandwidth", "10 Gbit/s"), "bandwidth", parse_byte_rate);
  return wire;
}

ClusterTopology read_topology(const std::string& file, const Yaml& node) {
  ClusterTopology topology;
  const Keys kinds{"star", "fat_tree"};
  if (node.kind == Yaml::Kind::scalar) {
    if (node.text == "star") return topology;
    throw LocatedError(fmt::format("{}:{}:{}", file, node.line, node.column),
                       fmt::format("topology: {} is not allowed here. Write star, or {{kind: fat_tree, nodes_per_leaf: "
                                   "16, oversubscription: 2}}.",
                                   shown(node.text)));
  }
  const Section section(file, node, "topology", {"kind", "nodes_per_leaf", "oversubscription"});
  topology.kind = section.choice<TopologyKind>(section.need("kind", "fat_tree"), "kind", kinds);
  if (topology.kind == TopologyKind::star) return topology;
  topology.nodes_per_leaf = section.count(section.need("nodes_per_leaf", "16"), "nodes_per_leaf", kMostNodes);
  if (const auto* over = section.find("oversubscription")) {
    topology.oversubscription = section.number(*over, "oversubscription", 1, 1000);
  }
  return topology;
}

Storage read_storage(const std::string& file, const Yaml& node) {
  const Section section(file, node, "storage", {"bandwidth", "per"});
  Storage storage;
  storage.bytes_per_second = section.quantity(section.need("bandwidth", "500 MB/s"), "bandwidth", parse_byte_rate);
  if (const auto* per = section.find("per")) storage.per = section.choice<Sharing>(*per, "per", {"node", "cluster"});
  return storage;
}

Prices read_prices(const std::string& file, const Yaml& node) {
  const Section section(file, node, "prices", {"device", "node", "network"});
  Prices prices;
  const auto read = [&](const char* key, double& price) {
    if (const auto* found = section.find(key)) price = section.number(*found, key, 0, 1e9);
  };
  read("device", prices.device_per_hour);
  read("node", prices.node_per_hour);
  read("network", prices.network_per_hour);
  return prices;
}

Power read_power(const std::string& file, const Yaml& node) {
  const Section section(file, node, "power", {"idle_watts", "busy_watts", "node_watts", "network_watts", "cooling"});
  Power power;
  power.idle_watts = section.number(section.need("idle_watts", "90"), "idle_watts", 0, 1e6);
  power.busy_watts = section.number(section.need("busy_watts", "700"), "busy_watts", power.idle_watts, 1e6);
  if (const auto* watts = section.find("node_watts")) power.node_watts = section.number(*watts, "node_watts", 0, 1e6);
  if (const auto* watts = section.find("network_watts")) {
    power.network_watts = section.number(*watts, "network_watts", 0, 1e6);
  }
  if (const auto* cooling = section.find("cooling")) power.cooling = section.number(*cooling, "cooling", 1, 10);
  return power;
}

FailureTimes read_failures(const std::string& file, const Yaml& node) {
  const Section section(file, node, "failures", {"device", "node"});
  FailureTimes times;
  const auto read = [&](const char* key, std::optional<double>& seconds) {
    const auto* found = section.find(key);
    if (found != nullptr) seconds = section.quantity(*found, key, parse_latency);
  };
  read("device", times.device_seconds);
  read("node", times.node_seconds);
  return times;
}

void read_costs(const std::string& file, const Section& section, Cluster& cluster) {
  if (const auto* price = section.find("price_per_hour")) {
    cluster.price_per_hour = section.number(*price, "price_per_hour", 0, 1e9);
  }
  if (const auto* prices = section.find("prices")) {
    if (cluster.price_per_hour) {
      throw LocatedError(section.place(*prices), "price_per_hour is the whole price of a node already. Leave one out.");
    }
    cluster.prices = read_prices(file, *prices);
    cluster.price_per_hour = static_cast<double>(cluster.devices_per_node) * cluster.prices->device_per_hour +
                             cluster.prices->node_per_hour + cluster.prices->network_per_hour;
  }
  if (const auto* power = section.find("power")) cluster.power = read_power(file, *power);
  if (const auto* carbon = section.find("carbon_grams_per_kwh")) {
    cluster.carbon_grams_per_kwh = section.number(*carbon, "carbon_grams_per_kwh", 0, 1e5);
  }
  if (const auto* failures = section.find("failures")) cluster.failures = read_failures(file, *failures);
}

void read_links(const std::string& file, const Section& section, Cluster& cluster) {
  if (cluster.devices_per_node > 1 || section.find("inside") != nullptr) {
    const Section inside(file, section.need("inside", "{latency: 5 us, bandwidth: 12 GB/s}"), "inside",
                         {"latency", "bandwidth"});
    cluster.inside = read_wire(inside);
  }
  if (cluster.nodes > 1 || section.find("across") != nullptr) {
    const Section across(file, section.need("across", "{latency: 20 us, bandwidth: 10 Gbit/s}"), "across",
                         {"latency", "bandwidth", "per", "burst"});
    cluster.across = read_wire(across);
    if (const auto* burst = across.find("burst")) {
      cluster.across_burst_bytes = across.quantity(*burst, "burst", parse_memory);
    }
    if (const auto* per = across.find("per")) {
      cluster.across_per = across.choice<Sharing>(*per, "per", {"node", "device"});
    }
  }
}

}  // namespace

Cluster parse_cluster(std::string_view text, const std::string& file_name) {
  const auto root = plan::parse_yaml(text, file_name, {.bytes = kMostBytes, .depth = 8, .nodes = 1000});
  const Section section(file_name, root, "cluster",
                        {"name", "nodes", "devices_per_node", "device", "inside", "across", "topology", "storage",
                         "price_per_hour", "prices", "power", "carbon_grams_per_kwh", "failures", "slow_down"},
                        Section::Depth::top);
  Cluster cluster;
  cluster.name = file_name;
  if (const auto* name = section.find("name")) cluster.name = section.text(*name, "name").substr(0, kMostName);
  cluster.nodes = section.count(section.need("nodes", "4"), "nodes", kMostNodes);
  if (const auto* devices = section.find("devices_per_node")) {
    cluster.devices_per_node = section.count(*devices, "devices_per_node", kMostDevicesPerNode);
  }
  if (const auto* device = section.find("device")) cluster.device = read_device(file_name, *device);
  read_links(file_name, section, cluster);
  if (const auto* topology = section.find("topology")) cluster.topology = read_topology(file_name, *topology);
  if (const auto* storage = section.find("storage")) cluster.storage = read_storage(file_name, *storage);
  read_costs(file_name, section, cluster);
  if (const auto* slow = section.find("slow_down")) cluster.slow_down = section.number(*slow, "slow_down", 1, 10);
  return cluster;
}

Cluster read_cluster(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    fail(ErrorKind::usage, "cluster: there is no file {}. Next: assay predict --new-cluster mine.yaml",
         shown_path(path));
  }
  return parse_cluster(read_file(path, kMostBytes), path);
}

}  // namespace assay::predict
