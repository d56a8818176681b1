#include "cli/commands/predict/predict_model.hpp"

#include "assay/core/text/number.hpp"
#include "assay/core/text/units.hpp"
#include "assay/network/network.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/models/hf_config.hpp"
#include "assay/predict/step/step_advice.hpp"
#include "assay/predict/step/usual_practice.hpp"
#include "assay/report/subjects/plan/plan_pictures.hpp"
#include "assay/report/subjects/predict/rows.hpp"
#include "cli/command.hpp"
#include "cli/commands/predict/predict_graph.hpp"
#include "cli/commands/predict/predict_rows.hpp"
#include "cli/commands/predict/predict_score.hpp"
#include "cli/flags/choice.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

constexpr const char* kModelGroup = "Models of the catalogue, or a config.json";
constexpr std::int64_t kMostParts = 1'000'000;

[[noreturn]] void changes_nothing(const char* flag, const std::string& why) {
  fail(ErrorKind::usage, "{} changes nothing here: {}. Leave it out.", flag, why);
}

/// Flags that these numbers make idle.
void refuse_idle(const CLI::App& command, const ModelFlags& m, const TransformerFlags& s,
                 const predict::ModelShape& shape) {
  const auto given = [&](const char* flag) { return command.count(flag) > 0; };
  if (s.plan.pipeline == 1) {
    if (given("--interleave")) changes_nothing("--interleave", "there is one stage; --pipeline has more");
    if (given("--schedule")) changes_nothing("--schedule", "there is one stage; --pipeline has more");
  }
  if (s.plan.tensor == 1) {
    if (m.async_tensor) changes_nothing("--async-tensor", "no layer is shared; --tensor shares them");
    if (s.plan.sequence_parallel) changes_nothing("--sequence-parallel", "no layer is shared; --tensor shares them");
  }
  if (given("--experts") && shape.experts.count == 0) {
    changes_nothing("--experts", fmt::format("{} has no experts", shape.name));
  }
  for (const char* flag : {"--hidden", "--blocks", "--heads", "--vocabulary", "--feedforward"}) {
    if (given(flag)) changes_nothing(flag, fmt::format("{} has a shape of its own", shape.name));
  }
}

void check_divides(std::int64_t whole, std::int64_t part, const char* what, const char* by) {
  if (whole % part == 0) return;
  const auto fewer = whole / part * part;
  fail(ErrorKind::usage, "{} {} cannot be divided by {} = {}. Take {}{}.", whole, what, by, part,
       fewer > 0 ? fmt::format("{} or ", fewer) : "", fewer + part);
}

predict::StepDevice machine_of(const ModelFlags& m, const ModelJob& job) {
  if (m.node.empty() == job.cluster.empty()) {
    fail(ErrorKind::usage, "{}: say what it runs on, by --node (such as h100) or by --cluster FILE.",
         m.node.empty() ? "--node is missing" : "--node and --cluster are both given");
  }
  auto device =
      m.node.empty() ? predict::step_device(predict::read_cluster(job.cluster)) : predict::step_device(m.node);
  if (!m.rail.empty()) device.rail_bytes_per_second = parse_byte_rate(m.rail, "--rail");
  return device;
}

std::string yes_or_no(bool is_so) {
  return is_so ? "yes" : "no";
}

/// Devices over which parameters are sharded.
std::int64_t shard_of(const std::string& text, std::int64_t replicas) {
  if (text.empty()) return 0;
  if (text == "all") return replicas;
  const auto count = parse_number<std::int64_t>(text).value_or(0);
  if (count < 2) {
    fail(ErrorKind::usage, "--shard: {} is not a number of devices from 2 on. Write, for example, 8, or all.",
         shown(text));
  }
  check_divides(replicas, count, "replicas", "--shard");
  return count;
}

/// The row of a number of devices, with what differs between them. Throws Error{usage} where it cannot be divided.
std::string line_of_devices(const ModelFlags& m, const TransformerFlags& s, std::int64_t count) {
  check_divides(count, s.plan.tensor * s.plan.pipeline * m.context, "devices", "--tensor x --pipeline x --context");
  const auto data = count / (s.plan.tensor * s.plan.pipeline * m.context);
  check_divides(s.global_batch, data * s.plan.microbatch, "sequences of --global-batch", "replicas x --microbatch");
  return fmt::format("{},{}\n", count, shard_of(m.shard, data * m.context));
}

