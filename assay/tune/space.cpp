#include "assay/tune/space.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/core/error.hpp"
#include "assay/core/workloads/scenario.hpp"

namespace assay::tune {
namespace {

using Numbers = std::vector<std::optional<std::int64_t>>;

/// Values of the settings that are varied without being named. A list of one null: left as it is.
struct Knobs {
  Numbers instances{std::nullopt};
  Numbers inter_op{std::nullopt};
  Numbers intra_op{std::nullopt};
  Numbers prefill_threads{std::nullopt};
  Numbers prefill_tokens{std::nullopt};
  std::vector<std::optional<Affinity>> affinity{std::nullopt};
  std::vector<std::optional<MemoryBind>> memory_bind{std::nullopt};
  std::vector<std::optional<Allocator>> allocator{std::nullopt};
  std::vector<std::optional<bool>> spin{std::nullopt};
  bool bounded = true;  ///< all threads together
};

Numbers as_values(const std::vector<std::int64_t>& counts) {
  return {counts.begin(), counts.end()};
}

/// Decides for each setting whether it is varied; tells why not.
class KnobChooser {
 public:
  KnobChooser(const SpaceRequest& request, const plan::WorkerInfo& worker, const GuideInput& situation, Space& space)
      : request_(request), worker_(worker), situation_(situation), r_(situation.resources), space_(space) {}

  Knobs choose() {
    Knobs knobs;
    const auto mode = request_.named.front().workload.mode;
    if (wants("instances", request_.metric == GoalMetric::throughput && mode == Mode::infer,
              mode == Mode::train                   ? "each would train a network of its own"
              : mode == Mode::generate              ? "each would hold the weights again; name them, or --sequences"
              : request_.metric == GoalMetric::rate ? kOneQueue
                                                    : "side by side they make no step shorter")) {
      knobs.instances = as_values(thread_counts(r_.usable_cores()));
    }
    // More pools than operators that can run at once stay idle; some more, because the width is only an average.
    const auto most_pools = std::min(r_.usable_threads(), std::max<std::int64_t>(2 * pools_of(situation_), 4));
    if (follows("inter_op")) knobs.inter_op = as_values(thread_counts(most_pools));
    // Under a quota some more than it leaves, so that a measurement and not a rule decides.
    const auto most_threads = std::min(r_.threads, r_.quota ? 2 * r_.usable_threads() : r_.threads);
    if (follows("intra_op")) knobs.intra_op = as_values(thread_counts(most_threads));
    if (mode == Mode::generate) choose_prefill(knobs, most_threads);
    choose_placement(knobs);
    if (wants("allocator", !situation_.allocators.empty(), "neither tcmalloc nor jemalloc is installed")) {
      knobs.allocator.insert(knobs.allocator.end(), situation_.allocators.begin(), situation_.allocators.end());
    }
    if (follows("spin")) knobs.spin.emplace_back(false);
    for (const char* count : {"instances", "inter_op", "intra_op"}) {
      if (request_.fixed.count(count) != 0) knobs.bounded = false;
    }
    return knobs;
  }

 private:
  /// A worker without prefill_threads reads prompts with the threads that write.
  void choose_prefill(Knobs& knobs, std::int64_t most_threads) {
    if (follows("prefill_threads")) knobs.prefill_threads = as_values(thread_counts(most_threads));
    if (follows("prefill_tokens")) knobs.prefill_tokens.insert(knobs.prefill_tokens.end(), {32, 128, 512, 2048});
  }

  void choose_placement(Knobs& knobs) {
    const bool several = knobs.instances.size() > 1 || request_.fixed.count("instances") != 0;
    if (r_.quota) {
      leave_out("affinity",
                "under a quota the CPUs are shared with others, and a bound thread waits while another is free");
    } else if (wants("affinity", several, "one instance has all CPUs")) {
      knobs.affinity.emplace_back(Affinity::compact);
      if (r_.nodes > 1 || r_.sockets > 1) knobs.affinity.emplace_back(Affinity::spread);
    }
    if (wants("memory_bind", r_.nodes > 1, "there is one NUMA node")) {
      knobs.memory_bind.insert(knobs.memory_bind.end(), {MemoryBind::local, MemoryBind::interleave});
    }
  }

  void leave_out(const std::string& name, const std::string& why) { space_.left_out.push_back(name + ": " + why); }

  bool wants(const std::string& name, bool has_choice, const std::string& why) {
    if (request_.fixed.count(name) != 0) return false;
    if (!has_choice) leave_out(name, why);
    return has_choice;
  }

