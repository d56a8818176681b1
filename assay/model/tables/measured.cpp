#include "assay/model/tables/measured.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "assay/core/workloads/learning.hpp"
#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"
#include "assay/network/step_cost.hpp"

namespace assay::model {
namespace {

using Cells = std::map<std::string, std::string>;

std::string number_text(double value) {
  return fmt::format("{}", value);
}

/// What is known of a network without running it. FLOPs and activations (values of all outputs) are those of a sample.
void add_network(const Workload& workload, Cells& numbers, Cells& texts) {
  auto one = workload;
  one.batch = 1;
  const auto cost = network::step_cost(one);
  if (!cost || cost->flops <= 0) {
    texts["network"] = workload.network;
    return;
  }
  numbers["flops"] = number_text(cost->flops);
  if (!network::is_network(workload.network)) return;
  const auto shape = network::cost_of(network::build(workload.network, options_of_network(workload)));
  numbers["parameters"] = number_text(static_cast<double>(shape.total.parameters));
  numbers["activations"] = number_text(static_cast<double>(shape.total.activations));
  numbers["depth"] = number_text(static_cast<double>(shape.width.depth));
}

/// Options of a network or primitive: numbers where they are, else text.
void add_options(const Workload& workload, Cells& numbers, Cells& texts) {
  for (const auto& [name, value] : workload.options) {
    const auto text = plain_text(to_json(value));
    const bool is_number = std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
    (is_number ? numbers : texts)[name] = text;
  }
}

void add_generation(const Generation& generation, Cells& numbers, Cells& texts) {
  numbers["prompt_tokens"] = number_text(static_cast<double>(generation.prompt_tokens));
  numbers["output_tokens"] = number_text(static_cast<double>(generation.output_tokens));
  numbers["sequences"] = number_text(static_cast<double>(generation.sequences));
  texts["cache"] = generation.cache_precision.value_or("default");
}

void add_trial(const Trial& trial, Cells& numbers, Cells& texts) {
  const auto& workload = trial.workload;
  texts["worker"] = trial.worker.name + " " + trial.worker.release;
  texts["mode"] = name_of(workload.mode);
  texts["precision"] = workload.precision;
  texts["data"] = workload.data;
  texts["device"] = trial.placement.device;
  numbers["batch"] = number_text(static_cast<double>(workload.batch));
  numbers["instances"] = number_text(static_cast<double>(trial.settings.instances.value_or(1)));
  numbers["ranks"] = number_text(static_cast<double>(trial.placement.ranks));
  if (trial.settings.intra_op) numbers["threads"] = number_text(static_cast<double>(*trial.settings.intra_op));
  if (workload.data_chunks) {
    const auto processes = trial.placement.ranks * trial.settings.instances.value_or(1);
    numbers["chunks"] = number_text(static_cast<double>(*workload.data_chunks) / static_cast<double>(processes));
  }
  if (workload.generate) add_generation(*workload.generate, numbers, texts);
  add_options(workload, numbers, texts);
  add_network(workload, numbers, texts);
}

void add_machine(const MeasuredMachine& machine, Cells& numbers) {
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) numbers[name] = number_text(*value);
  };
  add("peak", machine.peak);
  add("memory_bandwidth", machine.memory_bandwidth);
  add("link_latency", machine.link_latency);
  add("link_bandwidth", machine.link_bandwidth);
}

struct Entry {
  Cells numbers;
  Cells texts;
  double seconds = 0;
};

/// Each token follows a context of its own: the prompt and the tokens before it. A median over runs of one position is
/// what the summary of each has.
void add_tokens(const GeneratedSummary& generated, const Entry& entry, std::vector<Entry>& entries) {
  const auto prompt = std::stod(entry.numbers.at("prompt_tokens"));
  for (std::size_t i = 0; i < generated.curve_ns.size(); ++i) {
    auto one = entry;
    for (const char* name : {"prompt_tokens", "output_tokens"}) one.numbers.erase(name);
    one.numbers["context"] = number_text(prompt + static_cast<double>(i + 1));
    one.seconds = 1e-9 * static_cast<double>(generated.curve_ns[i]);
    if (one.seconds > 0) entries.push_back(std::move(one));
  }
}

void add_times(const Summary& summary, TimeOf what, const Entry& entry, std::vector<Entry>& entries) {
  if (what == TimeOf::token) {
    if (summary.generated) add_tokens(*summary.generated, entry, entries);
    return;
  }
  const auto ns = time_of(summary, what);
  if (!ns) return;
  auto one = entry;
  if (what == TimeOf::first_token) one.numbers.erase("output_tokens");
  one.seconds = 1e-9 * static_cast<double>(*ns);
  entries.push_back(std::move(one));
}

/// All names of one kind of cells.
std::set<std::string> names_in(const std::vector<Entry>& entries, Cells Entry::*kind) {
  std::set<std::string> names;
  for (const auto& entry : entries) {
    for (const auto& [name, text] : entry.*kind) names.insert(name);
  }
  return names;
}

/// Empty where there is none.
std::string cell_of(const Cells& cells, const std::string& name) {
  const auto found = cells.find(name);
  return found == cells.end() ? "" : found->second;
}

}  // namespace

Frame frame_of(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& runs,
               const Machines* machines, TimeOf what) {
  std::map<std::string, Entry> of_trials;
  for (const auto& trial : trials) {
    Entry entry;
    add_trial(trial.trial, entry.numbers, entry.texts);
    of_trials.emplace(trial.id, std::move(entry));
  }
  std::vector<Entry> entries;
  for (const auto& run : runs) {
    const auto found = of_trials.find(run.trial);
    const bool counts = run.counted && run.trusted && run.outcome == OutcomeKind::ok && run.summary.median_ns;
    if (found == of_trials.end() || !counts) continue;
    auto entry = found->second;
    if (machines == nullptr) {
      entry.texts["platform"] = run.platform;
    } else if (const auto known = machines->find(run.platform); known != machines->end()) {
      add_machine(known->second, entry.numbers);
    }
    add_times(run.summary, what, entry, entries);
  }
  Frame frame;
  const auto texts = names_in(entries, &Entry::texts);
  const auto numbers = names_in(entries, &Entry::numbers);
  frame.columns.assign(texts.begin(), texts.end());
  frame.columns.insert(frame.columns.end(), numbers.begin(), numbers.end());
  frame.columns.push_back("seconds");
  for (const auto& entry : entries) {
    std::vector<std::string> row;
    for (const auto& name : texts) row.push_back(cell_of(entry.texts, name));
    for (const auto& name : numbers) row.push_back(cell_of(entry.numbers, name));
    row.push_back(number_text(entry.seconds));
    frame.rows.push_back(std::move(row));
  }
  return frame;
}

}  // namespace assay::model
