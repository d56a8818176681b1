#include "assay/predict/simulation/simulate_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>

#include "assay/core/clock.hpp"
#include "assay/predict/simulation/simulate_network.hpp"

namespace assay::predict {
namespace {

namespace sg = simgrid::s4u;

constexpr double kRate = 1e12;  // of every link, so that a task of a second has so many bytes

/// The stages, with a peer at the other end of each kind of link.
class StageNetwork {
 public:
  StageNetwork(std::int64_t stages, const std::vector<SimulatedBackground>& background)
      : engine_(simulated_engine_name()) {
    set_flow_model();
    sg::Engine::set_config("surf/precision:1e-9");  // else what is within 10 us happens at once, and a step has many
    zone_ = sg::create_full_zone("stages");
    for (std::int64_t stage = 0; stage < stages; ++stage) {
      const auto name = std::to_string(stage);
      hosts_.push_back(zone_->create_host("stage" + name, 1.0));
      inside_.push_back(joined(hosts_.back(), "inside" + name, nullptr));
      across_.push_back(joined(hosts_.back(), "across" + name, &rails_));
    }
    for (std::size_t i = 0; i < background.size(); ++i) add_background_pair(background[i], std::to_string(i));
    zone_->seal();
  }

  sg::Host* host(std::int64_t stage) const { return hosts_[static_cast<std::size_t>(stage)]; }
  sg::Host* peer(std::int64_t stage, TaskPlace place) const {
    return (place == TaskPlace::inside ? inside_ : across_)[static_cast<std::size_t>(stage)];
  }
  const std::vector<std::pair<sg::Host*, sg::Host*>>& background() const { return background_; }
  void run() { engine_.run(); }

 private:
  sg::Host* joined(const sg::Host* host, const std::string& name, std::vector<sg::Link*>* kept) {
    auto* peer = zone_->create_host(name, 1.0);
    auto* link = zone_->create_link("link." + name, kRate);
    if (kept != nullptr) kept->push_back(link);
    zone_->add_route(host->get_netpoint(), peer->get_netpoint(), nullptr, nullptr, {sg::LinkInRoute(link)});
    return peer;
  }

  void add_background_pair(const SimulatedBackground& traffic, const std::string& name) {
    const auto* from = rails_[static_cast<std::size_t>(traffic.from)];
    const auto* to = rails_[static_cast<std::size_t>(traffic.to)];
    for (std::int64_t flow = 0; flow < traffic.flows.value_or(1); ++flow) {
      const auto both = name + "." + std::to_string(flow);
      auto* sender = zone_->create_host("sender" + both, 1.0);
      auto* receiver = zone_->create_host("receiver" + both, 1.0);
      zone_->add_route(sender->get_netpoint(), receiver->get_netpoint(), nullptr, nullptr,
                       {sg::LinkInRoute(from), sg::LinkInRoute(to)});
      background_.emplace_back(sender, receiver);
    }
  }

  sg::Engine engine_;
  sg::NetZone* zone_ = nullptr;
  std::vector<sg::Host*> hosts_;
  std::vector<sg::Host*> inside_;
  std::vector<sg::Host*> across_;
  std::vector<sg::Link*> rails_;
  std::vector<std::pair<sg::Host*, sg::Host*>> background_;
};

/// The tasks as actors play them.
class PlayedGraph {
 public:
  PlayedGraph(const GraphRequest& request, StageNetwork& network)
      : request_(request),
        network_(network),
        mutex_(sg::Mutex::create()),
        begun_(request.tasks.size(), -1),
        ended_(request.tasks.size(), false),
        factors_(static_cast<std::size_t>(request.stages), 1.0),
        listeners_(request.tasks.size()) {
    for (const auto& one : request.stragglers) {
      auto& factor = factors_[static_cast<std::size_t>(one.node)];
      factor = std::max(factor, one.factor);
    }
    for (std::size_t i = 0; i < request.tasks.size(); ++i) {
      auto& stream = streams_[{request.tasks[i].stage, request.tasks[i].stream}];
      if (!stream.wake) stream.wake = sg::ConditionVariable::create();
      stream.tasks.push_back(i);
      for (const auto& wait : request.tasks[i].after) {
        listeners_[static_cast<std::size_t>(wait.task)].push_back(stream.wake);
      }
    }
  }

  void start() {
    for (const auto& [place, stream] : streams_) {
      const auto* played = &stream;
      sg::Actor::create("stream", network_.host(place.first), [this, played] {
        for (const auto task : played->tasks) play(task, *played->wake);
      });
    }
    for (const auto& [from, to] : network_.background()) {
      auto* sender = from;
      auto* receiver = to;
      sg::Actor::create("background", sender, [sender, receiver] {
        sg::Comm::sendto(sender, receiver, std::uint64_t{1} << 62);
      })->daemonize();
    }
  }

  double seconds() const { return last_end_; }
  std::int64_t flows() const { return flows_; }

 private:
  struct Stream {
    sg::ConditionVariablePtr wake;
    std::vector<std::size_t> tasks;
  };

  double factor(const SimulatedTask& task) const { return factors_[static_cast<std::size_t>(task.stage)]; }

  void play(std::size_t index, sg::ConditionVariable& wake) {
    const auto& task = request_.tasks[index];
    double earliest = 0;
    for (const auto& wait : task.after) earliest = std::max(earliest, await(wait, wake));
    if (earliest > sg::Engine::get_clock()) sg::this_actor::sleep_until(earliest);
    tell(index, [&] { begun_[index] = sg::Engine::get_clock(); });
    if (task.place == TaskPlace::device) {
      if (task.seconds > 0) sg::this_actor::sleep_for(task.seconds * factor(task));
    } else if (task.seconds > 0) {
      ++flows_;
      sg::Comm::sendto(network_.host(task.stage), network_.peer(task.stage, task.place),
                       static_cast<std::uint64_t>(std::llround(task.seconds * kRate)));
    }
    tell(index, [&] { ended_[index] = true; });
    last_end_ = std::max(last_end_, sg::Engine::get_clock());
  }

  /// Until the other has ended, or has begun: then the time at which the lag is over.
  double await(const TaskWait& wait, sg::ConditionVariable& wake) {
    const auto other = static_cast<std::size_t>(wait.task);
    const std::unique_lock lock(*mutex_);
    while (wait.lag_seconds ? begun_[other] < 0 : !ended_[other]) wake.wait(lock);
    return wait.lag_seconds ? begun_[other] + *wait.lag_seconds * factor(request_.tasks[other]) : 0;
  }

  template <typename Change>
  void tell(std::size_t index, const Change& change) {
    const std::unique_lock lock(*mutex_);
    change();
    for (const auto& one : listeners_[index]) one->notify_all();
  }

  const GraphRequest& request_;
  StageNetwork& network_;
  sg::MutexPtr mutex_;
  std::vector<double> begun_;
  std::vector<bool> ended_;
  std::vector<double> factors_;
  std::vector<std::vector<sg::ConditionVariablePtr>> listeners_;
  std::map<std::pair<std::int64_t, std::int64_t>, Stream> streams_;
  double last_end_ = 0;
  std::int64_t flows_ = 0;
};

}  // namespace

GraphAnswer simulate_graph(const GraphRequest& request) {
  const auto begin_ns = monotonic_ns();
  check_graph(request);
  StageNetwork network(request.stages, request.background);
  PlayedGraph graph(request, network);
  graph.start();
  network.run();
  GraphAnswer answer;
  answer.seconds = graph.seconds();
  answer.flows = graph.flows();
  answer.wall_seconds = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
  return answer;
}

}  // namespace assay::predict
