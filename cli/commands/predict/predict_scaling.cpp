#include "cli/commands/predict/predict_scaling.hpp"

#include "assay/core/text/number.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/predict/replay.hpp"
#include "assay/report/subjects/predict/prediction.hpp"
#include "cli/command.hpp"
#include "cli/commands/predict/predict_score.hpp"
#include "cli/flags/choice.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"

namespace assay::cli {
namespace {

/// Where nobody says by how much compute is slower while gradients travel: a range, and its middle.
constexpr double kSlowDownLeast = 1.0;
constexpr double kSlowDownMost = 1.2;

/// The ends of what is not known, and what to say of them.
void add_ranges(const ScalingFlags& o, const SourceTable& source, predict::Question& question,
                std::vector<std::string>& notes) {
  question.best.compute = source.fastest;
  question.worst.compute = source.slowest;
  question.range = source.range;
  const auto stated = o.practice.slow_down > 0 ? std::optional(o.practice.slow_down) : question.cluster.slow_down;
  if (stated) {
    question.practice.slow_down = question.best.slow_down = question.worst.slow_down = *stated;
    notes.push_back(
        fmt::format("Compute is taken to be {:.3g} times as slow while gradients travel, as stated.", *stated));
    return;
  }
  question.practice.slow_down = (kSlowDownLeast + kSlowDownMost) / 2;
  question.best.slow_down = kSlowDownLeast;
  question.worst.slow_down = kSlowDownMost;
  question.range = predict::RangeKind::what_if;
  notes.push_back(
      fmt::format("How much slower compute is while gradients travel was not stated: {} is taken, {} to {} for the "
                  "range. --slow-down or slow_down: in the cluster file says it.",
                  question.practice.slow_down, kSlowDownLeast, kSlowDownMost));
}

/// Where a person named a store, so that --score finds it once the job was measured.
void keep_where_named(const ScalingFlags& o, const predict::Question& question, predict::ScalingPrediction& said) {
  if (o.source.campaign.empty() && !o.source.store_named) return;
  const json inputs{{"table", to_json(question.table)},       {"cluster", to_json(question.cluster)},
                    {"practice", to_json(question.practice)}, {"devices", o.devices},
                    {"scaling", o.practice.scaling},          {"options", to_json(question.options)},
                    {"precision", question.precision}};
  keep_prediction(o.source.store, inputs, said);
}

std::int64_t whole(const std::string& text, const char* flag) {
  const auto numbers = plan::sweep_numbers(text, flag);
  if (numbers.size() == 1) return numbers.front();
  fail(ErrorKind::usage, "{}: {} is not one number.", flag, shown(text));
}

/// The step of each point with collectives simulated as flows.
void add_simulation(const SimulationFlags& flags, const predict::Question& question, predict::ScalingPrediction& said) {
  const auto adversity = adversity_of(flags);
  for (auto& point : said.points) {
    const auto part = part_of(question.cluster, point.devices);
    predict::CollectiveCost cost;
    for (const auto& [name, algorithm] : simulated_algorithms(part)) {
      if (question.practice.all_reduce && !may_use(*question.practice.all_reduce, name)) continue;
      const auto request = cost_request(part, algorithm, adversity);
      cost.choices.push_back(simulated_cost(name, request, simulate_iteration(request)));
      cost.choices.back().call_seconds += question.practice.call_seconds;
    }
    if (cost.choices.empty() && point.devices > 1) {
      fail(ErrorKind::usage, "--simulate: {} cannot be simulated; ring and hierarchical_ring can.",
           name_of(*question.practice.all_reduce));
    }
    const auto table = slowed(table_at(question, point.devices), adversity.slowest());
    point.simulated_seconds = iterate(table, part, question.practice, cost).seconds;
  }
  said.notes.emplace_back("Simulated: the cheapest of the algorithms that can be, with contention; docs/fitting.md.");
}

void write_trace(const std::string& path, const predict::Question& question, std::int64_t devices) {
  std::vector<predict::Span> spans;
  static_cast<void>(iterate(question.table, part_of(question.cluster, devices), question.practice, &spans));
  const auto title = fmt::format("{} on {} devices of {}", question.table.name, devices, question.cluster.name);
  write_output(path, report::iteration_trace(title, spans).dump() + "\n");
}

void write_replay(const std::string& path, const predict::Question& question, std::int64_t devices) {
  if (!path.ends_with(".replay")) {
    fail(ErrorKind::usage, "--replay: {} does not end with .replay, by which workers know such a file.",
         shown_path(path));
  }
  const auto replay = replay_of(table_at(question, devices), part_of(question.cluster, devices), question.practice);
  write_output(path, to_json(replay).dump() + "\n");
}

}  // namespace

void add_simulation_flags(CLI::App& command, SimulationFlags& flags) {
  command.add_flag("--simulate", flags.simulate,
                   "Simulate the collectives too, or the graph of a model's step, as flows on links (SimGrid)");
  command
      .add_option("--straggler", flags.stragglers,
                  "Slow a node, or a stage of a model, down, NODE=FACTOR; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--background", flags.background,
                  "Add traffic of others between nodes, or stages of a model, FROM-TO=FLOWS; may be repeated")
      ->allow_extra_args(false);
}

void check_simulated(const SimulationFlags& flags) {
  if (flags.simulate || (flags.stragglers.empty() && flags.background.empty())) return;
  fail(ErrorKind::usage, "--straggler and --background are for simulations. Add --simulate.");
}

predict::Adversity adversity_of(const SimulationFlags& flags) {
  predict::Adversity adversity;
  for (const auto& text : flags.stragglers) {
    const auto [node, factor] = split_assignment(text, "--straggler");
    const double value = parse_number<double>(factor).value_or(0);
    if (!(value >= 1)) {
      fail(ErrorKind::usage, "--straggler: {} is not a factor of at least 1. Write, for example, 3=1.5.",
           shown(factor));
    }
    adversity.stragglers.push_back({whole(node, "--straggler"), value});
  }
  for (const auto& text : flags.background) {
    const auto [pair, flows] = split_assignment(text, "--background");
    const auto dash = pair.find('-');
    if (dash == std::string::npos) {
      fail(ErrorKind::usage, "--background: {} names no two nodes. Write, for example, 0-1=2.", shown(text));
    }
    adversity.background.push_back({whole(pair.substr(0, dash), "--background"),
                                    whole(pair.substr(dash + 1), "--background"), std::nullopt,
                                    whole(flows, "--background")});
  }
  return adversity;
}

void print_scaling(const ScalingFlags& o, const AnswerFlags& wanted) {
  predict::Question question;
  question.cluster = predict::read_cluster(o.cluster);
  question.practice = practice_of(o.practice, o.simulation.simulate);
  question.scaling = choice_of<predict::Scaling>(o.practice.scaling, "--scaling");
  question.optimizer = o.practice.optimizer;
  if (o.samples > 0) question.job_samples = o.samples;
  const auto source = table_of(o.source, question.cluster);
  question.table = source.table;
  question.options = source.options;
  question.precision = source.precision;
  std::vector<std::string> notes = source.notes;
  add_ranges(o, source, question, notes);
  const auto devices = o.devices.empty() ? std::vector<std::int64_t>{question.cluster.devices()}
                                         : plan::sweep_numbers(o.devices, "--devices");
  auto said = predict_scaling(question, devices);
  said.notes = notes;
  if (o.simulation.simulate) add_simulation(o.simulation, question, said);
  if (!o.accuracy.until.empty()) add_times_to_accuracy(o.accuracy, o.source, question, said);
  keep_where_named(o, question, said);
  if (!o.trace.empty()) write_trace(o.trace, question, devices.back());
  if (!o.replay.empty()) write_replay(o.replay, question, devices.back());
  answer(wanted, report::scaling_prediction_document(said), [&] { return to_json(said); });
}

}  // namespace assay::cli
