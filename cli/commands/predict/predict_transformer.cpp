#include "cli/commands/predict/predict_transformer.hpp"

#include <array>

#include "assay/network/network.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "cli/commands/show_network.hpp"
#include "cli/flags/choice.hpp"

namespace assay::cli {
namespace {

constexpr const char* kTransformerGroup = "Transformers that are split";
constexpr std::int64_t kMostSize = 1'000'000;

struct ShapeFlag {
  const char* flag;
  std::int64_t predict::TransformerShape::*size;
  const char* about;
};

constexpr std::array kShapeFlags{
    ShapeFlag{"--hidden", &predict::TransformerShape::hidden, "Give a token this many values between blocks"},
    ShapeFlag{"--blocks", &predict::TransformerShape::blocks,
              "Use this many blocks of attention and feed-forward layers"},
    ShapeFlag{"--heads", &predict::TransformerShape::heads, "Use this many heads of attention"},
    ShapeFlag{"--sequence", &predict::TransformerShape::sequence, "Put this many tokens in a sequence"},
    ShapeFlag{"--vocabulary", &predict::TransformerShape::vocabulary,
              "Use this many words in the embedding and the output"},
    ShapeFlag{"--feedforward", &predict::TransformerShape::feedforward,
              "Give a feed-forward layer this many values inside [4 x hidden]"}};

/// The network's, where it is one of ours; what flags state wins.
predict::TransformerShape shape_asked(const TransformerFlags& flags, const TransformerJob& job) {
  predict::TransformerShape shape;
  if (network::is_network(job.network)) {
    NetworkFlags named;
    named.options = job.options;
    const auto known = predict::transformer_shape(network::build(job.network, network_options(named)));
    if (known) shape = *known;
  }
  for (const auto& one : kShapeFlags) {
    if (flags.shape.*one.size > 0) shape.*one.size = flags.shape.*one.size;
  }
  if (flags.shape.hidden > 0 && flags.shape.feedforward == 0) shape.feedforward = 4 * shape.hidden;
  std::string missing;
  for (const auto& one : kShapeFlags) {
    if (shape.*one.size == 0) missing += (missing.empty() ? "" : ", ") + std::string(one.flag);
  }
  if (missing.empty()) return shape;
  fail(ErrorKind::usage, "{} is not a known transformer: state {}. Known ones are bert_base and gpt2.",
       shown(job.network), missing);
}

}  // namespace

void add_transformer_flags(CLI::App& command, TransformerFlags& flags) {
  for (const auto& one : kShapeFlags) {
    command.add_option(one.flag, flags.shape.*one.size, one.about)
        ->check(CLI::Range(std::int64_t{1}, kMostSize))
        ->group(kTransformerGroup);
  }
  const auto add = [&](const char* flag, std::int64_t& value, const char* about) {
    return command.add_option(flag, value, about)
        ->check(CLI::Range(std::int64_t{1}, kMostSize))
        ->group(kTransformerGroup);
  };
  add("--tensor", flags.plan.tensor, "Share every layer among this many devices")->capture_default_str();
  add("--pipeline", flags.plan.pipeline, "Split the blocks into this many stages; the rest of --devices are replicas")
      ->capture_default_str();
  add("--interleave", flags.plan.interleaving, "Put this many parts of the network in each stage")
      ->capture_default_str();
  add("--microbatch", flags.plan.microbatch, "Send this many sequences through at once")->capture_default_str();
  add("--global-batch", flags.global_batch, "Put this many sequences in a step, over all devices");
  command.add_option("--recompute", flags.recompute, "Recompute in the backward pass: none, attention, full")
      ->capture_default_str()
      ->group(kTransformerGroup);
  command.add_flag("--sequence-parallel", flags.plan.sequence_parallel, "Spread norms and dropouts over --tensor too")
      ->group(kTransformerGroup);
}

bool is_transformer_asked(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    if (option->get_group() == kTransformerGroup && option->count() > 0) return true;
  }
  return false;
}

std::vector<std::string> effective_for_split(const CLI::App& command) {
  // --batch, --layers, --campaign, --simulate and --trace are refused with a reason of their own.
  std::vector<std::string> names{"network", "--option", "--cluster",  "--devices",  "--zero", "--samples",
                                 "--batch", "--layers", "--campaign", "--simulate", "--trace"};
  for (const auto* option : command.get_options()) {
    if (option->get_group() == kTransformerGroup) names.push_back(option->get_name());
  }
  return names;
}

predict::TransformerPrediction predict_split_transformer(const TransformerFlags& flags, const TransformerJob& job) {
  if (flags.global_batch == 0) {
    fail(ErrorKind::usage, "--global-batch is missing: the sequences of a step over all devices, such as 1024.");
  }
  predict::TransformerQuestion question;
  question.name = job.network;
  question.cluster = predict::read_cluster(job.cluster);
  question.shape = shape_asked(flags, job);
  question.plan = flags.plan;
  question.plan.batch = flags.global_batch;
  question.plan.recompute = choice_of<predict::Recompute>(flags.recompute, "--recompute");
  question.plan.zero = job.zero;
  if (job.samples > 0) question.job_samples = job.samples;
  const auto devices = job.devices.empty() ? std::vector<std::int64_t>{question.cluster.devices()}
                                           : plan::sweep_numbers(job.devices, "--devices");
  auto said = predict_transformer(question, devices);
  const auto& share = question.cluster.device.efficiency;
  said.notes.push_back(
      fmt::format("Assumed: each rate of {} at {:.0f} to {:.0f} %, so a what-if and no measurement. "
                  "Mixed precision, Adam, 1F1B; latency is not in it (docs/predict.md).",
                  question.cluster.device.name.empty() ? "the device" : question.cluster.device.name, 100 * share.low,
                  100 * share.high));
  return said;
}

}  // namespace assay::cli
