#include "assay/predict/serving/server_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <queue>
#include <random>

#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A request inside the servers.
struct Sequence {
  std::int64_t prompt = 0;    ///< tokens to be computed before the next one can be made; after an eviction also answers
  std::int64_t computed = 0;  ///< of these, done
  std::int64_t left = 0;      ///< tokens of the answer that are still to be made
  std::int64_t admitted = 0;  ///< a number that grows: the last one in is the first to be evicted
  std::int64_t entry = 0;     ///< counts the times it began to decode, so that old ends are known
  std::int64_t began = 0;     ///< step at which it began to decode
  bool handed_over = false;   ///< its prompt was computed by another server
};

/// The end of a sequence's decoding, by the server's own count of decode steps.
struct DecodeEnd {
  std::int64_t step = 0;
  std::int64_t request = 0;
  std::int64_t entry = 0;
  bool operator>(const DecodeEnd& other) const {
    return step != other.step ? step > other.step : request > other.request;
  }
};

struct Finished {
  std::int64_t request = 0;
  bool first_token = false;  ///< the token that comes with a prompt, and perhaps its last too
  bool last_token = false;
  bool handed_over = false;  ///< no token: it came with its prompt computed, and decodes from now on
};

/// One server: what waits, what is computing its prompt, what decodes. A step costs the same whatever the batch.
class Server {
 public:
  Server(const StepTable& table, const ServerLimits& limits, std::vector<Sequence>& sequences, bool prompts_only)
      : table_(table), limits_(limits), sequences_(sequences), prompts_only_(prompts_only) {}

  double next() const { return waiting_.empty() && running_ == 0 ? kNever : now_; }
  std::int64_t load() const { return static_cast<std::int64_t>(waiting_.size()) + running_; }
  double now() const { return now_; }

  void take(std::int64_t request, double time) {
    if (load() == 0) now_ = std::max(now_, time);
    waiting_.push_back(request);
  }

  /// Runs one step from now(); what ended with it is appended.
  void step(std::vector<Finished>& finished, ServingSimulation& seen) {
    make_room(seen);
    const std::int64_t decoding = decoding_;
    double seconds =
        table_.decode(static_cast<double>(decoding), decoding > 0 ? context_ / static_cast<double>(decoding) : 0);
    const auto begins = finished.size();
    seconds += prompts(limits_.step_tokens - decoding, finished);
    now_ += seconds;
    seen.steps += 1;
    seen.decoded_tokens += decoding;
    seen.mean_batch += static_cast<double>(decoding);
    context_ += static_cast<double>(decoding);
    cached_ += decoding;
    if (decoding > 0) ++decode_steps_;
    end_decoding(finished);
    for (auto i = begins; i < finished.size(); ++i) {
      if (finished[i].first_token) take_first(finished[i], seen);
      if (finished[i].handed_over) begin_decoding(finished[i].request);
    }
    seen.largest_batch = std::max(seen.largest_batch, static_cast<double>(running_));
  }

 private:
  Sequence& of(std::int64_t request) { return sequences_[static_cast<std::size_t>(request)]; }

  /// Tokens of prompts as far as the step allows: of those that have begun, then of those that wait. Returns seconds.
  double prompts(std::int64_t budget, std::vector<Finished>& finished) {
    double seconds = 0;
    while (budget > 0) {
      if (filling_.empty() && !admit()) break;
      const auto request = filling_.front();
      auto& sequence = of(request);
      if (sequence.handed_over) {
        sequence.handed_over = false;
        filling_.pop_front();
        finished.push_back({request, false, false, true});
        continue;
      }
      const auto tokens = std::min(budget, sequence.prompt - sequence.computed);
      seconds += table_.prompt(static_cast<double>(tokens), static_cast<double>(sequence.computed));
      sequence.computed += tokens;
      budget -= tokens;
      if (sequence.computed < sequence.prompt) break;
      filling_.pop_front();
      finished.push_back({request, true, sequence.left == 1, false});
    }
    return seconds;
  }

