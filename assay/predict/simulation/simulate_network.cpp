#include "assay/predict/simulation/simulate_network.hpp"

#include <xbt/log.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace assay::predict {
namespace {

namespace sg = simgrid::s4u;

/// Attaches `point` to the centre of a star, by `link` in both directions.
void attach(sg::NetZone* star, simgrid::kernel::routing::NetPoint* point, const sg::Link* link,
            simgrid::kernel::routing::NetPoint* gateway = nullptr) {
  star->add_route(point, nullptr, gateway, nullptr, {sg::LinkInRoute(link, sg::LinkInRoute::Direction::UP)});
}

}  // namespace

std::string simulated_engine_name() {
  xbt_log_control_set("xbt_cfg.thresh:warning");  // else each line below is announced on stderr
  return "assay-simulate";
}

void set_flow_model() {
  for (const char* setting : {
           "network/model:CM02",      // latency + bytes / share, without factors for what TCP loses
           "network/TCP-gamma:1e30",  // no window that limits a flow by its latency; 0 would also lift limits on rates
           "network/crosstraffic:0",  // acknowledgements cost nothing, so both directions are free at once
           "contexts/guard-size:0",   // a guard page for each of many actors exceeds what a process may map
           "debug/verbose-exit:0",    // an interrupt ends it, without a list of all actors
           "contexts/stack-size:16",  // KiB
       }) {
    sg::Engine::set_config(setting);
  }
}

SimulatedNetwork::SimulatedNetwork(const SimulatedTopology& topology, const SimulatedLink& link,
                                   std::vector<SimulatedBackground> background)
    : engine_(simulated_engine_name()), nodes_(topology.nodes), link_(link), background_(std::move(background)) {
  set_flow_model();
  root_ = sg::create_star_zone("core");
  hosts_.reserve(static_cast<std::size_t>(nodes_));
  if (topology.kind == TopologyKind::star) {
    build_star();
  } else {
    build_fat_tree(topology.nodes_per_leaf, topology.oversubscription);
  }
  root_->seal();
  for (std::int64_t node = 0; node < nodes_; ++node) boxes_.push_back(sg::Mailbox::by_name(std::to_string(node)));
}

sg::SplitDuplexLink* SimulatedNetwork::node_link(std::int64_t node) {
  auto* link = root_->create_split_duplex_link("link" + std::to_string(node), link_.bandwidth_bytes_per_second);
  link->set_latency(link_.latency_seconds / 2);
  return link;
}

void SimulatedNetwork::build_star() {
  for (std::int64_t node = 0; node < nodes_; ++node) {
    hosts_.push_back(root_->create_host("node" + std::to_string(node), 1.0));
    attach(root_, hosts_.back()->get_netpoint(), node_link(node));
  }
}

void SimulatedNetwork::build_fat_tree(std::int64_t nodes_per_leaf, double oversubscription) {
  const double uplink = link_.bandwidth_bytes_per_second * static_cast<double>(nodes_per_leaf) / oversubscription;
  // All links before all leaves: SimGrid looks for each new name in every zone, so that the other order is quadratic.
  std::vector<sg::Link*> links;
  std::vector<sg::Link*> uplinks;
  for (std::int64_t node = 0; node < nodes_; ++node) {
    links.push_back(node_link(node));
    if (node % nodes_per_leaf != 0) continue;
    uplinks.push_back(root_->create_split_duplex_link("uplink" + std::to_string(uplinks.size()), uplink));
  }
  sg::NetZone* leaf = nullptr;
  for (std::int64_t node = 0; node < nodes_; ++node) {
    if (node % nodes_per_leaf == 0) {
      const auto number = static_cast<std::size_t>(node / nodes_per_leaf);
      leaf = sg::create_star_zone("leaf" + std::to_string(number));
      leaf->set_parent(root_);
      auto* gateway = leaf->create_router("switch" + std::to_string(number));
      leaf->add_route(gateway, nullptr, nullptr, nullptr, std::vector<sg::LinkInRoute>{});
      attach(root_, leaf->get_netpoint(), uplinks[number], gateway);
    }
    hosts_.push_back(leaf->create_host("node" + std::to_string(node), 1.0));
    attach(leaf, hosts_.back()->get_netpoint(), links[static_cast<std::size_t>(node)]);
  }
}

