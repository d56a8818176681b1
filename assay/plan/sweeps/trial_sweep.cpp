#include "assay/plan/sweeps/trial_sweep.hpp"

#include <unordered_set>

#include "assay/plan/located.hpp"
#include "assay/plan/network_source.hpp"
#include "assay/plan/sweeps/threads.hpp"
#include "assay/plan/text.hpp"

namespace assay::plan {
namespace {

constexpr const char* kPrecisionOfFile = "file";  ///< weights as a file of theirs has them

/// One axis of a sweep with its values read.
struct Dimension {
  AxisName name;
  std::vector<AxisValue> values;
};

/// A sweep with every text read: what is left is to combine.
struct Resolved {
  const TrialSweep* sweep;
  std::map<AxisName, std::vector<Written>> written;  ///< what the dimensions point into
  std::vector<Dimension> dimensions;
  std::int64_t trials = 1;
};

/// Keeps the sums of all sweeps under the limits while they are read, so that nothing large is ever built.
class Budget {
 public:
  Budget(const SweepLimits& limits, std::int64_t runs) : limits_(limits), runs_(runs) {}

  /// `trials` of the sweep at hand so far, on top of all sweeps before it.
  void check_trials(std::int64_t trials) const {
    if (trials > limits_.trials - taken_) {
      fail(ErrorKind::usage, "trials: there would be more than {}. Sweep fewer values or split the campaign.",
           limits_.trials);
    }
    if (taken_ + trials > limits_.runs / runs_) {
      fail(ErrorKind::usage, "runs: {} of each trial would be more than {} runs. Ask for fewer runs or trials.", runs_,
           limits_.runs);
    }
  }

  void take(std::int64_t trials, std::int64_t bytes_each) {
    if (bytes_each > (limits_.text_bytes - bytes_) / trials) {
      fail(ErrorKind::usage,
           "trials: their commands, options and variables would take more than {} bytes. Shorten them.",
           limits_.text_bytes);
    }
    taken_ += trials;
    bytes_ += trials * bytes_each;
  }

 private:
  const SweepLimits& limits_;
  std::int64_t runs_;
  std::int64_t taken_ = 0;
  std::int64_t bytes_ = 0;
};

/// What one trial of the sweep holds at most besides the fixed fields.
std::int64_t text_bytes(const Resolved& resolved) {
  std::size_t bytes = 0;
  for (const auto& argument : resolved.sweep->command.value_or(std::vector<std::string>{}))
    bytes += argument.size() + 32;
  for (const auto& dimension : resolved.dimensions) {
    std::size_t longest = 0;
    for (const auto& value : dimension.values) longest = std::max(longest, value.written->text.size());
    bytes += dimension.name.member.size() + longest;
  }
  return static_cast<std::int64_t>(bytes);
}

/// The sweep's values with what a command implies.
std::map<AxisName, std::vector<Written>> with_defaults(const TrialSweep& sweep) {
  auto values = sweep.values;
  for (const char* axis : {"network", "worker"}) {
    auto& written = values[axis_name(axis)];
    if (written.empty() && sweep.command) written.push_back({"command", true, sweep.place});
    if (written.empty()) {
      fail(ErrorKind::usage, "{}: it is missing. {}", axis,
           std::string_view(axis) == "network" ? "Name a network, such as toy."
                                               : "`assay worker list` shows what is installed.");
    }
  }
  return values;
}

void check_command(const TrialSweep& sweep) {
  if (!sweep.command) return;
  if (sweep.command->empty() || sweep.command->front().empty()) {
    fail(ErrorKind::usage, "command: there is no program. Give the program and its arguments.");
  }
  for (const auto& argument : *sweep.command) check_text(argument, "command", "\t\n");
}

/// Replaces references such as "fake" by "fake==1.0.0", each once.
void resolve_workers(std::vector<AxisValue>& values, const Catalog& catalog) {
  std::vector<AxisValue> out;
  std::unordered_set<std::string> seen;
  for (const auto& value : values) {
    const auto& worker = located(
        value.written->place, [&]() -> const WorkerInfo& { return catalog.find(std::get<std::string>(*value.value)); });
    const std::string reference = worker.name + "==" + worker.release;
    if (seen.insert(reference).second) out.push_back({Scalar(reference), value.written});
  }
  values = std::move(out);
}

Resolved resolve(const TrialSweep& sweep, const Catalog& catalog, Budget& budget) {
  check_command(sweep);
  Resolved resolved{&sweep, with_defaults(sweep), {}};
  for (const auto& [name, written] : resolved.written) {
    auto values = axis_values(name, written);
    if (name.axis().name == "worker") resolve_workers(values, catalog);
    resolved.trials *= static_cast<std::int64_t>(values.size());  // at most limits.trials * kMostSweepValues
    budget.check_trials(resolved.trials);
    resolved.dimensions.push_back({name, std::move(values)});
  }
  budget.take(resolved.trials, text_bytes(resolved));
  return resolved;
}

/// Trial number `index` of the sweep: the digits of a number whose bases are the dimensions.
Trial combine(const Resolved& resolved, std::int64_t index) {
  Trial trial;
  trial.workload.command = resolved.sweep->command;
  for (auto it = resolved.dimensions.rbegin(); it != resolved.dimensions.rend(); ++it) {
    const auto size = static_cast<std::int64_t>(it->values.size());
    const auto& value = it->values[static_cast<std::size_t>(index % size)].value;
    if (value) it->name.axis().apply(trial, it->name.member, *value);
    index /= size;
  }
  const bool precision_written = resolved.written.count(axis_name("precision")) != 0;
  if (trial.workload.generate && !precision_written && trial.workload.network.ends_with(".gguf"))
    trial.workload.precision = kPrecisionOfFile;
  return trial;
}

void finish_trial(Trial& trial, const Catalog& catalog, NetworkSources& sources) {
  check(trial);
  const WorkerInfo* worker = catalog.find(trial.worker);
  ASSAY_CHECK(worker != nullptr);
  bind_network(sources, *worker, trial.workload);
  check_supported(*worker, trial);
  check_data(catalog, *worker, trial.workload);
}

}  // namespace

void TrialSweep::add(const std::string& axis, Written written) {
  const auto name = located(written.place, [&] { return axis_name(axis); });
  values[name].push_back(std::move(written));
}

std::vector<Trial> expand(const std::vector<TrialSweep>& written, std::int64_t runs, const Catalog& catalog,
                          const SweepLimits& limits) {
  const auto sweeps = with_threads(written, catalog);
  if (runs < 1) fail(ErrorKind::usage, "runs: {} is below 1. Ask for 1 or more.", runs);
  Budget budget(limits, runs);
  std::vector<Resolved> resolved;
  for (const auto& sweep : sweeps) {
    located(sweep.place, [&] { resolved.push_back(resolve(sweep, catalog, budget)); });
  }
  std::vector<Trial> trials;
  std::unordered_set<std::string> seen;
  NetworkSources sources;
  for (const auto& part : resolved) {
    for (std::int64_t i = 0; i < part.trials; ++i) {
      Trial trial = combine(part, i);
      located(part.sweep->place, [&] { finish_trial(trial, catalog, sources); });
      // Within one sweep all combinations differ, because the values of each axis do.
      if (sweeps.size() == 1 || seen.insert(trial_id(trial)).second) trials.push_back(std::move(trial));
    }
  }
  return trials;
}

}  // namespace assay::plan
