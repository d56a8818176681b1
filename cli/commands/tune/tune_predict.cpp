#include "cli/commands/tune/tune_predict.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/core/clock.hpp"
#include "assay/core/text/file.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/core/text/items.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/core/text/number.hpp"
#include "assay/network/network.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/predict/threads/settings_prediction.hpp"
#include "assay/report/subjects/predict/settings.hpp"
#include "assay/stats/quantile.hpp"
#include "cli/command.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

constexpr const char* kArtifact = "settings_prediction";
/// Laws are measured on it: it has branches, and operators of many lengths.
constexpr const char* kLawNetwork = "googlenet";
constexpr std::int64_t kMostLawThreads = 8;
constexpr std::int64_t kUsualRuns = 3;
constexpr std::int64_t kMostRuns = 1000;
constexpr std::size_t kMostLawsBytes = 1u << 20;

std::vector<std::optional<double>> quotas_of(const PredictedSettingsRequest& request) {
  const auto& text = request.flags.quotas;
  if (text.empty()) return {request.plan.resources.quota};
  std::vector<std::optional<double>> quotas;
  for (const auto item : items_of(text)) {
    if (item == "all") {
      quotas.emplace_back();
      continue;
    }
    const auto cpus = parse_number<double>(item);
    if (!cpus || !(*cpus > 0) || !std::isfinite(*cpus)) {
      fail(ErrorKind::usage, "--quota: {} is not a number of CPUs. Write 0.5,1,1.5, or all for no quota.",
           shown(std::string(item)));
    }
    quotas.emplace_back(cpus);
  }
  return quotas;
}

void check_predictable(const PredictedSettingsRequest& request) {
  const auto& workload = request.plan.workload;
  const auto& details = request.worker.details;
  if (std::find(details.begin(), details.end(), "layers") == details.end()) {
    fail(ErrorKind::usage,
         "--predict needs the time of each operator, which the worker {} does not tell. Use one with the detail layers "
         "(assay worker list), such as onnxruntime.",
         request.worker.name);
  }
  if (workload.mode != Mode::infer) fail(ErrorKind::usage, "--predict is for inference. Use --mode infer.");
  if (!network::is_network(workload.network)) {
    fail(ErrorKind::usage, "--predict needs the graph of the network, and {} is not a network of Assay's (assay list).",
         shown(workload.network));
  }
}

Trial with_threads(Trial trial, const plan::WorkerInfo& worker, std::int64_t inter_op, std::int64_t intra_op) {
  if (tune::applies(worker, "inter_op")) trial.settings.inter_op = inter_op;
  if (tune::applies(worker, "intra_op")) trial.settings.intra_op = intra_op;
  return trial;
}

/// The network that laws are measured on, under the same settings.
Trial law_trial(const PredictedSettingsRequest& request) {
  PlanFlags flags;
  for (const auto& [axis, text] : request.plan_flags.axes) {
    if (axis == "worker" || axis.starts_with("placement.") || axis.starts_with("settings.")) {
      flags.axes.emplace_back(axis, text);
    }
  }
  flags.env = request.plan_flags.env;
  auto sweep = sweep_of(flags);
  sweep.add("network", {kLawNetwork, false, ""});
  return plan::expand({sweep}, 1, request.catalog).front();
}

/// A trial that is measured, and the setting that it is a point of.
struct AskedSetting {
  predict::ThreadSetting setting;
  Trial trial;
};

/// One thread first, then more of them in one pool, several pools of one thread each, and more threads than cores.
std::vector<AskedSetting> asked_for_laws(const PredictedSettingsRequest& request, std::int64_t cores) {
  const auto base = law_trial(request);
  std::vector<AskedSetting> asked;
  const auto add = [&](std::int64_t inter_op, std::int64_t intra_op) {
    asked.push_back({{inter_op, intra_op, {}}, with_threads(base, request.worker, inter_op, intra_op)});
  };
  add(1, 1);
  const auto counts = tune::thread_counts(std::min(cores, kMostLawThreads));
  for (const auto count : counts) {
    if (count > 1 && tune::applies(request.worker, "intra_op")) add(1, count);
  }
  for (const auto count : counts) {
    if (count > 1 && tune::applies(request.worker, "inter_op")) add(count, 1);
  }
  if (tune::applies(request.worker, "inter_op") && tune::applies(request.worker, "intra_op") && cores > 1) {
    add(2, counts.back());
  }
  return asked;
}

/// What the runs of a trial gave.
struct SettingRuns {
  std::vector<double> steps;
  std::vector<double> cpus;
  std::map<std::string, std::vector<double>> nodes;

