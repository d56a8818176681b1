#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "assay/core/text/json.hpp"

namespace assay::predict {

constexpr std::int64_t kMostNodes = 1'000'000;
constexpr std::int64_t kMostDevicesPerNode = 64;

/// How nodes are joined. A star has one switch that never blocks. A fat tree has leaf switches, whose links upwards
/// carry what their nodes can send, divided by the oversubscription.
enum class TopologyKind { star, fat_tree };

/// Who has a thing to itself.
enum class Sharing { device, node, cluster };

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::TopologyKind> {
  static constexpr std::array<const char*, 2> names{"star", "fat_tree"};
};

template <>
struct assay::EnumNames<assay::predict::Sharing> {
  static constexpr std::array<const char*, 3> names{"device", "node", "cluster"};
};

namespace assay::predict {

/// A share of the peak that is assumed, as a range: what is predicted from it is a what-if, not a measurement.
struct ShareRange {
  double low = 0.3;
  double high = 0.6;
  double middle() const { return (low + high) / 2; }
};

template <typename V>
void describe(V& v, ShareRange& s) {
  required(v, "low", s.low);
  required(v, "high", s.high);
}

struct Device {
  std::string name;
  std::optional<double> flops_per_second;         ///< peak at the precision of the job
  std::optional<double> memory_bytes_per_second;  ///< of the device's own memory
  std::optional<double> memory_bytes;
  std::optional<double> host_bytes_per_second;  ///< from the node's memory to the device's; null: nothing to cross
  ShareRange efficiency;                        ///< of the peak that products reach
};

template <typename V>
void describe(V& v, Device& d) {
  v("name", d.name);
  v("flops_per_second", d.flops_per_second);
  v("memory_bytes_per_second", d.memory_bytes_per_second);
  v("memory_bytes", d.memory_bytes);
  v("host_bytes_per_second", d.host_bytes_per_second);
  v("efficiency", d.efficiency);
}

/// What a message costs from one end to the other: latency + bytes / rate, both directions at once.
struct Wire {
  double latency_seconds = 0;
  double bytes_per_second = 0;
};

template <typename V>
void describe(V& v, Wire& w) {
  required(v, "latency_seconds", w.latency_seconds);
  required(v, "bytes_per_second", w.bytes_per_second);
}

struct ClusterTopology {
  TopologyKind kind = TopologyKind::star;
  std::int64_t nodes_per_leaf = 1;  ///< of a fat tree
  double oversubscription = 1;      ///< of a fat tree, at least 1
};

template <typename V>
void describe(V& v, ClusterTopology& t) {
  required(v, "kind", t.kind);
  v("nodes_per_leaf", t.nodes_per_leaf);
  v("oversubscription", t.oversubscription);
}

struct Storage {
  double bytes_per_second = 0;
  Sharing per = Sharing::node;  ///< a node's own disk, or one for the cluster
};

template <typename V>
void describe(V& v, Storage& s) {
  required(v, "bytes_per_second", s.bytes_per_second);
  v("per", s.per);
}

/// What machines cost an hour, in the user's own currency.
struct Prices {
  double device_per_hour = 0;
  double node_per_hour = 0;     ///< of a node without its devices
  double network_per_hour = 0;  ///< of a node's share of switches and cables
};

template <typename V>
void describe(V& v, Prices& p) {
  v("device_per_hour", p.device_per_hour);
  v("node_per_hour", p.node_per_hour);
  v("network_per_hour", p.network_per_hour);
}

/// What machines draw.
struct Power {
  double idle_watts = 0;     ///< of a device that waits
  double busy_watts = 0;     ///< of a device that computes
  double node_watts = 0;     ///< of a node without its devices, always
  double network_watts = 0;  ///< of a node's share of switches, always
  double cooling = 1;        ///< what is drawn in all over what machines draw
};

template <typename V>
void describe(V& v, Power& p) {
  required(v, "idle_watts", p.idle_watts);
  required(v, "busy_watts", p.busy_watts);
  v("node_watts", p.node_watts);
  v("network_watts", p.network_watts);
  v("cooling", p.cooling);
}

/// Mean times between failures that stop a job. Null: such failures are left out.
struct FailureTimes {
  std::optional<double> device_seconds;
  std::optional<double> node_seconds;  ///< of a node apart from its devices
};

template <typename V>
void describe(V& v, FailureTimes& f) {
  v("device_seconds", f.device_seconds);
  v("node_seconds", f.node_seconds);
}

/// Machines that a job may run on, as a user describes them.
struct Cluster {
  std::string name;
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;
  Device device;
  std::optional<Wire> inside;                ///< between devices of a node; there where a node has several
  std::optional<Wire> across;                ///< between nodes; there where there are several
  Sharing across_per = Sharing::node;        ///< node: its devices share one link; device: each has a rail of its own
  std::optional<double> across_burst_bytes;  ///< bytes that pass at once after a pause, where a rate limit lets them
  ClusterTopology topology;                  ///< of the nodes
  std::optional<Storage> storage;            ///< null: reading costs nothing that is known
  std::optional<double> price_per_hour;      ///< of a node with all it has
  std::optional<Prices> prices;              ///< of its parts, which price_per_hour adds up
  std::optional<Power> power;
  std::optional<double> carbon_grams_per_kwh;
  std::optional<FailureTimes> failures;
  std::optional<double> slow_down;  ///< of compute while gradients travel; null: not known, so a range is given

  std::int64_t devices() const { return nodes * devices_per_node; }
};

template <typename V>
void describe(V& v, Cluster& c) {
  v("name", c.name);
  required(v, "nodes", c.nodes);
  required(v, "devices_per_node", c.devices_per_node);
  v("device", c.device);
  v("inside", c.inside);
  v("across", c.across);
  v("across_per", c.across_per);
  v("across_burst_bytes", c.across_burst_bytes);
  v("topology", c.topology);
  v("storage", c.storage);
  v("price_per_hour", c.price_per_hour);
  v("prices", c.prices);
  v("power", c.power);
  v("carbon_grams_per_kwh", c.carbon_grams_per_kwh);
  v("failures", c.failures);
  v("slow_down", c.slow_down);
}

/// Reads a cluster file (docs/formats/cluster.schema.json, docs/predict.md). Throws Error{usage}
/// "file:line:column: what, the value, the fix".
Cluster parse_cluster(std::string_view text, const std::string& file_name);

/// The same from a file of at most 1 MiB.
Cluster read_cluster(const std::string& path);

/// The part of a cluster that a job on so many devices uses: full nodes, or part of one. Throws Error{usage} where the
/// number is larger than the cluster or fills no whole nodes.
Cluster part_of(const Cluster& cluster, std::int64_t devices);

}  // namespace assay::predict