/// One row for each number of devices; those that cannot be divided have their reason, unless none can.
std::string table_of_devices(const ModelFlags& m, const TransformerFlags& s, const predict::ModelShape& shape,
                             const std::vector<std::int64_t>& devices, std::vector<predict::RefusedDevices>& refused) {
  check_divides(shape.heads, s.plan.tensor, "heads", "--tensor");
  if (shape.experts.count > 0) check_divides(shape.experts.count, m.experts, "experts", "--experts");
  std::string table = "devices,shard\n";
  std::int64_t rows = 0;
  for (const auto count : devices) {
    try {
      table += line_of_devices(m, s, count);
      ++rows;
    } catch (const Error& error) {
      refused.push_back({count, rows, error.what()});
    }
  }
  if (refused.size() == devices.size()) fail(ErrorKind::usage, "{}", refused.front().why);
  return table;
}

predict::RowMap map_of(const ModelFlags& m, const TransformerFlags& s, const ModelJob& job,
                       const predict::ModelShape& shape, const std::string& machine) {
  const auto practice = predict::usual_practice();
  predict::RowMap map;
  map.stack = "usual constants";
  map.columns = {{"devices", "devices"}, {"shard", "shard"}};
  const auto precision = job.precision.empty() ? predict::StepPrecision::bf16
                                               : choice_of<predict::StepPrecision>(job.precision, "--precision");
  map.fixed = {{"model", job.network},
               {"device", machine},
               {"sequence", std::to_string(s.shape.sequence)},
               {"tensor", std::to_string(s.plan.tensor)},
               {"pipeline", std::to_string(s.plan.pipeline)},
               {"context", std::to_string(m.context)},
               {"experts", std::to_string(m.experts)},
               {"interleaving", std::to_string(s.plan.interleaving)},
               {"microbatch", std::to_string(s.plan.microbatch)},
               {"global_batch", std::to_string(s.global_batch)},
               {"recompute", name_of(choice_of<predict::Recomputing>(s.recompute, "--recompute"))},
               {"precision", name_of(precision)},
               {"schedule", name_of(choice_of<predict::PipelineSchedule>(m.schedule, "--schedule"))},
               {"flash_attention", yes_or_no(!m.explicit_scores)},
               {"sequence_parallel", yes_or_no(s.plan.sequence_parallel)},
               {"async_tensor", yes_or_no(m.async_tensor)},
               {"sharded_optimizer", yes_or_no(m.shard.empty())},
               {"balanced_head", yes_or_no(output_takes_a_place(shape, s.plan.pipeline, s.plan.interleaving))},
               {"overlapped_gradients", yes_or_no(practice.overlapped_gradients)},
               {"gradient_bytes", fmt::format("{}", practice.gradient_bytes)}};
  return map;
}

/// Refuses a row with the reason that it has, since it is the command that is wrong.
predict::JobRows jobs_asked(const predict::RowMap& map, const std::string& table) {
  const predict::NamedColumns columns(table, "the command", "");
  auto jobs = read_jobs(columns, map);
  if (!jobs.refused.empty()) fail(ErrorKind::usage, "{}", jobs.refused.front().why);
  return jobs;
}

predict::Stack stack_of(const ModelJob& job, std::string& name) {
  if (job.calibrate.empty()) {
    if (!job.columns.empty()) changes_nothing("--columns", "it reads measured jobs, and there is no --calibrate");
    return {};
  }
  if (job.columns.empty()) {
    fail(ErrorKind::usage, "--columns is missing: a map that says what the columns of {} mean. examples/rows has some.",
         shown(job.calibrate));
  }
  const auto map = predict::read_row_map(job.columns);
  name = map.stack;
  return predict::Stack(map, read_job_table(job.calibrate, map).rows);
}

void write_model_pictures(const PictureFiles& files, const predict::Stack& stack, const predict::JobRows& jobs,
                          const predict::RowsPrediction& said) {
  const auto& last = said.rows.back();
  const auto what = fmt::format("{} on {} devices", last.model, last.devices);
  std::vector<report::MemoryBar> bars;
  for (const auto& row : said.rows) bars.push_back({fmt::format("{} devices", row.devices), row.memory});
  write_pictures(files, what, {"constants: " + said.stack},
                 {report::step_picture(what, step_drawing(stack, jobs.rows.back()), last.seconds, last.step),
                  report::memory_picture(bars, device_bytes(jobs.rows.back().job.device.sheet))},
                 "assay predict " + last.model);
}

}  // namespace