  void add(const Record& record) {
    steps.push_back(1e-9 * static_cast<double>(*record.summary.median_ns));
    const auto& rank = record.ranks.front();
    const auto& d = rank.disturbance;
    if (d.cpu_ns && d.measured_ns && *d.measured_ns > 0) {
      cpus.push_back(static_cast<double>(*d.cpu_ns) / static_cast<double>(*d.measured_ns));
    }
    for (const auto& layer : rank.layers) {
      if (layer.forward_ns.empty()) continue;
      const std::vector<double> times(layer.forward_ns.begin(), layer.forward_ns.end());
      nodes[layer.node].push_back(1e-9 * stats::median(times));
    }
  }
};

/// Medians over the runs of a trial. Disturbed runs count only where all were disturbed.
predict::MeasuredSetting measured_setting(store::Store& store, const std::string& campaign, const AskedSetting& asked,
                                          std::int64_t& disturbed_settings) {
  SettingRuns trusted;
  SettingRuns disturbed;
  store.records({.campaign = campaign, .trial = trial_id(asked.trial)}, [&](const Record& record) {
    if (record.outcome.kind != OutcomeKind::ok || !record.summary.median_ns || record.ranks.empty()) return;
    (record.validity.trusted ? trusted : disturbed).add(record);
  });
  if (trusted.steps.empty() && disturbed.steps.empty()) {
    fail(ErrorKind::failure, "no run of {} has ended well; `assay show` says why.", shown(title(asked.trial)));
  }
  if (trusted.steps.empty()) ++disturbed_settings;
  const auto& runs = trusted.steps.empty() ? disturbed : trusted;
  std::map<std::string, double> node_seconds;
  for (const auto& [node, seconds] : runs.nodes) node_seconds[node] = stats::median(seconds);
  predict::MeasuredSetting measured{asked.setting, stats::median(runs.steps), {}, {}};
  if (!runs.cpus.empty()) measured.cpus = stats::median(runs.cpus);
  const auto& workload = asked.trial.workload;
  measured.times =
      predict::operator_times(network::build(workload.network, workload.options), node_seconds, measured.seconds);
  return measured;
}

/// In a file of their own, or in what --json printed.
predict::ThreadLaws laws_in(const std::string& path) {
  return naming(path, [&] {
    const auto document = parse_json(read_file(path, kMostLawsBytes));
    const auto found = document.is_object() ? document.find("laws") : document.end();
    const auto laws = from_json<predict::ThreadLaws>(found == document.end() ? document : *found, "laws");
    check(laws);
    return laws;
  });
}

/// What is not set has one pool, with a thread for each core.
predict::ThreadSetting threads_of(const Settings& settings, std::int64_t cores) {
  return {settings.inter_op.value_or(1), settings.intra_op.value_or(cores), {}};
}

/// Every number of threads that a search would try, on the machine that it is about.
std::vector<predict::ThreadSetting> choices_of(const report::TunePlan& plan, std::int64_t cores) {
  std::vector<predict::ThreadSetting> settings;
  for (const auto& trial : plan.space.candidates) {
    const auto one = threads_of(trial.settings, cores);
    if (std::find(settings.begin(), settings.end(), one) == settings.end()) settings.push_back(one);
  }
  return settings;
}

std::optional<predict::ThreadSetting> guideline_of(const report::TunePlan& plan, std::int64_t cores) {
  for (const auto& rival : plan.candidates.rivals) {
    if (rival.baseline.name == "paper") return threads_of(rival.baseline.settings, cores);
  }
  return {};
}

plan::Campaign campaign_of(const PredictedSettingsRequest& request, const std::vector<AskedSetting>& asked) {
  plan::Campaign campaign;
  campaign.name = fmt::format("{}-{}-settings", request.plan.workload.network, request.worker.name);
  campaign.seed = request.seed;
  campaign.runs = request.flags.runs.value_or(kUsualRuns);
  campaign.measure.phases = false;
  apply(request.measure_flags, campaign.measure);
  campaign.measure.layers = true;
  for (const auto& one : asked) {
    const auto same = [&](const Trial& trial) { return trial_id(trial) == trial_id(one.trial); };
    if (std::none_of(campaign.trials.begin(), campaign.trials.end(), same)) campaign.trials.push_back(one.trial);
  }
  check(campaign, request.catalog);
  return campaign;
}

predict::SettingsPrediction without_times(const PredictedSettingsRequest& request, const platform::Machine& here) {
  predict::SettingsPrediction prediction;
  prediction.workload = request.plan.workload;
  prediction.worker = request.plan.worker;
  prediction.created_utc = utc_now();
  prediction.platform = here.id;
  prediction.here = !request.platform.empty();
  prediction.machine.cores = request.plan.resources.cores;
  prediction.machine.memory_cores = request.flags.memory_cores;
  return prediction;
}