  bool follows(const std::string& name) {
    const auto inert = worker_.inert.find(name);
    return wants(name, applies(worker_, name),
                 inert == worker_.inert.end() ? worker_.name + " has no such setting" : inert->second);
  }

  const SpaceRequest& request_;
  const plan::WorkerInfo& worker_;
  const GuideInput& situation_;
  const Resources& r_;
  Space& space_;
};

std::int64_t all_threads(const Settings& s, std::int64_t unset_intra) {
  return s.instances.value_or(1) * s.inter_op.value_or(1) * s.intra_op.value_or(unset_intra);
}

/// A binding makes sense only where there is something to bind, and memory in turns only without it.
bool makes_sense(const Settings& s) {
  const bool several = s.instances.value_or(1) > 1;
  if (s.affinity && !several) return false;
  if (s.memory_bind == MemoryBind::local && !s.affinity) return false;
  return s.memory_bind != MemoryBind::interleave || s.affinity != Affinity::compact;
}

/// Prompts are read in pieces only where a piece is less than all of them, and has a token of each.
bool cuts_prompts(const Trial& trial) {
  const auto& asked = trial.workload.generate;
  const auto piece = trial.settings.prefill_tokens;
  return !asked || !piece || (*piece < asked->prompt_tokens * asked->sequences && *piece >= asked->sequences);
}

template <typename T>
void set_if(std::optional<T>& field, const std::optional<T>& value) {
  if (value) field = value;
}

/// All combinations of the knobs on top of one trial.
void add_combinations(const Trial& base, const Knobs& knobs, std::vector<Trial>& out) {
  for (const auto& instances : knobs.instances)
    for (const auto& inter_op : knobs.inter_op)
      for (const auto& intra_op : knobs.intra_op)
        for (const auto& prefill_threads : knobs.prefill_threads)
          for (const auto& prefill_tokens : knobs.prefill_tokens)
            for (const auto& affinity : knobs.affinity)
              for (const auto& memory_bind : knobs.memory_bind)
                for (const auto& allocator : knobs.allocator)
                  for (const auto& spin : knobs.spin) {
                    auto& s = out.emplace_back(base).settings;
                    set_if(s.instances, instances);
                    set_if(s.inter_op, inter_op);
                    set_if(s.intra_op, intra_op);
                    set_if(s.prefill_threads, prefill_threads);
                    set_if(s.prefill_tokens, prefill_tokens);
                    set_if(s.affinity, affinity);
                    set_if(s.memory_bind, memory_bind);
                    set_if(s.allocator, allocator);
                    set_if(s.spin, spin);
                  }
}

/// Every batch limit and wait of the queue that was not named, on top of one trial. A wait is a share of the limit on
/// latency, of which it takes that much.
std::vector<Trial> with_queues(const Trial& base, const SpaceRequest& request) {
  if (request.metric != GoalMetric::rate) return {base};
  std::vector<std::int64_t> batches{base.workload.batch};
  if (request.fixed.count("batch") == 0) batches = {1, 2, 4, 8, 16, 32};
  std::vector<Trial> out;
  for (const auto batch : batches) {
    auto trial = base;
    trial.workload.batch = batch;
    out.push_back(trial);
    if (request.fixed.count("batch_wait") != 0 || batch == 1 || !request.limit) continue;
    for (const double share : {1.0 / 16, 1.0 / 4}) {
      trial.workload.load->batch_wait_seconds = share * request.limit->seconds;
      out.push_back(trial);
    }
  }
  return out;
}

std::map<std::string, std::string> values_of(const Trial& trial) {
  std::map<std::string, std::string> values;
  const json settings = to_json(trial.settings);
  for (const auto& [name, value] : settings.items()) values[name] = value.dump();
  values["precision"] = trial.workload.precision;
  values["batch"] = std::to_string(trial.workload.batch);
  if (const auto& asked = trial.workload.generate) {
    values["sequences"] = std::to_string(asked->sequences);
    values["cache_precision"] = asked->cache_precision.value_or("null");
  }
  const auto scenario = scenario_of(trial.workload.load);
  const auto wait = scenario ? scenario->batch_wait_seconds : std::nullopt;
  values["batch_wait"] = wait ? fmt::format("{:g}", *wait) : "null";
  return values;
}

using Values = std::map<std::string, std::string>;

std::vector<Values> values_of(const std::vector<Trial>& trials) {
  std::vector<Values> out;
  out.reserve(trials.size());
  for (const auto& trial : trials) out.push_back(values_of(trial));
  return out;
}

std::vector<std::string> names_that_vary(const std::vector<Values>& all) {
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& values : all) {
    for (const auto& [name, value] : values) seen[name].insert(value);
  }
  std::vector<std::string> names;
  for (const auto& [name, values] : seen) {
    if (values.size() > 1) names.push_back(name);
  }
  return names;
}

}  // namespace