/// Flows without an end, of actors that SimGrid ends with the last other one. They have the latency of all flows, so
/// that they are there when the first byte of a message is.
void SimulatedNetwork::start_background() {
  for (std::size_t i = 0; i < background_.size(); ++i) {
    const auto& traffic = background_[i];
    for (std::int64_t flow = 0; flow < traffic.flows.value_or(1); ++flow) {
      auto* box = sg::Mailbox::by_name("background" + std::to_string(i) + "." + std::to_string(flow));
      const double rate = traffic.bytes_per_second.value_or(-1);
      sg::Actor::create("background", hosts_[static_cast<std::size_t>(traffic.from)], [box, rate] {
        auto sent = box->put_init(box, std::uint64_t{1} << 62);
        if (rate > 0) sent->set_rate(rate);
        sent->wait();
      })->daemonize();
      sg::Actor::create("background", hosts_[static_cast<std::size_t>(traffic.to)], [box] {
        box->get<sg::Mailbox>();
      })->daemonize();
    }
  }
}

void SimulatedNetwork::start_node(std::size_t node, std::int32_t to, bool receives, std::int64_t streams,
                                  std::uint64_t bytes) {
  auto* own = receives ? boxes_[node] : nullptr;
  auto* other = to == kNobody ? nullptr : boxes_[static_cast<std::size_t>(to)];
  sg::Actor::create("node", hosts_[node], [this, own, other, streams, bytes] {
    // What is sent is of no interest, but SimGrid wants an address.
    std::vector<sg::CommPtr> under_way;
    std::vector<sg::Mailbox*> got(static_cast<std::size_t>(streams));
    for (std::int64_t i = 0; i < streams; ++i) {
      if (other != nullptr) under_way.push_back(other->put_async(other, bytes));
      if (own != nullptr) under_way.push_back(own->get_async<sg::Mailbox>(&got[static_cast<std::size_t>(i)]));
    }
    for (const auto& message : under_way) message->wait();
    last_arrival_ = std::max(last_arrival_, sg::Engine::get_clock());
  });
}

double SimulatedNetwork::seconds(const SimulatedSends& sends, std::int64_t streams, std::uint64_t bytes) {
  std::vector<bool> receives(sends.size(), false);
  for (const auto to : sends) {
    if (to == kNobody) continue;
    receives[static_cast<std::size_t>(to)] = true;
    flows_ += streams;
  }
  const double begin = sg::Engine::get_clock();
  last_arrival_ = begin;
  start_background();
  for (std::size_t node = 0; node < sends.size(); ++node) {
    if (sends[node] != kNobody || receives[node]) start_node(node, sends[node], receives[node], streams, bytes);
  }
  engine_.run();
  return last_arrival_ - begin;
}

SimulatedCost SimulatedNetwork::cost(const SimulatedSends& sends, std::int64_t streams) {
  const auto sender = std::find_if(sends.begin(), sends.end(), [](std::int32_t to) { return to != kNobody; });
  ASSAY_CHECK(sender != sends.end());
  SimulatedCost cost;
  std::vector<sg::Link*> route;
  hosts_[static_cast<std::size_t>(sender - sends.begin())]->route_to(hosts_[static_cast<std::size_t>(*sender)], route,
                                                                     &cost.latency_seconds);
  // Streams that share their links alike are as fast as one of their sum. Beside a background each counts as a flow.
  const bool joined = background_.empty();
  // SimGrid takes events within 10 us for one; so a second or more at full rate is simulated.
  const auto bytes = static_cast<std::uint64_t>(std::ceil(std::max(1e6, link_.bandwidth_bytes_per_second)));
  const double taken = seconds(sends, joined ? 1 : streams, bytes) - cost.latency_seconds;
  cost.seconds_per_byte = taken / static_cast<double>(bytes) * (joined ? static_cast<double>(streams) : 1);
  return cost;
}

}  // namespace assay::predict
