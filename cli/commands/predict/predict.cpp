#include <filesystem>
#include <memory>

#include "assay/report/subjects/predict/transformer.hpp"
#include "cli/command.hpp"
#include "cli/commands/predict/predict_calibrate.hpp"
#include "cli/commands/predict/predict_model.hpp"
#include "cli/commands/predict/predict_plan.hpp"
#include "cli/commands/predict/predict_rows.hpp"
#include "cli/commands/predict/predict_scaling.hpp"
#include "cli/commands/predict/predict_score.hpp"
#include "cli/commands/predict/predict_serve.hpp"
#include "cli/commands/predict/predict_transformer.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

struct PredictFlags {
  ScalingFlags job;
  std::vector<std::string> clusters;
  std::string new_cluster;
  ScoreFlags scores;
  TransformerFlags transformer;
  RowsFlags rows;
  ServeFlags serve;
  TrainingPlanFlags plan;
  ModelFlags model;
  std::string calibrate;
  bool is_transformer = false;
  AnswerFlags answer;
};

/// What the flags must say together.
void check_asked(const PredictFlags& o) {
  if (o.job.source.network.empty()) {
    fail(ErrorKind::usage, "name the network that is trained: assay predict resnet50 …");
  }
  if (o.job.cluster.empty()) {
    fail(ErrorKind::usage,
         "--cluster is missing: a file that says what it runs on. Next: assay predict --new-cluster mine.yaml");
  }
  check_simulated(o.job.simulation);
  if (!(o.scores.published.empty() && o.scores.where.empty())) {
    fail(ErrorKind::usage, "--published and --where are for scores. Add --score.");
  }
}

void predict_transformer_step(const PredictFlags& o) {
  if (o.job.source.batch > 0 || !o.job.source.layers.empty() || !o.job.source.campaign.empty() ||
      o.job.simulation.simulate || !o.job.trace.empty()) {
    fail(ErrorKind::usage,
         "--batch, --layers, --campaign, --simulate and --trace are not for a transformer that is split. Its batch is "
         "--global-batch.");
  }
  const auto said = predict_split_transformer(o.transformer, {o.job.source.network, o.job.source.options, o.job.cluster,
                                                              o.job.devices, o.job.practice.zero, o.job.samples});
  answer(o.answer, report::transformer_document(said), [&] { return to_json(said); });
}

void predict_it(const PredictFlags& o) {
  if (!o.rows.rows.empty() || !o.rows.columns.empty()) return print_rows(o.rows, o.calibrate, o.answer);
  if (o.scores.score) {
    return print_score(o.scores, {o.job.source.store, o.job.source.network, o.job.cluster}, o.answer);
  }
  if (!o.calibrate.empty()) {
    if (!o.job.source.network.empty() || !o.job.cluster.empty() || o.is_transformer) {
      fail(ErrorKind::usage,
           "--calibrate has jobs and links from its rows. Leave out the network, --cluster and others.");
    }
    return print_calibration(o.calibrate, o.job.devices, o.answer);
  }
  check_asked(o);
  if (o.is_transformer) return predict_transformer_step(o);
  print_scaling(o.job, o.answer);
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
void write_new_cluster(const std::string& path) {
  if (std::filesystem::exists(path)) fail(ErrorKind::usage, "{} is there already. Name a new file.", shown_path(path));
  write_output(path, kNewCluster);
  std::fprintf(stderr, "assay: wrote %s. Next: assay predict resnet50 --cluster %s --devices 1-32*2 --batch 64\n",
               path.c_str(), path.c_str());
}

void predict_model(const CLI::App& command, const PredictFlags& o) {
  check_simulated(o.job.simulation);
  const ModelJob job{o.job.source.network,
                     o.job.cluster,
                     o.job.devices,
                     command.count("--precision") > 0 ? o.job.source.precision : "",
                     o.calibrate,
                     o.rows.columns,
                     command.count("--store") > 0 ? o.job.source.store : "",
                     o.job.trace,
                     o.plan.pictures,
                     o.job.simulation.simulate,
                     adversity_of(o.job.simulation)};
  print_model(command, o.model, o.transformer, job, o.answer);
}

void predict_asked(const CLI::App& command, PredictFlags& o) {
  if (is_serve_asked(command, o.serve)) return print_service(o.serve, o.calibrate, o.answer);
  const bool has_own_shape = command.count("--hidden") > 0 && command.count("--node") == 0;
  const bool is_model = is_model_asked(command, o.job.source.network) && !has_own_shape && !o.scores.score;
  if (is_plan_asked(command, o.plan, is_model)) {
    return print_plan(command, o.plan,
                      {o.job.source.network, o.clusters, o.job.devices, o.calibrate, o.rows.columns, o.answer});
  }
  if (o.clusters.size() > 1) {
    fail(ErrorKind::usage, "--cluster: one file, or two and more with --search or --training.");
  }
  if (!o.clusters.empty()) o.job.cluster = o.clusters.front();
  o.is_transformer = is_transformer_asked(command);
  if (is_model) return predict_model(command, o);
  refuse_model_flags(command);
  if (!o.rows.rows.empty() || !o.rows.columns.empty()) {
    refuse_others(command, {"--rows", "--columns", "--calibrate"}, "the table of --rows states its jobs");
  } else if (o.is_transformer && !o.scores.score && o.calibrate.empty()) {
    refuse_others(command, effective_for_split(command), "a transformer that is split is predicted without it");
  }
  if (takes_measured_steps(command, o.job.accuracy, o.job.source)) {
    return print_times_to_accuracy(o.job.accuracy, o.job.source, o.job.practice.optimizer, o.answer);
  }
  o.job.source.store_named = command.count("--store") > 0;
  o.new_cluster.empty() ? predict_it(o) : write_new_cluster(o.new_cluster);
}

constexpr const char* kPredictExamples =
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
    "  --slo 'ttft p99<1s' --slo 'tpot p99<50ms'";

void add_predict(CLI::App& command, Invocation& /*invocation*/) {
  const auto o = std::make_shared<PredictFlags>();
  add_source_flags(command, o->job.source);
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
  command.add_option("--devices", o->job.devices,
                     "Use these numbers of devices, such as 8-4096*2 [all of the cluster]");
  command.add_option("--samples", o->job.samples, "Train on this many samples in all: give hours and price too")
      ->check(CLI::Range(1.0, 1e18));
  add_practice_flags(command, o->job.practice);
  command.add_option("--trace", o->job.trace, "Write one iteration of the last number as a Chrome trace, for Perfetto")
      ->type_name("PATH");
  command
      .add_option("--replay", o->job.replay, "Write the step of the last number for workers that replay it (.replay)")
      ->type_name("PATH");
  add_simulation_flags(command, o->job.simulation);
  add_transformer_flags(command, o->transformer);
  add_model_flags(command, o->model);
  add_rows_flags(command, o->rows);
  add_training_plan_flags(command, o->plan);
  add_score_flags(command, o->scores);
  add_accuracy_flags(command, o->job.accuracy);
  add_serve_flags(command, o->serve);
  command
      .add_option(
          "--calibrate", o->calibrate,
          "Fit constants to steps you measured (CSV; docs/predict.md): of a cluster, and predict --devices from them; "
          "with --rows, of a software stack")
      ->type_name("PATH");
  add_answer_flags(command, o->answer);
  command.footer(kPredictExamples);
  command.callback([o, &command] { predict_asked(command, *o); });
}

}  // namespace

const Command commands::predict{
    "predict", "Predict how a training job scales on a cluster, what limits it, and what would help", add_predict};

}  // namespace assay::cli