  /// The next that waits, where there is a place and room for its prompt and one more token.
  bool admit() {
    if (waiting_.empty() || running_ >= limits_.batch) return false;
    const auto request = waiting_.front();
    auto& sequence = of(request);
    if (cached_ + sequence.prompt + 1 > limits_.cache_tokens) return false;
    waiting_.pop_front();
    cached_ += sequence.prompt;
    sequence.computed = 0;
    sequence.admitted = ++admissions_;
    filling_.push_back(request);
    order_.push_back({request, sequence.admitted});
    ++running_;
    return true;
  }

  void take_first(const Finished& one, ServingSimulation& seen) {
    seen.decoded_tokens += 1;
    of(one.request).left -= 1;
    if (one.last_token || prompts_only_) {
      leave(one.request);
    } else {
      begin_decoding(one.request);
    }
  }

  void begin_decoding(std::int64_t request) {
    auto& sequence = of(request);
    ++cached_;
    context_ += static_cast<double>(sequence.prompt + 1);
    ++decoding_;
    sequence.entry += 1;
    sequence.began = decode_steps_;
    ends_.push({decode_steps_ + sequence.left, request, sequence.entry});
  }

  void end_decoding(std::vector<Finished>& finished) {
    while (!ends_.empty() && ends_.top().step <= decode_steps_) {
      const auto end = ends_.top();
      ends_.pop();
      auto& sequence = of(end.request);
      if (sequence.entry != end.entry || sequence.left == 0) continue;
      const auto made = sequence.left;
      sequence.left = 0;
      --decoding_;
      context_ -= static_cast<double>(sequence.prompt + 1 + made);
      cached_ -= made + 1;
      leave(end.request);
      finished.push_back({end.request, false, true, false});
    }
  }

  void leave(std::int64_t request) {
    cached_ -= of(request).prompt;
    of(request).admitted = 0;
    --running_;
  }

  /// Where the next token of all does not fit, the last that came in gives its place up and computes all of its tokens
  /// again later, as a prompt; what it has answered stays answered.
  void make_room(ServingSimulation& seen) {
    while (running_ > 1 && cached_ + decoding_ > limits_.cache_tokens) {
      const auto [request, admitted] = order_.back();
      order_.pop_back();
      auto& sequence = of(request);
      if (sequence.admitted != admitted) continue;  // it has left
      const bool is_filling = !filling_.empty() && filling_.back() == request;
      if (is_filling) {
        filling_.pop_back();
        leave(request);
      } else {
        const auto made = decode_steps_ - sequence.began;
        --decoding_;
        context_ -= static_cast<double>(sequence.prompt + 1 + made);
        cached_ -= made + 1;
        leave(request);
        sequence.left -= made;
        sequence.prompt += made + 1;
        sequence.entry += 1;  // its end no longer counts
      }
      waiting_.push_front(request);
      seen.evictions += 1;
      seen.requests[static_cast<std::size_t>(request)].evictions += 1;
    }
  }