void keep(store::Store& store, const predict::SettingsPrediction& prediction) {
  json inputs = to_json(prediction);
  inputs.erase("created_utc");
  store.put_artifact(kArtifact, hash_hex(canonical_json(inputs)), to_json(prediction));
}

}  // namespace

void add_predicted_settings_flags(CLI::App& command, PredictedSettingsFlags& flags) {
  const char* group = "Prediction";
  command
      .add_flag("--predict", flags.wanted,
                "Predict a step for every number of threads from operators measured on one; with --machine for "
                "another machine")
      ->group(group);
  command
      .add_option("--quota", flags.quotas,
                  "With --predict: predict under these quotas of CPUs, such as 0.5,1,all [the one there is]")
      ->group(group);
  command.add_option("--laws", flags.laws, "With --predict: take the laws of threads from this file [measured here]")
      ->type_name("FILE.json")
      ->group(group);
  command
      .add_option("--memory-cores", flags.memory_cores,
                  "With --predict: let so many cores use up the memory's bandwidth [no limit]")
      ->group(group);
  command.add_option("--runs", flags.runs, "With --predict: measure every setting in this many runs [3]")->group(group);
}

void check_predicted_settings_flags(const PredictedSettingsFlags& flags) {
  const std::pair<const char*, bool> given[] = {{"--quota", !flags.quotas.empty()},
                                                {"--laws", !flags.laws.empty()},
                                                {"--memory-cores", flags.memory_cores.has_value()},
                                                {"--runs", flags.runs.has_value()}};
  for (const auto& [flag, is_given] : given) {
    if (is_given && !flags.wanted)
      fail(ErrorKind::usage, "{}: this is for --predict. Add it, or leave {} out.", flag, flag);
  }
  if (flags.memory_cores && !(*flags.memory_cores > 0 && std::isfinite(*flags.memory_cores))) {
    fail(ErrorKind::usage, "--memory-cores: {} is not above 0.", *flags.memory_cores);
  }
  if (flags.runs && (*flags.runs < 1 || *flags.runs > kMostRuns)) {
    fail(ErrorKind::usage, "--runs: {} is outside 1 to {}.", *flags.runs, kMostRuns);
  }
}

int predict_settings_here(const PredictedSettingsRequest& request) {
  check_predictable(request);
  const auto quotas = quotas_of(request);
  const auto here = platform::this_machine();
  const auto cores_here = tune::resources_of(here.topology, here.identity.cpu_quota).usable_cores();
  auto prediction = without_times(request, here);
  std::vector<AskedSetting> asked{
      {{1, 1, {}}, with_threads(request.plan.space.candidates.front(), request.worker, 1, 1)}};
  if (request.flags.laws.empty()) {
    const auto more = asked_for_laws(request, cores_here);
    asked.insert(asked.end(), more.begin(), more.end());
  } else {
    prediction.laws = laws_in(request.flags.laws);
  }
  const auto stop = stop_signals();
  const auto store = store::open_store(request.work.store, store::Access::create);
  std::string id;
  if (work(request.work, *store, request.catalog, campaign_of(request, asked), false, stop.get(), id) ==
      measure::AgentEnd::stopped) {
    std::fprintf(stderr, "assay: stopped; the same command goes on from here\n");
    return kExitStopped;
  }
  const auto alone = measured_setting(*store, id, asked.front(), prediction.disturbed_settings);
  if (request.flags.laws.empty()) {
    std::vector<predict::MeasuredSetting> measured;
    for (std::size_t i = 1; i < asked.size(); ++i) {
      measured.push_back(measured_setting(*store, id, asked[i], prediction.disturbed_settings));
    }
    const auto fit = predict::fit_thread_laws(measured, cores_here);
    prediction.laws = fit.laws;
    prediction.law_points = fit.points;
  }
  prediction.laws.dispatch_seconds = alone.times.dispatch_seconds;
  prediction.operators = alone.times.operators;
  prediction.alone_seconds = alone.seconds;
  prediction.critical_seconds = predict::critical_seconds(prediction.operators);
  const auto cores = prediction.machine.cores;
  predict_settings(prediction, {choices_of(request.plan, cores), quotas, guideline_of(request.plan, cores)});
  keep(*store, prediction);
  answer(request.answer, report::settings_prediction_document(prediction), [&] { return to_json(prediction); });
  return 0;
}

}  // namespace assay::cli
