#include "assay/predict/serving/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

constexpr double kServerMemoryShare = 0.9;
constexpr std::int64_t kMostSimulated = 8;    // replicas: more of them are alike
constexpr std::int64_t kFewRequests = 600;    // while replicas are searched
constexpr std::int64_t kManyRequests = 3000;  // of what is shown
constexpr std::int64_t kRequestsEach = 100;   // at least, of a replica
constexpr std::int64_t kMostPrefill = 64;
constexpr double kHour = 3600;

std::vector<double> times_of(const ServingSimulation& seen, ServedTime time) {
  std::vector<double> values;
  for (auto i = seen.requests.size() / 10; i < seen.requests.size(); ++i) {
    const auto& one = seen.requests[i];
    const double first = one.first_token - one.arrival;
    const auto later = static_cast<double>(std::max<std::int64_t>(1, one.output_tokens - 1));
    if (time == ServedTime::ttft) values.push_back(first);
    if (time == ServedTime::latency) values.push_back(one.finish - one.arrival);
    if (time == ServedTime::tpot) values.push_back((one.finish - one.first_token) / later);
  }
  return values;
}

TimeQuantiles quantiles_of(const ServingSimulation& seen, ServedTime time) {
  const auto values = times_of(seen, time);
  return {stats::quantile(values, 0.5), stats::quantile(values, 0.99)};
}

/// Servers of one kind, tried with any number of them.
class CapacityTrial {
 public:
  CapacityTrial(const CapacityQuestion& question, const ServedModel& model, const KernelTimes& times, double room)
      : question_(question) {
    const auto tokens = static_cast<double>(question.load.prompt_tokens + question.load.output_tokens);
    const auto batch = std::clamp<std::int64_t>(static_cast<std::int64_t>(room), 1, question.most_sequences);
    limits_.batch = batch;
    limits_.cache_tokens = static_cast<std::int64_t>(std::min(room, 1e6) * tokens);
    limits_.step_tokens = question.step_tokens.value_or(std::max<std::int64_t>(limits_.step_tokens, 2 * batch));
    const double most_tokens = std::max(tokens, static_cast<double>(limits_.step_tokens));
    table_.emplace(model, times, question.stack.constants, static_cast<double>(batch), most_tokens);
    hand_over_ = cache_token_bytes(model) * static_cast<double>(question.load.prompt_tokens) /
                 (static_cast<double>(model.tensor) * times.sheet().link_bytes_per_second);
  }

  const StepTable& table() const { return *table_; }

  /// All steps take this much longer.
  CapacityTrial slower(double factor) const {
    auto other = *this;
    other.table_ = table_->slower(factor);
    return other;
  }

  /// The highest rate that one server holds, to 2 %; 0 where not even a hundredth of `start` does.
  double highest_rate(double start) const {
    constexpr double kNear = 1.02;
    double low = start;
    double high = start;
    while (!holds_rate(low)) {
      low /= 2;
      if (low < start / 100) return 0;
    }
    while (high <= low || holds_rate(high)) {
      low = std::max(low, high <= low ? low : high);
      high = 2 * low;
      if (high > 1e6 * start) return low;
    }
    while (high / low > kNear) {
      const double middle = std::sqrt(low * high);
      (holds_rate(middle) ? low : high) = middle;
    }
    return low;
  }

  /// A part of the servers with its part of the load.
  ServingSimulation play(std::int64_t replicas, std::int64_t prefill, std::int64_t requests) const {
    const auto simulated = std::min(replicas, kMostSimulated);
    const double share = static_cast<double>(simulated) / static_cast<double>(replicas);
    Servers servers;
    servers.replicas = simulated;
    servers.routing = question_.routing;
    servers.limits = limits_;
    if (prefill > 0) {
      const double part = std::round(share * static_cast<double>(prefill));
      servers.prefill_replicas = std::max<std::int64_t>(1, static_cast<std::int64_t>(part));
      servers.hand_over_seconds = hand_over_;
    }
    auto load = question_.load;
    load.rate *= share;
    const double clients = std::ceil(share * static_cast<double>(load.concurrency));
    load.concurrency = std::max<std::int64_t>(1, static_cast<std::int64_t>(clients));
    load.requests = std::max({requests, kRequestsEach * simulated, load.rate > 0 ? 0 : 5 * load.concurrency});
    return simulate_serving(table(), servers, load);
  }