  const StepTable& table_;
  ServerLimits limits_;
  std::vector<Sequence>& sequences_;
  bool prompts_only_;
  double now_ = 0;
  std::deque<std::int64_t> waiting_;
  std::deque<std::int64_t> filling_;
  std::vector<std::pair<std::int64_t, std::int64_t>> order_;  ///< request and admission of what is inside, in order
  std::priority_queue<DecodeEnd, std::vector<DecodeEnd>, std::greater<>> ends_;
  std::int64_t running_ = 0;
  std::int64_t decoding_ = 0;
  std::int64_t cached_ = 0;
  double context_ = 0;  ///< tokens that decoding sequences have cached, together
  std::int64_t decode_steps_ = 0;
  std::int64_t admissions_ = 0;
};

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
  Play(const StepTable& table, const Servers& servers, const ServingLoad& load)
      : servers_(servers), load_(load), random_(load.seed) {
    sequences_.resize(static_cast<std::size_t>(load.requests),
                      {load.prompt_tokens, 0, load.output_tokens, 0, 0, 0, false});
    seen_.requests.resize(static_cast<std::size_t>(load.requests));
    for (std::int64_t i = 0; i < servers.prefill_replicas; ++i) {
      prefill_.emplace_back(table, servers.limits, sequences_, true);
    }
    for (std::int64_t i = 0; i < servers.replicas; ++i) decode_.emplace_back(table, servers.limits, sequences_, false);
    const auto first = load.rate > 0 ? 1 : std::min(load.concurrency, load.requests);
    for (std::int64_t i = 0; i < first; ++i) send(load.rate > 0 ? gap() : 0);
  }

  ServingSimulation run() {
    std::vector<Finished> finished;
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
      for (const auto& one : finished) note(one, server->now(), prompts);
    }
    if (seen_.steps > 0) seen_.mean_batch /= static_cast<double>(seen_.steps);
    return std::move(seen_);
  }

 private:
  double gap() {
    // A number above 0 and up to 1, by the generator's own bits: the same on every machine.
    constexpr double kBits = 9007199254740992.0;
    const double uniform = (static_cast<double>(random_() >> 11) + 1) / kBits;
    return -std::log(uniform) / load_.rate;
  }

  void send(double time) {
    if (sent_ == load_.requests) return;
    arrivals_.push({time, sent_, false});
    ++sent_;
  }

  bool is_prefill(const Server* server) const {
    return !prefill_.empty() && server >= prefill_.data() && server < prefill_.data() + prefill_.size();
  }

  Server* earliest() {
    Server* found = nullptr;
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
    auto& servers = prefill_.empty() || arrival.to_decode ? decode_ : prefill_;
    chosen(servers).take(arrival.request, arrival.time);
  }

  Server& chosen(std::vector<Server>& servers) {
    if (servers_.routing == Routing::round_robin) {
      return servers[static_cast<std::size_t>(turn_++) % servers.size()];
    }
    const auto less = [](const Server& a, const Server& b) {
      return a.load() != b.load() ? a.load() < b.load() : a.now() < b.now();
    };
    return *std::min_element(servers.begin(), servers.end(), less);
  }

  void note(const Finished& one, double now, bool prompts) {
    auto& request = seen_.requests[static_cast<std::size_t>(one.request)];
    if (one.first_token && request.output_tokens == 0) {
      request.first_token = now;
      request.output_tokens = 1;
    }
    if (!one.last_token) {
      if (!prompts) return;
      sequences_[static_cast<std::size_t>(one.request)].handed_over = true;
      arrivals_.push({now + servers_.hand_over_seconds, one.request, true});
      return;
    }
    request.finish = now;
    request.output_tokens = load_.output_tokens;
    seen_.seconds = std::max(seen_.seconds, now);
    if (load_.rate <= 0) send(now);
  }

  Servers servers_;
  ServingLoad load_;
  std::mt19937_64 random_;
  std::vector<Sequence> sequences_;
  std::vector<Server> prefill_;
  std::vector<Server> decode_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  ServingSimulation seen_;
  std::int64_t sent_ = 0;
  std::uint64_t turn_ = 0;
};

std::vector<double> counted(const std::vector<ServedRequest>& requests, double (*value)(const ServedRequest&)) {
  std::vector<double> values;
  for (std::size_t i = requests.size() / 10; i < requests.size(); ++i) values.push_back(value(requests[i]));
  return values;
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
  if (load.prompt_tokens + load.output_tokens > servers.limits.cache_tokens) {
    fail(ErrorKind::usage, "a request of {} tokens does not fit into a cache of {}. Split the model over more devices.",
         load.prompt_tokens + load.output_tokens, servers.limits.cache_tokens);
  }
  ASSAY_CHECK(servers.replicas >= 1 && load.requests >= 1 && load.prompt_tokens >= 1 && load.output_tokens >= 1);
  return Play(table, servers, load).run();
}

}  // namespace assay::predict
