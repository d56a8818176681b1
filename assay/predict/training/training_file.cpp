#include "assay/predict/training/training_file.hpp"

#include <cmath>
#include <map>

#include "assay/core/text/file.hpp"
#include "assay/core/text/units.hpp"
#include "assay/plan/section.hpp"

namespace assay::predict {
namespace {

using plan::Section;

constexpr std::size_t kMostTrainingBytes = 1u << 20;
constexpr std::size_t kMostStages = 100;
constexpr std::int64_t kMostSize = 1'000'000'000;
constexpr double kMostTokens = 1e18;

Split read_split(const std::string& file, const plan::Yaml& node) {
  const Section section(
      file, node, "split",
      {"tensor", "pipeline", "context", "experts", "parts", "shard", "microbatch", "zero_1", "schedule", "recompute"});
  Split split;
  const auto read = [&](const char* key, std::int64_t& size) {
    if (const auto* found = section.find(key)) size = section.count(*found, key, kMostSize);
  };
  read("tensor", split.tensor);
  read("pipeline", split.pipeline);
  read("context", split.context);
  read("experts", split.experts);
  read("parts", split.interleaving);
  read("shard", split.shard);
  read("microbatch", split.microbatch);
  if (const auto* found = section.find("zero_1")) {
    const auto& text = section.text(*found, "zero_1");
    if (text != "true" && text != "false") {
      throw plan::LocatedError(section.place(*found), "split.zero_1: write true or false.");
    }
    split.sharded_optimizer = text == "true";
  }
  if (const auto* found = section.find("schedule")) {
    split.schedule = section.choice<PipelineSchedule>(*found, "schedule", {"1f1b", "zero_bubble"});
  }
  if (const auto* found = section.find("recompute")) {
    split.recompute = section.choice<Recomputing>(*found, "recompute", {"none", "selective", "full"});
  }
  return split;
}

TrainingStage read_stage(const std::string& file, const plan::Yaml& node) {
  const Section section(file, node, "stage", {"tokens", "sequence", "batch", "devices", "split"});
  TrainingStage stage;
  const auto& tokens = section.need("tokens", "300B");
  stage.tokens = section.quantity(tokens, "tokens", parse_tokens);
  stage.sequence = section.count(section.need("sequence", "8192"), "sequence", kMostSize);
  stage.batch = section.count(section.need("batch", "1024"), "batch", kMostSize);
  if (const auto* devices = section.find("devices")) stage.devices = section.count(*devices, "devices", kMostSize);
  if (const auto* split = section.find("split")) stage.split = read_split(file, *split);
  return stage;
}

void read_checkpoint(const std::string& file, const plan::Yaml& node, TrainingFile& training) {
  const Section section(file, node, "checkpoint", {"time", "interval"});
  if (const auto* time = section.find("time")) {
    training.checkpoint_seconds = section.quantity(*time, "time", parse_latency);
  }
  if (const auto* interval = section.find("interval")) {
    training.interval_seconds = section.quantity(*interval, "interval", parse_latency);
  }
}

}  // namespace

double parse_tokens(const std::string& text, const std::string& what) {
  static const std::map<std::string, double, std::less<>> units{{"", 1},    {"k", 1e3}, {"M", 1e6},
                                                                {"B", 1e9}, {"G", 1e9}, {"T", 1e12}};
  std::string_view unit = text;
  const auto number = take_number<double>(unit);
  if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const auto found = units.find(unit);
  if (number && found != units.end() && *number > 0 && *number * found->second <= kMostTokens) {
    return *number * found->second;
  }
  fail(ErrorKind::usage, "{}: {} is not a number of tokens. Write, for example, 15.6T or 300B.", what, shown(text));
}

TrainingFile parse_training(std::string_view text, const std::string& file_name) {
  const auto root = plan::parse_yaml(text, file_name, {.bytes = kMostTrainingBytes, .depth = 8, .nodes = 5000});
  const Section section(file_name, root, "training",
                        {"name", "stages", "devices", "precision", "checkpoint", "restart", "spare_nodes", "repair"},
                        Section::Depth::top);
  TrainingFile training;
  training.name = file_name;
  if (const auto* name = section.find("name")) training.name = section.text(*name, "name").substr(0, 200);
  const auto& stages = section.need("stages", "[{tokens: 300B, sequence: 8192, batch: 1024}]");
  if (stages.kind != plan::Yaml::Kind::list || stages.items.empty() || stages.items.size() > kMostStages) {
    throw plan::LocatedError(section.place(stages),
                             fmt::format("stages: write a list of 1 to {} stages here.", kMostStages));
  }
  for (const auto& stage : stages.items) training.stages.push_back(read_stage(file_name, stage));
  if (const auto* devices = section.find("devices")) training.devices = section.count(*devices, "devices", kMostSize);
  if (const auto* precision = section.find("precision")) {
    training.precision = section.choice<StepPrecision>(*precision, "precision", {"bf16", "fp8", "fp4"});
  }
  if (const auto* checkpoint = section.find("checkpoint")) read_checkpoint(file_name, *checkpoint, training);
  if (const auto* restart = section.find("restart")) {
    training.restart_seconds = section.quantity(*restart, "restart", parse_latency);
  }
  if (const auto* spares = section.find("spare_nodes")) {
    training.spare_nodes = static_cast<std::int64_t>(section.number(*spares, "spare_nodes", 0, 1e6));
  }
  if (const auto* repair = section.find("repair")) {
    training.repair_seconds = section.quantity(*repair, "repair", parse_latency);
  }
  if (training.spare_nodes.has_value() != training.repair_seconds.has_value()) {
    throw plan::LocatedError(section.place(root),
                             "spare_nodes and repair belong together: spares run out where repairs take long.");
  }
  return training;
}

TrainingFile read_training(const std::string& path) {
  const auto text = read_file(path, kMostTrainingBytes);
  if (text.size() > kMostTrainingBytes) fail(ErrorKind::bad_input, "{} is larger than 1 MiB.", path);
  return parse_training(text, path);
}

}  // namespace assay::predict
