#include "assay/predict/serving/server_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>

#include "assay/predict/serving/simulated_server.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

/// A request on its way to a server.
struct Arrival {
  double time = 0;
  std::int64_t request = 0;
  bool to_decode = false;
  bool operator>(const Arrival& other) const {
    return time != other.time ? time > other.time : request > other.request;
  }
};

class Play {
 public:
  Play(const StepTable& table, const Servers& servers, const ServingLoad& load, std::vector<RequestLength> lengths)
      : servers_(servers), load_(load), lengths_(std::move(lengths)), random_(load.seed) {
    for (const auto& one : lengths_) {
      Sequence sequence;
      sequence.prompt = one.prompt_tokens;
      sequence.left = one.output_tokens;
      sequences_.push_back(sequence);
    }
    seen_.requests.resize(static_cast<std::size_t>(load.requests));
    for (std::int64_t i = 0; i < servers.prefill_replicas; ++i) {
      prefill_.emplace_back(table, servers.limits, sequences_, true);
    }
    for (std::int64_t i = 0; i < servers.replicas; ++i) decode_.emplace_back(table, servers.limits, sequences_, false);
    const auto first = load.rate > 0 ? 1 : std::min(load.concurrency, load.requests);
    for (std::int64_t i = 0; i < first; ++i) send(load.rate > 0 ? gap() : 0);
  }

  ServingSimulation run() {
    std::vector<FinishedToken> finished;
    while (true) {
      auto* server = earliest();
      const double begins = server == nullptr ? kNever : server->next();
      if (!arrivals_.empty() && arrivals_.top().time <= begins) {
        deliver();
        continue;
      }
      if (server == nullptr || begins == kNever) break;
      finished.clear();
      const bool prompts = is_prefill(server);
      server->step(finished, seen_);
      for (const auto& one : finished) note(one, prompts);
    }
    if (seen_.steps > 0) seen_.mean_batch /= static_cast<double>(seen_.steps);
    return std::move(seen_);
  }

 private:
  double gap() { return -std::log(drawn_share(random_)) / load_.rate; }

  /// Until a prompt's cache is where it decodes: caches are as long as prompts.
  double hand_over_seconds(std::int64_t request) const {
    const auto& length = lengths_[static_cast<std::size_t>(request)];
    return servers_.hand_over_seconds * static_cast<double>(length.prompt_tokens) /
           static_cast<double>(load_.prompt_tokens);
  }

  void send(double time) {
    if (sent_ == load_.requests) return;
    arrivals_.push({time, sent_, false});
    ++sent_;
  }

  bool is_prefill(const SimulatedServer* server) const {
    return !prefill_.empty() && server >= prefill_.data() && server < prefill_.data() + prefill_.size();
  }

  SimulatedServer* earliest() {
    SimulatedServer* found = nullptr;
    for (auto* servers : {&prefill_, &decode_}) {
      for (auto& one : *servers) {
        if (found == nullptr || one.next() < found->next()) found = &one;
      }
    }
    return found;
  }

  void deliver() {
    const auto arrival = arrivals_.top();
    arrivals_.pop();
    auto& request = seen_.requests[static_cast<std::size_t>(arrival.request)];
    if (!arrival.to_decode) {
      request.arrival = arrival.time;
      if (load_.rate > 0) send(arrival.time + gap());
    }
    const bool decodes = prefill_.empty() || arrival.to_decode;
    chosen(decodes ? decode_ : prefill_, decodes ? decode_turn_ : prefill_turn_).take(arrival.request, arrival.time);
  }

  SimulatedServer& chosen(std::vector<SimulatedServer>& servers, std::size_t& turn) {
    if (servers_.routing == Routing::round_robin) return servers[turn++ % servers.size()];
    const auto less = [](const SimulatedServer& a, const SimulatedServer& b) {
      return a.load() != b.load() ? a.load() < b.load() : a.now() < b.now();
    };
    return *std::min_element(servers.begin(), servers.end(), less);
  }

  void note(const FinishedToken& one, bool prompts) {
    auto& request = seen_.requests[static_cast<std::size_t>(one.request)];
    if (one.first_token && request.output_tokens == 0) {
      request.begin = sequences_[static_cast<std::size_t>(one.request)].begin;
      request.first_token = one.time;
      request.output_tokens = 1;
    }
    if (!one.last_token) {
      if (!prompts) return;
      sequences_[static_cast<std::size_t>(one.request)].handed_over = true;
      arrivals_.push({one.time + hand_over_seconds(one.request), one.request, true});
      return;
    }
    request.finish = one.time;
    request.output_tokens = lengths_[static_cast<std::size_t>(one.request)].output_tokens;
    seen_.seconds = std::max(seen_.seconds, one.time);
    if (load_.rate <= 0) send(one.time);
  }

  Servers servers_;
  ServingLoad load_;
  std::vector<RequestLength> lengths_;
  std::mt19937_64 random_;
  std::vector<Sequence> sequences_;
  std::vector<SimulatedServer> prefill_;
  std::vector<SimulatedServer> decode_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  ServingSimulation seen_;
  std::int64_t sent_ = 0;
  std::size_t prefill_turn_ = 0;
  std::size_t decode_turn_ = 0;
};

std::vector<double> counted(const std::vector<ServedRequest>& requests, double (*value)(const ServedRequest&)) {
  std::vector<double> values;
  for (std::size_t i = requests.size() / 10; i < requests.size(); ++i) values.push_back(value(requests[i]));
  return values;
}

double queue_of(const ServedRequest& request) {
  return request.begin - request.arrival;
}

double first_of(const ServedRequest& request) {
  return request.first_token - request.arrival;
}

double token_of(const ServedRequest& request) {
  return request.output_tokens > 1
             ? (request.finish - request.first_token) / static_cast<double>(request.output_tokens - 1)
             : 0;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double one : values) sum += one;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

double ServingSimulation::queue_quantile(double share) const {
  return stats::quantile(counted(requests, queue_of), share);
}

double ServingSimulation::first_token_quantile(double share) const {
  return stats::quantile(counted(requests, first_of), share);
}

double ServingSimulation::token_quantile(double share) const {
  return stats::quantile(counted(requests, token_of), share);
}

double ServingSimulation::mean_first_token() const {
  return mean_of(counted(requests, first_of));
}

double ServingSimulation::mean_token() const {
  return mean_of(counted(requests, token_of));
}

double ServingSimulation::tokens_per_second() const {
  double tokens = 0;
  double begin = kNever;
  double end = 0;
  for (std::size_t i = requests.size() / 10; i < requests.size(); ++i) {
    tokens += static_cast<double>(requests[i].output_tokens);
    begin = std::min(begin, requests[i].arrival);
    end = std::max(end, requests[i].finish);
  }
  return end > begin ? tokens / (end - begin) : 0;
}

ServingSimulation simulate_serving(const StepTable& table, const Servers& servers, const ServingLoad& load) {
  ASSAY_CHECK(servers.replicas >= 1 && load.requests >= 1 && load.prompt_tokens >= 1 && load.output_tokens >= 1);
  auto lengths = drawn_lengths(load.lengths, {load.prompt_tokens, load.output_tokens}, load.requests, load.seed);
  std::int64_t longest = 0;
  for (const auto& one : lengths) longest = std::max(longest, one.prompt_tokens + one.output_tokens);
  if (longest > servers.limits.cache_tokens) {
    fail(ErrorKind::usage, "a request of {} tokens does not fit into a cache of {}. Split the model over more devices.",
         longest, servers.limits.cache_tokens);
  }
  return Play(table, servers, load, std::move(lengths)).run();
}

}  // namespace assay::predict
