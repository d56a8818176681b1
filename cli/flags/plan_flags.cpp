#include "cli/flags/plan_flags.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "assay/core/text/units.hpp"
#include "assay/core/text/utf8.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"

namespace assay::cli {
namespace {

/// Flags that sweep one axis of the plan, with their help.
constexpr std::array<std::array<const char*, 3>, 24> kWorkloadFlags{{
    {"--worker", "worker", "Measure with this worker, or worker==release"},
    {"--mode", "mode", "Infer, train or generate, or several: infer,train"},
    {"--batch", "batch", "Put this many samples in a step: 8, or several: 1,2,4, 4-24+4, 1-64*2"},
    {"--precision", "precision", "Compute in this precision: fp32, bf16, …"},
    {"--data", "data", "Take input from memory, from files of a generated data set, or from digits"},
    {"--data-count", "data_count", "Put this many samples in the data set"},
    {"--data-side", "data_side", "Make its images this many pixels wide and high"},
    {"--data-chunks", "data_chunks", "Cut the data set into this many files"},
    {"--prompt-tokens", "prompt_tokens", "Generate text after prompts of this many tokens: 128, or 128-2048*2"},
    {"--output-tokens", "output_tokens", "Generate this many tokens in each sequence"},
    {"--sequences", "sequences", "Generate this many sequences at once"},
    {"--cache-precision", "cache_precision", "Keep keys and values in this precision [as the engine does]"},
    {"--tokens", "tokens", "Take tokens that are given beforehand, or the most probable: forced or greedy"},
    {"--scenario", "scenario",
     "Ask queries as MLPerf does, in place of steps: single-stream, multi-stream, server or offline"},
    {"--rate", "rate", "Let this many queries arrive in a second, in the scenario server: 50, or several: 20,40"},
    {"--batch-wait", "batch_wait", "Let the oldest query wait this long for others to fill its batch: 2ms"},
    {"--slo", "slo",
     "Judge queries by this limit on latency: p99<50ms; without --rate, find the highest that keeps it"},
    {"--until", "until", "Train on digits until this share of held-out samples is right: 'accuracy>=97%'"},
    {"--epochs", "epochs", "With --until: train for at most this many epochs [100]"},
    {"--optimizer", "optimizer", "With --until: train by sgd (with a momentum of 0.9) or adam [sgd]"},
    {"--learning-rate", "learning_rate", "With --until: train at this rate [0.01], or several: 0.01,0.1"},
    {"--device", "placement.device", "Compute on this kind of device: cpu, cuda"},
    {"--ranks", "placement.ranks", "Start this many processes that work together"},
    {"--ranks-per-node", "placement.ranks_per_node", "Start this many of them on each host"},
}};
constexpr std::array<std::array<const char*, 3>, 17> kSettingFlags{{
    {"--threads", kThreadsAxis,
     "Compute with this many threads, by whatever the framework follows: 2, or several: 1,2"},
    {"--instances", "settings.instances", "Start this many processes side by side"},
    {"--inter-op", "settings.inter_op", "Run this many operators at once"},
    {"--intra-op", "settings.intra_op", "Give one operator this many threads"},
    {"--library-threads", "settings.library_threads", "Give the math library this many threads"},
    {"--prefill-threads", "settings.prefill_threads", "Read prompts with this many threads"},
    {"--prefill-tokens", "settings.prefill_tokens", "Read this many tokens of prompts at once"},
    {"--affinity", "settings.affinity", "Bind threads to CPUs: none, compact or spread"},
    {"--memory-bind", "settings.memory_bind", "Bind memory: none, local or interleave"},
    {"--allocator", "settings.allocator", "Allocate memory by system, tcmalloc or jemalloc"},
    {"--spin", "settings.spin", "Let idle threads spin: true or false"},
    {"--compile", "settings.compile", "Compile the network by this compiler of the framework"},
    {"--layout", "settings.layout", "Order the dimensions of tensors so"},
    {"--loaders", "settings.loaders", "Load input by this many processes or threads"},
    {"--prefetch", "settings.prefetch", "Load this many batches ahead"},
    {"--page-cache", "settings.page_cache", "Read files from memory or from disk: warm or cold"},
    {"--bucket-bytes", "settings.bucket_bytes", "Join gradients in buckets of this size"},
}};

/// Runs begin in other folders: a path is made whole, a bare name is looked up on PATH.
std::string meter_program(const std::string& given) {
  if (given.find('/') == std::string::npos) return given;
  if (access(given.c_str(), X_OK) != 0) {
    fail(ErrorKind::usage, "meter: {} is not a program that can be started. Give a path, or a name on PATH.", given);
  }
  return std::filesystem::absolute(given).string();
}

}  // namespace

void add_plan_flags(CLI::App& command, PlanFlags& flags) {
  const auto add = [&](const std::array<const char*, 3>& flag, const char* group) {
    const std::string axis = flag[1];
    command
        .add_option_function<std::string>(
            flag[0], [&flags, axis](const std::string& text) { flags.axes.emplace_back(axis, text); }, flag[2])
        ->group(group);
  };
  for (const auto& flag : kWorkloadFlags) add(flag, kWorkloadGroup);
  for (const auto& flag : kSettingFlags) add(flag, kSettingsGroup);
  command.add_option("--option", flags.options, "Set an option of the network, NAME=SWEEP; may be repeated")
      ->allow_extra_args(false)
      ->group(kWorkloadGroup);
  command.add_option("--env", flags.env, "Set a variable for the worker, NAME=VALUE; may be repeated")
      ->allow_extra_args(false)
      ->group(kSettingsGroup);
}

plan::TrialSweep sweep_of(const PlanFlags& flags) {
  plan::TrialSweep sweep;
  for (const auto& [axis, text] : flags.axes) {
    if (axis == kThreadsAxis) {
      sweep.threads.push_back({text, false, ""});
    } else {
      sweep.add(axis, {text, false, ""});
    }
  }
  for (const auto& option : flags.options) {
    const auto [name, text] = split_assignment(option, "--option");
    sweep.add("options." + name, {text, false, ""});
  }
  for (const auto& variable : flags.env) {
    const auto [name, value] = split_assignment(variable, "--env");
    if (value.find(',') != std::string::npos) {
      std::fprintf(stderr, "assay: --env %s is one value, comma and all. To sweep a variable, repeat --env.\n",
                   printable(variable, 200).c_str());
    }
    sweep.add("settings.env." + name, {value, true, ""});
  }
  return sweep;
}

void add_measure_flags(CLI::App& command, MeasureFlags& flags) {
  const char* group = kMeasureGroup;
  command.add_option("--seconds", flags.seconds, "Measure for this long in each run [2s]")->group(group);
  command.add_option("--warmup", flags.warmup, "Warm up for this long first; kept but not summarised [500ms]")
      ->group(group);
  command
      .add_option("--warmup-cap", flags.warmup_cap,
                  "Warm up for up to this while a run still gets faster [10 x --warmup]")
      ->group(group);
  command.add_option("--max-samples", flags.max_samples, "Stop a run after this many samples [10000]")->group(group);
  command
      .add_option("--pair-steps", flags.pair_steps,
                  "Count this many steps of each slice in lock-step; one more before them settles [2]")
      ->group(group);
  command
      .add_flag_function(
          "--phases,!--no-phases", [&flags](std::int64_t times) { flags.phases = times > 0; },
          "Time the phases of a step too, in passes of their own [where the worker can]")
      ->group(group);
  command.add_flag("--layers", flags.layers, "Time every layer too, in passes of their own")->group(group);
  command.add_option("--limit", flags.limit, "Take a worker for hung after this long without an answer [300s]")
      ->group(group);
  command
      .add_option("--prepare-limit", flags.prepare_limit, "Take it for hung after this long while it prepares [600s]")
      ->group(group);
  command
      .add_option("--memory-limit", flags.memory_limit,
                  "End a worker that uses more memory than this, with its children")
      ->group(group);
  command
      .add_option("--meter", flags.meter,
                  "Run this program to read the energy used so far, in joules [counters of the machine, if any]")
      ->group(group);
  command
      .add_option("--platform", flags.platform, "Measure only on the platform whose id begins so, as doctor prints it")
      ->group(group);
  command.add_option("--retries", flags.retries, "Measure a disturbed run again up to this many times [2]")
      ->group(group);
  command
      .add_option(
          "--stop", flags.stop,
          "Measure each trial until half its interval is within this share, such as 1%; looks at 8, 12, 20 runs "
          "and at the most")
      ->group(group);
  command.add_option("--most-runs", flags.most_runs, "With --stop: measure at most this many runs of a trial [20]")
      ->group(group);
  command.add_option("--most-time", flags.most_time, "With --stop: begin no new look after this time")->group(group);
}

void apply(const MeasureFlags& flags, Measure& m) {
  if (!flags.seconds.empty()) m.seconds = parse_seconds(flags.seconds, "--seconds");
  if (!flags.warmup.empty()) m.warmup_seconds = parse_seconds(flags.warmup, "--warmup");
  if (!flags.warmup_cap.empty()) m.warmup_cap_seconds = parse_seconds(flags.warmup_cap, "--warmup-cap");
  if (!flags.limit.empty()) m.limit_seconds = parse_seconds(flags.limit, "--limit");
  if (!flags.prepare_limit.empty()) m.prepare_limit_seconds = parse_seconds(flags.prepare_limit, "--prepare-limit");
  if (!flags.memory_limit.empty()) m.memory_limit_bytes = parse_bytes(flags.memory_limit, "--memory-limit");
  if (!flags.meter.empty()) m.meter = flags.meter;
  if (m.meter) m.meter = meter_program(*m.meter);
  if (!flags.platform.empty()) m.platform = flags.platform;
  if (flags.max_samples) m.max_samples = *flags.max_samples;
  if (flags.pair_steps) m.pair_steps = *flags.pair_steps;
  if (flags.retries) m.retries = *flags.retries;
  if (flags.phases) m.phases = flags.phases;
  m.layers = m.layers || flags.layers;
  if (!flags.stop.empty()) {
    if (!m.stop) m.stop.emplace();
    m.stop->half_width = parse_share(flags.stop, "--stop");
  }
  if (!m.stop && (flags.most_runs || !flags.most_time.empty())) {
    fail(ErrorKind::usage, "--most-runs and --most-time bound a measurement that stops by itself. Add --stop 1%.");
  }
  if (flags.most_runs) m.stop->most_runs = *flags.most_runs;
  if (!flags.most_time.empty()) m.stop->seconds = parse_seconds(flags.most_time, "--most-time");
}

}  // namespace assay::cli