void add_model_flags(CLI::App& command, ModelFlags& flags) {
  const auto add = [&](const char* flag, auto& value, const char* about) {
    return command.add_option(flag, value, about)->group(kModelGroup);
  };
  add("--node", flags.node, "Use nodes of this device as they are sold, such as h100 or gb200, in place of --cluster");
  add("--rail", flags.rail, "Give each device this rate to other nodes, such as 100 Gbit/s [as the node has it]");
  add("--context", flags.context, "Share every sequence among this many devices")
      ->check(CLI::Range(std::int64_t{1}, kMostParts))
      ->capture_default_str();
  add("--experts", flags.experts, "Spread the experts of a layer over this many devices")
      ->check(CLI::Range(std::int64_t{1}, kMostParts))
      ->capture_default_str();
  add("--shard", flags.shard, "Shard parameters over this many devices (FSDP, ZeRO 3), or all [the optimizer alone]");
  add("--schedule", flags.schedule, "Run the stages of --pipeline by 1f1b or zero_bubble")->capture_default_str();
  command.add_flag("--async-tensor", flags.async_tensor, "Add up within --tensor beside the products")
      ->group(kModelGroup);
  command.add_flag("--explicit-scores", flags.explicit_scores, "Write the scores of attention to memory: no flash")
      ->group(kModelGroup);
}

bool is_model_asked(const CLI::App& command, const std::string& network) {
  if (network.empty()) return false;
  if (predict::is_hf_config(network)) return true;
  if (!predict::find_model(network)) return false;
  return command.count("--node") > 0 || !network::is_network(network);
}

void refuse_model_flags(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    if (option->get_group() != kModelGroup || option->count() == 0) continue;
    fail(ErrorKind::usage,
         "{} is for a model of the catalogue or a config.json. Name one, such as llama3-70b, or leave it out.",
         option->get_name());
  }
}

void print_model(const CLI::App& command, const ModelFlags& model, const TransformerFlags& split, const ModelJob& job,
                 const AnswerFlags& wanted) {
  refuse_others(command,
                {"network",
                 "--node",
                 "--rail",
                 "--cluster",
                 "--devices",
                 "--sequence",
                 "--tensor",
                 "--pipeline",
                 "--interleave",
                 "--microbatch",
                 "--global-batch",
                 "--recompute",
                 "--sequence-parallel",
                 "--context",
                 "--experts",
                 "--shard",
                 "--schedule",
                 "--async-tensor",
                 "--explicit-scores",
                 "--precision",
                 "--calibrate",
                 "--columns",
                 "--store",
                 "--trace",
                 "--pictures",
                 "--page",
                 "--simulate",
                 "--straggler",
                 "--background",
                 "--hidden",
                 "--blocks",
                 "--heads",
                 "--vocabulary",
                 "--feedforward"},
                "a model's step is predicted without it");
  const auto shape = predict::named_or_read_model(job.network);
  refuse_idle(command, model, split, shape);
  if (split.shape.sequence == 0)
    fail(ErrorKind::usage, "--sequence is missing: the tokens of a sequence, such as 8192.");
  if (split.global_batch == 0) {
    fail(ErrorKind::usage, "--global-batch is missing: the sequences of a step over all devices, such as 1024.");
  }
  if (job.devices.empty()) fail(ErrorKind::usage, "--devices is missing: how many there are, such as 256 or 8-512*2.");
  const auto machine = machine_of(model, job);
  const bool own_file = model.node.ends_with(".json");
  const auto machine_name = own_file ? machine.sheet.name : model.node.empty() ? job.cluster : model.node;
  auto map = map_of(model, split, job, shape, machine_name);
  map.models[job.network] = shape;
  map.machines[machine_name] = machine;
  const auto devices = plan::sweep_numbers(job.devices, "--devices");
  std::vector<predict::RefusedDevices> refused;
  const auto jobs = jobs_asked(map, table_of_devices(model, split, shape, devices, refused));
  const auto most = jobs.rows.back().job.plan.devices;
  if (!model.rail.empty() && most <= machine.node_devices) {
    changes_nothing("--rail", fmt::format("{} devices are one node", most));
  }
  std::string name = map.stack;
  const auto stack = stack_of(job, name);
  auto said = predict_rows(stack, name, jobs);
  said.refused_devices = refused;
  said.advice = advise_step(stack, jobs.rows.back());
  if (job.simulate) simulate_rows(stack, jobs, job.adversity, said);
  if (!job.trace.empty()) write_step_trace(job.trace, graph_of(stack, jobs.rows.back()), said);
  if (job.pictures.asked()) write_model_pictures(job.pictures, stack, jobs, said);
  if (!job.store.empty()) {
    const auto cluster = model.node.empty() ? predict::read_cluster(job.cluster).name : machine_name;
    auto kept = kept_form(said, jobs, cluster, split.global_batch);
    keep_prediction(job.store,
                    {{"map", map.fixed},
                     {"devices", job.devices},
                     {"rail", model.rail},
                     {"shard", model.shard},
                     {"constants", to_json(said.constants)}},
                    kept);
    said.notes.insert(said.notes.end(), kept.notes.begin(), kept.notes.end());
  }
  answer(wanted, report::job_prediction_document(said), [&] { return to_json(said); });
}

}  // namespace assay::cli