  /// Whether they keep up at all: where arrivals outrun answers, the last of them wait longest.
  bool keeps_up(const ServingSimulation& seen) const {
    if (!(question_.load.rate > 0)) return true;
    const auto count = seen.requests.size();
    double early = 0;
    double late = 0;
    const auto third = count / 3;
    for (std::size_t i = 0; i < third; ++i) {
      early += seen.requests[third + i].first_token - seen.requests[third + i].arrival;
      late += seen.requests[count - 1 - i].first_token - seen.requests[count - 1 - i].arrival;
    }
    const auto number = static_cast<double>(third);
    const double span = seen.requests.back().arrival - seen.requests.front().arrival;
    return (late - early) / number < kGrowth * span;
  }

  /// The fewest that hold the load; null where `most` do not. `prefill`: servers of prompts.
  std::optional<std::int64_t> fewest(std::int64_t most, std::int64_t prefill) const {
    std::int64_t high = 1;
    while (!good(high, prefill)) {
      if (high >= most) return std::nullopt;
      high = std::min(most, 2 * high);
    }
    std::int64_t low = high / 2;  // does not hold it
    while (high - low > 1) {
      const auto middle = low + (high - low) / 2;
      (good(middle, prefill) ? high : low) = middle;
    }
    return high;
  }

 private:
  bool holds_rate(double rate) const {
    Servers servers;
    servers.limits = limits_;
    auto load = question_.load;
    load.rate = rate;
    load.requests = searched_requests();
    const auto seen = simulate_serving(table(), servers, load);
    return keeps_up(seen) && holds(seen, question_.limits);
  }

  bool good(std::int64_t replicas, std::int64_t prefill) const {
    const auto seen = play(replicas, prefill, searched_requests());
    return keeps_up(seen) && holds(seen, question_.limits);
  }

  /// Where lengths differ, quantiles of few requests are those of the few long ones that were drawn.
  std::int64_t searched_requests() const {
    return question_.load.lengths.kind == LengthKind::alike ? kFewRequests : kManyRequests;
  }

  static constexpr double kGrowth = 0.05;

  const CapacityQuestion& question_;
  ServerLimits limits_;
  std::optional<StepTable> table_;
  double hand_over_ = 0;
};

struct FoundServers {
  std::int64_t replicas = 0;
  std::int64_t prefill = 0;
};

/// The fewest in all, prompts apart where that is asked.
std::optional<FoundServers> search_servers(const CapacityTrial& trial, const CapacityQuestion& question) {
  if (!question.disaggregated) {
    const auto replicas = trial.fewest(question.most_replicas, 0);
    return replicas ? std::optional(FoundServers{*replicas, 0}) : std::nullopt;
  }
  std::optional<FoundServers> best;
  for (std::int64_t prefill = 1; prefill <= kMostPrefill; prefill *= 2) {
    if (best && prefill >= best->replicas + best->prefill) break;
    const auto most = best ? best->replicas + best->prefill - prefill : question.most_replicas;
    const auto replicas = trial.fewest(std::max<std::int64_t>(1, most), prefill);
    if (replicas && (!best || *replicas + prefill < best->replicas + best->prefill))
      best = FoundServers{*replicas, prefill};
  }
  return best;
}

