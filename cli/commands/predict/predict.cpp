#include <filesystem>
#include <memory>

#include "assay/core/text/number.hpp"
#include "assay/core/text/units.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/predict/replay.hpp"
#include "assay/predict/scaling.hpp"
#include "assay/predict/simulation/simulated_cost.hpp"
#include "assay/report/subjects/predict/prediction.hpp"
#include "assay/report/subjects/predict/transformer.hpp"
#include "cli/command.hpp"
#include "cli/commands/predict/predict_accuracy.hpp"
#include "cli/commands/predict/predict_calibrate.hpp"
#include "cli/commands/predict/predict_model.hpp"
#include "cli/commands/predict/predict_plan.hpp"
#include "cli/commands/predict/predict_rows.hpp"
#include "cli/commands/predict/predict_score.hpp"
#include "cli/commands/predict/predict_serve.hpp"
#include "cli/commands/predict/predict_source.hpp"
#include "cli/commands/predict/predict_transformer.hpp"
#include "cli/flags/choice.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"
#include "cli/simulator.hpp"

namespace assay::cli {
namespace {

/// Where nobody says by how much compute is slower while gradients travel: a range, and its middle.
constexpr double kSlowDownLeast = 1.0;
constexpr double kSlowDownMost = 1.2;

struct PredictFlags {
  PredictSource source;
  std::string cluster;
  std::vector<std::string> clusters;
  std::string new_cluster;
  std::string devices;
  std::string scaling = "weak";
  std::string overlap = "wait_free";
  std::string fusion = "buckets";
  std::string bucket;
  std::string first_bucket;
  std::string all_reduce;
  std::string servers;
  std::optional<std::int64_t> server_count;
  std::string call;
  double slow_down = 0;
  predict::Practice practice;
  std::string optimizer = "sgd";
  double samples = 0;
  std::string trace;
  std::string replay;
  bool simulate = false;
  std::vector<std::string> stragglers;
  std::vector<std::string> background;
  ScoreFlags scores;
  TransformerFlags transformer;
  RowsFlags rows;
  ServeFlags serve;
  TrainingPlanFlags plan;
  ModelFlags model;
  AccuracyFlags accuracy;
  std::string calibrate;
  bool is_transformer = false;
  bool json = false;
};

/// Parameter servers, and what does not go with them.
std::optional<predict::ParameterServers> servers_of(const PredictFlags& o) {
  if (o.servers.empty()) {
    if (o.server_count) fail(ErrorKind::usage, "--server-count {} needs --servers own or workers.", *o.server_count);
    return std::nullopt;
  }
  const auto alone = [](bool other, const char* flag, const char* why) {
    if (other) fail(ErrorKind::usage, "--servers and {}: {}. Leave one of them out.", flag, why);
  };
  alone(!o.all_reduce.empty(), "--all-reduce", "gradients are added up by servers or by a collective");
  alone(o.practice.zero > 0, "--zero", "ZeRO shards by collectives");
  alone(o.simulate, "--simulate", "only collectives are simulated");
  return predict::ParameterServers{choice_of<predict::ServerPlace>(o.servers, "--servers"), o.server_count};
}

predict::Practice practice_of(const PredictFlags& o) {
  auto practice = o.practice;
  practice.overlap = choice_of<predict::Overlap>(o.overlap, "--overlap");
  practice.fusion.policy = choice_of<predict::FusionPolicy>(o.fusion, "--fusion");
  if (!o.bucket.empty()) practice.fusion.bucket_bytes = parse_memory(o.bucket, "--bucket");
  if (!o.first_bucket.empty()) {
    practice.fusion.first_bucket_bytes = parse_memory(o.first_bucket, "--first-bucket");
  }
  if (!o.all_reduce.empty()) practice.all_reduce = choice_of<predict::AllReduce>(o.all_reduce, "--all-reduce");
  if (practice.all_reduce == predict::AllReduce::parameter_servers) {
    fail(ErrorKind::usage, "--all-reduce parameter_servers: say where they are with --servers own or workers.");
  }
  practice.servers = servers_of(o);
  if (!o.call.empty()) practice.call_seconds = parse_latency(o.call, "--call");
  return practice;
}

/// The ends of what is not known, and what to say of them.
void add_ranges(const PredictFlags& o, const SourceTable& source, predict::Question& question,
                std::vector<std::string>& notes) {
  question.best.compute = source.fastest;
  question.worst.compute = source.slowest;
  question.range = source.range;
  const auto stated = o.slow_down > 0 ? std::optional(o.slow_down) : question.cluster.slow_down;
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

std::int64_t whole(const std::string& text, const char* flag) {
  const auto numbers = plan::sweep_numbers(text, flag);
  if (numbers.size() == 1) return numbers.front();
  fail(ErrorKind::usage, "{}: {} is not one number.", flag, shown(text));
}

/// --straggler NODE=FACTOR and --background FROM-TO=FLOWS.
predict::Adversity adversity_of(const PredictFlags& o) {
  predict::Adversity adversity;
  for (const auto& text : o.stragglers) {
    const auto [node, factor] = split_assignment(text, "--straggler");
    const double value = parse_number<double>(factor).value_or(0);
    if (!(value >= 1)) {
      fail(ErrorKind::usage, "--straggler: {} is not a factor of at least 1. Write, for example, 3=1.5.",
           shown(factor));
    }
    adversity.stragglers.push_back({whole(node, "--straggler"), value});
  }
  for (const auto& text : o.background) {
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

/// The step of each point with collectives simulated as flows.
void add_simulation(const PredictFlags& o, const predict::Question& question, predict::ScalingPrediction& said) {
  const auto adversity = adversity_of(o);
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
      fail(ErrorKind::usage, "--simulate: {} cannot be simulated; ring and hierarchical_ring can.", o.all_reduce);
    }
    const auto table = slowed(table_at(question, point.devices), adversity.slowest());
    point.simulated_seconds = iterate(table, part, question.practice, cost).seconds;
  }
  said.notes.emplace_back("Simulated: the cheapest of the algorithms that can be, with contention; docs/fitting.md.");
}

/// Where a person named a store, so that --score finds it once the job was measured.
void keep_where_named(const PredictFlags& o, const predict::Question& question, predict::ScalingPrediction& said) {
  if (o.source.campaign.empty() && !o.source.store_named) return;
  const json inputs{{"table", to_json(question.table)},
                    {"cluster", to_json(question.cluster)},
                    {"practice", to_json(question.practice)},
                    {"devices", o.devices},
                    {"scaling", o.scaling},
                    {"options", to_json(question.options)},
                    {"precision", question.precision}};
  keep_prediction(o.source.store, inputs, said);
}

void check_simulated(const PredictFlags& o) {
  if (o.simulate || (o.stragglers.empty() && o.background.empty())) return;
  fail(ErrorKind::usage, "--straggler and --background are for simulations. Add --simulate.");
}

/// What the flags must say together.
void check_asked(const PredictFlags& o) {
  if (o.source.network.empty()) fail(ErrorKind::usage, "name the network that is trained: assay predict resnet50 …");
  if (o.cluster.empty()) {
    fail(ErrorKind::usage,
         "--cluster is missing: a file that says what it runs on. Next: assay predict --new-cluster mine.yaml");
  }
  check_simulated(o);
  if (!(o.scores.published.empty() && o.scores.where.empty())) {
    fail(ErrorKind::usage, "--published and --where are for scores. Add --score.");
  }
}

int predict_transformer_step(const PredictFlags& o) {
  if (o.source.batch > 0 || !o.source.layers.empty() || !o.source.campaign.empty() || o.simulate || !o.trace.empty()) {
    fail(ErrorKind::usage,
         "--batch, --layers, --campaign, --simulate and --trace are not for a transformer that is split. Its batch is "
         "--global-batch.");
  }
  const auto said = predict_split_transformer(
      o.transformer, {o.source.network, o.source.options, o.cluster, o.devices, o.practice.zero, o.samples});
  print(o.json ? to_json(said).dump(2) + "\n" : report::transformer_report(said, terminal_look()));
  return 0;
}

void write_replay(const std::string& path, const predict::Question& question, std::int64_t devices) {
  if (!path.ends_with(".replay")) {
    fail(ErrorKind::usage, "--replay: {} does not end with .replay, by which workers know such a file.",
         shown_path(path));
  }
  const auto replay = replay_of(table_at(question, devices), part_of(question.cluster, devices), question.practice);
  write_output(path, to_json(replay).dump() + "\n");
}

int predict_it(const PredictFlags& o) {
  if (!o.rows.rows.empty() || !o.rows.columns.empty()) {
    print_rows(o.rows, o.calibrate, o.json);
    return 0;
  }
  if (o.scores.score) {
    print_score(o.scores, {o.source.store, o.source.network, o.cluster}, o.json);
    return 0;
  }
  if (!o.calibrate.empty()) {
    if (!o.source.network.empty() || !o.cluster.empty() || o.is_transformer) {
      fail(ErrorKind::usage,
           "--calibrate has jobs and links from its rows. Leave out the network, --cluster and others.");
    }
    print_calibration(o.calibrate, o.devices, o.json);
    return 0;
  }
  check_asked(o);
  if (o.is_transformer) return predict_transformer_step(o);
  predict::Question question;
  question.cluster = predict::read_cluster(o.cluster);
  question.practice = practice_of(o);
  question.scaling = choice_of<predict::Scaling>(o.scaling, "--scaling");
  question.optimizer = o.optimizer;
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
  if (o.simulate) add_simulation(o, question, said);
  if (!o.accuracy.until.empty()) add_times_to_accuracy(o.accuracy, o.source, question, said);
  keep_where_named(o, question, said);
  if (!o.trace.empty()) {
    std::vector<predict::Span> spans;
    static_cast<void>(iterate(question.table, part_of(question.cluster, devices.back()), question.practice, &spans));
    const auto title = fmt::format("{} on {} devices of {}", said.network, devices.back(), said.cluster);
    write_output(o.trace, report::iteration_trace(title, spans).dump() + "\n");
  }
  if (!o.replay.empty()) write_replay(o.replay, question, devices.back());
  print(o.json ? to_json(said).dump(2) + "\n" : report::scaling_prediction_report(said, terminal_look()));
  return 0;
}

constexpr const char* kNewCluster =
    R"(# A cluster for `assay predict --cluster`: put in your own figures. docs/predict.md has every field.
name: 4 x 8 GPUs
nodes: 4
devices_per_node: 8
device:
  name: my GPU
  peak: 312 TFLOP/s           # of one device at the precision you train in, as the maker says
  memory_bandwidth: 2 TB/s
  memory: 80 GB
  efficiency: 35%-55%         # share of the peak that your network reaches: one number, or a range
inside: {latency: 3 us, bandwidth: 250 GB/s}       # between devices of a node
across: {latency: 6 us, bandwidth: 100 Gbit/s}     # between nodes; add `per: device` where each device has a link
# storage: {bandwidth: 2 GB/s, per: node}          # where input is read from; leave it out if input is in memory
# price_per_hour: 24                               # of a node, for --samples
)";

/// A file that is there stays as it is.
int write_new_cluster(const std::string& path) {
  if (std::filesystem::exists(path)) fail(ErrorKind::usage, "{} is there already. Name a new file.", shown_path(path));
  write_output(path, kNewCluster);
  std::fprintf(stderr, "assay: wrote %s. Next: assay predict resnet50 --cluster %s --devices 1-32*2 --batch 64\n",
               path.c_str(), path.c_str());
  return 0;
}

void add_practice_flags(CLI::App& command, PredictFlags& o) {
  const char* group = "How it trains";
  command.add_option("--scaling", o.scaling, "Keep each device's batch (weak), or share one batch (strong)")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--overlap", o.overlap,
                  "Overlap nothing (none), loading (input), or gradients with the backward pass too (wait_free)")
      ->capture_default_str()
      ->group(group);
  command.add_option("--fusion", o.fusion, "Join gradients: optimal, per_tensor, buckets, greedy, one")
      ->capture_default_str()
      ->group(group);
  command.add_option("--bucket", o.bucket, "Make buckets this large [25 MiB]")->group(group);
  command.add_option("--first-bucket", o.first_bucket, "Make the first bucket this large [1 MiB]")->group(group);
  command
      .add_option("--all-reduce", o.all_reduce,
                  "Reduce by this algorithm, or nccl: those that NCCL chooses from [the cheapest for each size]")
      ->group(group);
  command
      .add_option("--servers", o.servers,
                  "Send gradients to parameter servers on nodes of their own (own) or on those that train (workers) "
                  "[reduce by a collective]")
      ->group(group);
  command.add_option("--server-count", o.server_count, "Cut gradients over this many servers [as many as nodes train]")
      ->check(CLI::Range(1, 1'000'000))
      ->group(group);
  command.add_option("--call", o.call, "Add this cost to each collective, such as 20 us [nothing]")->group(group);
  command
      .add_option("--accumulate", o.practice.accumulation,
                  "Add up the gradients of this many batches before they are sent")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->group(group);
  command.add_option("--zero", o.practice.zero, "Shard by ZeRO: 1 the optimizer's state, 2 gradients too, 3 all")
      ->check(CLI::Range(0, 3))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--slow-down", o.slow_down,
                  "Slow computing down by this factor while gradients are sent, such as 1.1")
      ->check(CLI::Range(1.0, 10.0))
      ->group(group);
  command.add_option("--optimizer", o.optimizer, "Count the memory of this optimizer: sgd or adam")
      ->capture_default_str()
      ->group(group);
}

