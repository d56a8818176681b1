#include "cli/commands/predict/predict_practice.hpp"

#include "assay/core/text/units.hpp"
#include "cli/flags/choice.hpp"

namespace assay::cli {
namespace {

/// Parameter servers, and what does not go with them.
std::optional<predict::ParameterServers> servers_of(const PracticeFlags& o, bool simulate) {
  if (o.servers.empty()) {
    if (o.server_count) fail(ErrorKind::usage, "--server-count {} needs --servers own or workers.", *o.server_count);
    return std::nullopt;
  }
  const auto alone = [](bool other, const char* flag, const char* why) {
    if (other) fail(ErrorKind::usage, "--servers and {}: {}. Leave one of them out.", flag, why);
  };
  alone(!o.all_reduce.empty(), "--all-reduce", "gradients are added up by servers or by a collective");
  alone(o.zero > 0, "--zero", "ZeRO shards by collectives");
  alone(simulate, "--simulate", "only collectives are simulated");
  return predict::ParameterServers{choice_of<predict::ServerPlace>(o.servers, "--servers"), o.server_count};
}

}  // namespace

predict::Practice practice_of(const PracticeFlags& o, bool simulate) {
  predict::Practice practice;
  practice.accumulation = o.accumulation;
  practice.zero = o.zero;
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
  practice.servers = servers_of(o, simulate);
  if (!o.call.empty()) practice.call_seconds = parse_latency(o.call, "--call");
  return practice;
}

void add_practice_flags(CLI::App& command, PracticeFlags& o) {
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
  command.add_option("--accumulate", o.accumulation, "Add up the gradients of this many batches before they are sent")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->group(group);
  command.add_option("--zero", o.zero, "Shard by ZeRO: 1 the optimizer's state, 2 gradients too, 3 all")
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

}  // namespace assay::cli