/// What holds the servers back, by where the time goes.
std::string capacity_limit(const CapacityOption& option, const CapacityQuestion& question) {
  const auto most = static_cast<double>(question.most_sequences);
  if (option.mean_batch > 0.8 * std::min(option.room, most)) {
    return option.room < most ? "room for caches" : "the sequences that a server runs at once";
  }
  const auto& c = question.stack.constants;
  const double decode = 1 - option.prompt_share;
  const double step = option.step.total() + option.fixed_seconds;
  const auto part = [&](double seconds) { return step > 0 ? decode * seconds / step : 0; };
  const std::vector<std::pair<const char*, double>> parts{
      {"prompts", option.prompt_share},
      {"products and weights", part(c.products * (option.step.products + option.step.head))},
      {"attention over caches", part(c.attention * option.step.attention)},
      {"sums over the split", part(c.collectives * option.step.collectives)},
      {"the software", part(option.fixed_seconds)}};
  return std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void describe_servers(CapacityOption& option, const CapacityQuestion& question, const ServedModel& model,
                      const CapacityTrial& trial, const KernelTimes& times) {
  const auto seen = trial.play(option.replicas, option.prefill_replicas, kManyRequests);
  option.queue_seconds = {seen.queue_quantile(0.5), seen.queue_quantile(0.99)};
  option.first_token_seconds = quantiles_of(seen, ServedTime::ttft);
  option.token_seconds = quantiles_of(seen, ServedTime::tpot);
  option.latency_seconds = quantiles_of(seen, ServedTime::latency);
  const auto simulated = static_cast<double>(std::min(option.replicas, kMostSimulated));
  option.tokens_per_second = seen.tokens_per_second() * static_cast<double>(option.replicas) / simulated;
  if (question.load.rate > 0) {
    option.tokens_per_second = question.load.rate * static_cast<double>(question.load.output_tokens);
  }
  option.mean_batch = seen.mean_batch;
  const double context =
      static_cast<double>(question.load.prompt_tokens) + static_cast<double>(question.load.output_tokens) / 2;
  const double batch = std::max(1.0, seen.mean_batch);
  option.step = step_parts(model, times, {batch, context, 0, 0, 0});
  const auto& c = question.stack.constants;
  option.fixed_seconds = 1e-6 * (c.layer_us * static_cast<double>(model.shape.layers) + c.sequence_us * batch);
  const double each = option.tokens_per_second / static_cast<double>(question.load.output_tokens) /
                      static_cast<double>(option.replicas);  // requests a second of one server
  const double prompts = option.prefill_replicas > 0
                             ? 0
                             : each * trial.table().prompt(static_cast<double>(question.load.prompt_tokens), 0);
  const double decode =
      each * static_cast<double>(question.load.output_tokens) * trial.table().decode(batch, context) / batch;
  option.busy = std::min(1.0, prompts + decode);
  option.prompt_share = prompts + decode > 0 ? prompts / (prompts + decode) : 0;
  option.limit = capacity_limit(option, question);
}

void set_costs(CapacityOption& option, const CapacityQuestion& question, const DeviceSheet& sheet) {
  const double million_seconds = 1e6 / option.tokens_per_second;
  const auto devices = static_cast<double>(option.devices);
  option.device_hours_per_million_tokens = devices * million_seconds / kHour;
  option.kwh_per_million_tokens = devices * sheet.watts * million_seconds / kHour / 1e3;
  if (question.price_per_hour) {
    option.price_per_million_tokens = *question.price_per_hour * option.device_hours_per_million_tokens;
  }
}

std::string limits_text(const std::vector<ServingLimit>& limits) {
  std::string text;
  for (const auto& one : limits) {
    text += fmt::format("{}{} p{:g} < {:.3g} s", text.empty() ? "" : ", ", name_of(one.time), 100 * one.quantile,
                        one.seconds);
  }
  return text;
}

}  // namespace

bool holds(const ServingSimulation& seen, const std::vector<ServingLimit>& limits) {
  return std::all_of(limits.begin(), limits.end(), [&](const ServingLimit& one) {
    return stats::quantile(times_of(seen, one.time), one.quantile) <= one.seconds;
  });
}

CapacityOption find_capacity(const CapacityQuestion& question, const KernelTimes& times, std::int64_t tensor) {
  CapacityOption option;
  option.device = times.sheet().name;
  option.tensor = tensor;
  auto model = question.model;
  model.tensor = tensor;
  model.cache_element_bytes = question.stack.cache_element_bytes;
  const auto tokens = static_cast<double>(question.load.prompt_tokens + question.load.output_tokens);
  option.room = question.stack.room * sequences_that_fit(model, times.sheet(), tokens, kServerMemoryShare);
  if (option.room < 1) {
    option.refused = fmt::format("{:.4g} GB of weights and one cache of {:.3g} GB do not fit into {} x {:.4g} GB",
                                 1e-9 * served_weight_bytes(model), 1e-9 * tokens * cache_token_bytes(model), tensor,
                                 1e-9 * times.sheet().memory_bytes);
    return option;
  }
  const CapacityTrial trial(question, model, times, option.room);
  const auto found = search_servers(trial, question);
  if (!found) {
    option.refused = fmt::format("{} replicas do not keep {}", question.most_replicas, limits_text(question.limits));
    return option;
  }
  option.replicas = found->replicas;
  option.prefill_replicas = found->prefill;
  option.devices = (found->replicas + found->prefill) * tensor;
  const double range = question.stack.ranges.token;
  const auto most = 4 * found->replicas + 4;
  option.replicas_low = trial.slower(std::exp(-range)).fewest(most, found->prefill);
  option.replicas_high = trial.slower(std::exp(range)).fewest(most, found->prefill);
  if (question.load.rate > 0 && !question.disaggregated) {
    option.rate_per_server = trial.highest_rate(question.load.rate / static_cast<double>(found->replicas));
  }
  describe_servers(option, question, model, trial, times);
  set_costs(option, question, times.sheet());
  return option;
}

}  // namespace assay::predict