std::vector<std::int64_t> thread_counts(std::int64_t most) {
  std::vector<std::int64_t> counts{1};
  for (std::int64_t power = 2; power <= most; power *= 2) {
    counts.push_back(power);
    if (power * 3 / 2 <= most && power >= 2) counts.push_back(power * 3 / 2);
  }
  if (counts.back() != most && most > 1) counts.push_back(most);
  return counts;
}

Space space_of(const SpaceRequest& request, const plan::WorkerInfo& worker, const GuideInput& situation) {
  ASSAY_CHECK(!request.named.empty());
  Space space;
  const auto knobs = KnobChooser(request, worker, situation, space).choose();
  std::vector<Trial> all;
  for (const auto& trial : request.named) {
    for (const auto& queued : with_queues(trial, request)) add_combinations(queued, knobs, all);
  }
  const auto most = 2 * situation.resources.usable_threads();
  std::set<std::string> distinct;
  for (auto& trial : all) {
    if (knobs.bounded && all_threads(trial.settings, 1) > most) continue;
    if (request.fixed.count("affinity") == 0 && !makes_sense(trial.settings)) continue;
    if (request.fixed.count("prefill_tokens") == 0 && !cuts_prompts(trial)) continue;
    trial.settings = canonical(trial.settings, situation.resources);
    if (distinct.insert(trial_id(trial)).second) space.candidates.push_back(std::move(trial));
  }
  space.varied = varied_of(space.candidates);
  return space;
}

std::vector<std::string> varied_of(const std::vector<Trial>& trials) {
  return names_that_vary(values_of(trials));
}

std::vector<Settings> shared_rule(const plan::WorkerInfo& worker, const GuideInput& situation) {
  const auto pools = pools_of(situation);
  const auto cores = situation.resources.usable_cores();
  std::vector<Settings> out;
  for (std::int64_t instances = 1; instances <= cores; instances *= 2) {
    Settings s;
    s.instances = instances;
    const auto mine = cores / instances;
    if (applies(worker, "inter_op")) s.inter_op = std::min(pools, mine);
    if (applies(worker, "intra_op")) s.intra_op = std::max<std::int64_t>(mine / s.inter_op.value_or(1), 1);
    if (!situation.resources.quota) {
      s.affinity = Affinity::compact;
      s.memory_bind = MemoryBind::local;
    }
    out.push_back(canonical(s, situation.resources));
  }
  return out;
}

std::vector<std::vector<double>> features_of(const std::vector<Trial>& candidates, const Resources& resources) {
  static const std::set<std::string> kCounts{"instances", "inter_op", "intra_op", "batch", "sequences"};
  std::map<std::string, std::map<std::string, std::size_t>> columns;  // name, value -> column
  std::size_t width = 5;
  std::optional<std::size_t> prefill;  // the column of prefill_threads
  const auto all = values_of(candidates);
  for (const auto& name : names_that_vary(all)) {
    if (kCounts.count(name) != 0) continue;
    if (name == "prefill_threads") {
      prefill = width++;
      continue;
    }
    for (const auto& values : all) {
      const auto& value = values.at(name);
      if (value != "null" && columns[name].emplace(value, width).second) ++width;
    }
  }
  std::vector<std::vector<double>> out;
  out.reserve(candidates.size());
  for (const auto& trial : candidates) {
    const auto& s = trial.settings;
    // What is left to a framework is most often a thread for each core.
    const auto unset_intra = std::max<std::int64_t>(resources.cores / s.instances.value_or(1), 1);
    const auto log = [](std::int64_t n) { return std::log2(static_cast<double>(n)); };
    const auto intra = s.intra_op.value_or(unset_intra);
    const auto& asked = trial.workload.generate;
    std::vector<double> row(width, 0.0);
    row[0] = log(s.instances.value_or(1));
    row[1] = log(s.inter_op.value_or(1));
    row[2] = log(intra);
    row[3] = log(all_threads(s, unset_intra)) - log(resources.cores);
    row[4] = log(trial.workload.batch * (asked ? asked->sequences : 1));
    if (prefill) row[*prefill] = log(s.prefill_threads.value_or(intra));
    for (const auto& [name, value] : all[out.size()]) {
      const auto known = columns.find(name);
      if (known == columns.end()) continue;
      if (const auto column = known->second.find(value); column != known->second.end()) row[column->second] = 1;
    }
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace assay::tune
