#include "assay/report/exports/chrome_trace.hpp"

#include <algorithm>
#include <array>

#include "assay/core/version.hpp"

namespace assay::report {
namespace {

enum Track { kStepTrack = 1, kPhaseTrack, kLayerTrack };

/// In the order of a step; others stand behind.
constexpr std::array<const char*, 6> kTracedPhases{"load", "transfer", "forward", "backward", "communicate", "update"};

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Microseconds, exact to the nanosecond; a store that was tampered with gives no time before 0.
std::string microseconds(std::int64_t ns) {
  ns = std::max<std::int64_t>(ns, 0);
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::vector<std::string> traced_phases(const RankResult& rank) {
  std::vector<std::string> names;
  for (const char* name : kTracedPhases) {
    if (rank.phases_ns.count(name) > 0) names.emplace_back(name);
  }
  for (const auto& phase : rank.phases_ns) {
    if (std::find(names.begin(), names.end(), phase.first) == names.end()) names.push_back(phase.first);
  }
  return names;
}

std::string process_title(const Record& record, const Trial& trial, const RankResult& rank) {
  auto text =
      fmt::format("{}, {} {}, run {}", title(trial.workload), trial.worker.name, trial.worker.release, record.index);
  if (record.attempt > 0) text += fmt::format(" attempt {}", record.attempt);
  if (record.ranks.size() > 1) text += fmt::format(" rank {}", rank.rank);
  if (record.outcome.kind != OutcomeKind::ok) text += fmt::format(" ({})", name_of(record.outcome.kind));
  return text;
}

}  // namespace

struct ChromeTrace::Span {
  std::string name;
  const char* category;
  int track;
  std::int64_t begin_ns;
  std::int64_t ns;
  json args;
};

ChromeTrace::ChromeTrace(Write write) : write_(std::move(write)) {
  write_("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":\"assay ");
  write_(kVersion);
  write_("\"},\"traceEvents\":[");
}

void ChromeTrace::add(const Record& record, const Trial& trial) {
  for (const auto& rank : record.ranks) add_process(rank, process_title(record, trial, rank));
}

void ChromeTrace::finish() {
  write_("\n]}\n");
}

void ChromeTrace::add_process(const RankResult& rank, const std::string& called) {
  ++process_;
  label("process_name", 0, called);
  label("thread_name", kStepTrack, "steps");
  auto end_ns = add_steps(rank);
  if (!rank.phases_ns.empty()) {
    label("thread_name", kPhaseTrack, "phases, in steps of their own");
    end_ns = add_phases(rank, end_ns);
  }
  if (!rank.layers.empty()) {
    label("thread_name", kLayerTrack, "layers, in steps of their own");
    add_layers(rank, end_ns);
  }
}

/// Where the last one ended.
std::int64_t ChromeTrace::add_steps(const RankResult& rank) {
  std::int64_t now_ns = 0;
  std::size_t step = 0;
  for (const auto& slice : rank.slices) {
    now_ns = std::max(now_ns, slice.begin_ns);  // a worker in virtual time may say more than the slice took
    for (std::int64_t i = 0; i < slice.samples && step < rank.samples_ns.size(); ++i, ++step) {
      const json args{{"step", step}, {"turn", slice.turn}, {"warmup", slice.warmup}};
      span({slice.warmup ? "warm-up step" : "step", "step", kStepTrack, now_ns, rank.samples_ns[step], args});
      now_ns += rank.samples_ns[step];
    }
  }
  return now_ns;
}

std::int64_t ChromeTrace::add_phases(const RankResult& rank, std::int64_t begin_ns) {
  const auto names = traced_phases(rank);
  auto now_ns = begin_ns;
  for (std::size_t step = 0; step < rank.phase_step_ns.size(); ++step) {
    const auto next_ns = now_ns + rank.phase_step_ns[step];
    for (const auto& phase : names) {
      const auto& ns = rank.phases_ns.at(phase);
      if (step >= ns.size()) continue;
      span({phase, "phase", kPhaseTrack, now_ns, ns[step], json::object({{"step", step}})});
      now_ns += ns[step];
    }
    now_ns = std::max(now_ns, next_ns);  // phases that overlap add up to more than their step
  }
  return now_ns;
}

void ChromeTrace::add_layers(const RankResult& rank, std::int64_t begin_ns) {
  auto now_ns = begin_ns;
  const auto add = [&](const std::string& node, const char* pass, const std::vector<std::int64_t>& ns, std::size_t at) {
    if (at >= ns.size()) return;
    span({node, "layer", kLayerTrack, now_ns, ns[at], json::object({{"step", at}, {"pass", pass}})});
    now_ns += ns[at];
  };
  for (std::size_t step = 0; step < rank.layer_step_ns.size(); ++step) {
    const auto next_ns = now_ns + rank.layer_step_ns[step];
    for (const auto& layer : rank.layers) add(layer.node, "forward", layer.forward_ns, step);
    for (auto layer = rank.layers.rbegin(); layer != rank.layers.rend(); ++layer) {
      add(layer->node, "backward", layer->backward_ns, step);
    }
    now_ns = std::max(now_ns, next_ns);
  }
}

void ChromeTrace::span(const Span& one) {
  event(fmt::format(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})", one.category,
                    json_text(one.name), process_, one.track, microseconds(one.begin_ns), microseconds(one.ns),
                    json_text(one.args)));
}

void ChromeTrace::label(const char* kind, int track, const std::string& text) {
  event(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", kind, process_, track,
                    json_text(text)));
}

void ChromeTrace::event(const std::string& text) {
  write_((first_ ? "\n" : ",\n") + text);
  first_ = false;
}

}  // namespace assay::report
