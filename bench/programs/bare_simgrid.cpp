// bare_simgrid NODES NODES_PER_LEAF OVERSUBSCRIPTION ring | doubling: run by bench/predict_scale.
// The messages that assay-simulate simulates, as somebody would write them down who knows only SimGrid: the same links,
// one actor for each node and step. Prints seconds of wall clock, messages, and the simulated seconds of the slowest
// step.
#include <xbt/log.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

namespace {

constexpr double kBandwidth = 12.5e9;
constexpr double kLatency = 5e-6;

struct Platform {
  std::vector<sg::Host*> hosts;
  std::vector<sg::Mailbox*> boxes;
};

sg::LinkInRoute up(const sg::Link* link) {
  return {link, sg::LinkInRoute::Direction::UP};
}

Platform build(int nodes, int per_leaf, double oversubscription) {
  auto* core = sg::create_star_zone("core");
  std::vector<sg::Link*> links;
  std::vector<sg::Link*> uplinks;
  for (int i = 0; i < nodes; ++i) {
    links.push_back(core->create_split_duplex_link("l" + std::to_string(i), kBandwidth)->set_latency(kLatency / 2));
  }
  for (int i = 0; i < nodes; i += per_leaf) {
    uplinks.push_back(
        core->create_split_duplex_link("u" + std::to_string(i), kBandwidth * per_leaf / oversubscription));
  }
  Platform platform;
  for (int first = 0; first < nodes; first += per_leaf) {
    auto* leaf = sg::create_star_zone("z" + std::to_string(first));
    leaf->set_parent(core);
    auto* gateway = leaf->create_router("s" + std::to_string(first));
    leaf->add_route(gateway, nullptr, nullptr, nullptr, std::vector<sg::LinkInRoute>{});
    const auto number = static_cast<std::size_t>(first / per_leaf);
    core->add_route(leaf->get_netpoint(), nullptr, gateway, nullptr, {up(uplinks[number])});
    for (int i = first; i < std::min(nodes, first + per_leaf); ++i) {
      auto* host = leaf->create_host("n" + std::to_string(i), 1.0);
      leaf->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {up(links[static_cast<std::size_t>(i)])});
      platform.hosts.push_back(host);
      platform.boxes.push_back(sg::Mailbox::by_name(std::to_string(i)));
    }
  }
  core->seal();
  return platform;
}

/// Every node sends to one and receives from one.
double step(const sg::Engine& engine, const Platform& platform, const std::vector<int>& to) {
  const double begin = sg::Engine::get_clock();
  for (std::size_t node = 0; node < to.size(); ++node) {
    auto* own = platform.boxes[node];
    auto* other = platform.boxes[static_cast<std::size_t>(to[node])];
    sg::Actor::create("node", platform.hosts[node], [own, other] {
      sg::Mailbox* got = nullptr;
      const auto sent = other->put_async(other, static_cast<std::uint64_t>(kBandwidth));
      const auto received = own->get_async<sg::Mailbox>(&got);
      sent->wait();
      received->wait();
    });
  }
  engine.run();
  return sg::Engine::get_clock() - begin;
}

std::vector<std::vector<int>> steps_of(const std::string& pattern, int nodes) {
  std::vector<std::vector<int>> steps;
  if (pattern == "ring") {
    auto& step = steps.emplace_back();
    for (int i = 0; i < nodes; ++i) step.push_back((i + 1) % nodes);
    return steps;
  }
  for (int apart = 1; apart < nodes; apart *= 2) {
    auto& step = steps.emplace_back();
    for (int i = 0; i < nodes; ++i) step.push_back(i ^ apart);
  }
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto begin = std::chrono::steady_clock::now();
  const int nodes = std::stoi(argv[1]);
  xbt_log_control_set("xbt_cfg.thresh:warning");
  const sg::Engine engine("bare_simgrid");
  for (const char* setting : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                              "contexts/guard-size:0", "contexts/stack-size:16"}) {
    sg::Engine::set_config(setting);
  }
  const auto platform = build(nodes, std::stoi(argv[2]), std::stod(argv[3]));
  double slowest = 0;
  std::size_t messages = 0;
  for (const auto& to : steps_of(argv[4], nodes)) {
    slowest = std::max(slowest, step(engine, platform, to));
    messages += to.size();
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%.9f %zu %.9f\n", taken.count(), messages, slowest);
}