void add_predict(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<PredictFlags>();
  add_source_flags(command, o->source);
  command
      .add_option("--cluster", o->clusters,
                  "Predict for the cluster of this file (.yaml; docs/predict.md); with --search and --training two or "
                  "more stand beside each other")
      ->allow_extra_args(false)
      ->type_name("PATH");
  command
      .add_option("--new-cluster", o->new_cluster,
                  "Write a cluster file to fill in, with what each line means, and end")
      ->type_name("PATH");
  command.add_option("--devices", o->devices, "Use these numbers of devices, such as 8-4096*2 [all of the cluster]");
  command.add_option("--samples", o->samples, "Train on this many samples in all: give hours and price too")
      ->check(CLI::Range(1.0, 1e18));
  add_practice_flags(command, *o);
  command.add_option("--trace", o->trace, "Write one iteration of the last number as a Chrome trace, for Perfetto")
      ->type_name("PATH");
  command.add_option("--replay", o->replay, "Write the step of the last number for workers that replay it (.replay)")
      ->type_name("PATH");
  command.add_flag("--simulate", o->simulate,
                   "Simulate the collectives too, or the graph of a model's step, as flows on links (SimGrid)");
  command
      .add_option("--straggler", o->stragglers,
                  "Slow a node, or a stage of a model, down, NODE=FACTOR; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--background", o->background,
                  "Add traffic of others between nodes, or stages of a model, FROM-TO=FLOWS; may be repeated")
      ->allow_extra_args(false);
  add_transformer_flags(command, o->transformer);
  add_model_flags(command, o->model);
  add_rows_flags(command, o->rows);
  add_training_plan_flags(command, o->plan);
  add_score_flags(command, o->scores);
  add_accuracy_flags(command, o->accuracy);
  add_serve_flags(command, o->serve);
  command
      .add_option(
          "--calibrate", o->calibrate,
          "Fit constants to steps you measured (CSV; docs/predict.md): of a cluster, and predict --devices from them; "
          "with --rows, of a software stack")
      ->type_name("PATH");
  add_json_flag(command, o->json);
  command.footer(
      "Layers come from a measured campaign (--campaign), from a table (--layers), or from the peak of the cluster's\n"
      "device; then all is a what-if.\n"
      "assay predict resnet50 --cluster examples/clusters/v100_10gbe.yaml --devices 1-64*2 --batch 64\n"
      "assay predict resnet50 --cluster c.yaml --campaign measured --fusion optimal --trace step.json\n"
      "assay predict gpt3 --hidden 12288 --blocks 96 --heads 96 --sequence 2048 --vocabulary 51200 --tensor 8 \\\n"
      "  --pipeline 8 --global-batch 64 --cluster c.yaml --devices 64\n"
      "assay predict llama3-70b --search --cluster c.yaml --devices 64-256*2 --global-batch 512 --sequence 8192\n"
      "assay predict llama3-405b --training examples/trainings/llama3.1_405b.yaml --cluster c.yaml\n"
      "assay predict llama3-70b --node h100 --devices 256 --tensor 8 --shard all --sequence 8192 --global-batch 512 "
      "\\\n"
      "  --recompute selective\n"
      "assay predict --calibrate rows.csv --devices 16-64*2\n"
      "assay predict lenet --until 'accuracy>=97%' --store s.db\n"
      "assay predict --rows jobs.csv --columns examples/rows/torchtitan.json --calibrate measured.csv\n"
      "assay predict --score --store s.db --published times.csv\n"
      "assay predict --serve llama3-70b --weights fp8 --rate 20 --prompt-tokens 2048 --output-tokens 256 \\\n"
      "  --slo 'ttft p99<1s' --slo 'tpot p99<50ms'");
  command.callback([o, &command, &invocation] {
    if (is_serve_asked(command, o->serve)) return print_service(o->serve, o->calibrate, o->json);
    const bool has_own_shape = command.count("--hidden") > 0 && command.count("--node") == 0;
    const bool is_model = is_model_asked(command, o->source.network) && !has_own_shape && !o->scores.score;
    if (is_plan_asked(command, o->plan, is_model)) {
      print_plan(command, o->plan,
                 {o->source.network, o->clusters, o->devices, o->calibrate, o->rows.columns, o->json});
      return;
    }
    if (o->clusters.size() > 1) {
      fail(ErrorKind::usage, "--cluster: one file, or two and more with --search or --training.");
    }
    if (!o->clusters.empty()) o->cluster = o->clusters.front();
    o->is_transformer = is_transformer_asked(command);
    if (is_model) {
      check_simulated(*o);
      const ModelJob job{o->source.network,
                         o->cluster,
                         o->devices,
                         command.count("--precision") > 0 ? o->source.precision : "",
                         o->calibrate,
                         o->rows.columns,
                         command.count("--store") > 0 ? o->source.store : "",
                         o->trace,
                         o->plan.pictures,
                         o->simulate,
                         adversity_of(*o)};
      print_model(command, o->model, o->transformer, job, o->json);
      invocation.exit_code = 0;
      return;
    }
    refuse_model_flags(command);
    if (!o->rows.rows.empty() || !o->rows.columns.empty()) {
      refuse_others(command, {"--rows", "--columns", "--calibrate", "--json"}, "the table of --rows states its jobs");
    } else if (o->is_transformer && !o->scores.score && o->calibrate.empty()) {
      refuse_others(command, effective_for_split(command), "a transformer that is split is predicted without it");
    }
    if (takes_measured_steps(command, o->accuracy, o->source)) {
      print_times_to_accuracy(o->accuracy, o->source, o->optimizer, o->json);
      invocation.exit_code = 0;
      return;
    }
    o->source.store_named = command.count("--store") > 0;
    invocation.exit_code = o->new_cluster.empty() ? predict_it(*o) : write_new_cluster(o->new_cluster);
  });
}

}  // namespace

const Command commands::predict{
    "predict", "Predict how a training job scales on a cluster, what limits it, and what would help", add_predict};

}  // namespace assay::cli
