#include "assay/vet/audited_process.hpp"

#include <algorithm>
#include <csignal>
#include <numeric>

#include "assay/core/clock.hpp"
#include "assay/measure/environment.hpp"
#include "assay/network/values.hpp"
#include "assay/platform/process.hpp"

namespace assay::vet {
namespace {

constexpr double kLimitSeconds = 300;
constexpr double kExitSeconds = 30;
// Steps of an honest worker take milliseconds here; one that does nothing must not fill lines with numbers.
constexpr std::int64_t kMostSamples = 20'000;

bool has(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

network::Graph stack_of(std::int64_t layers, bool with_relu) {
  network::Graph graph;
  graph.name = "audit";
  graph.inputs = {{"vector", {kWidth}, network::InputType::real, {}}};
  std::string last = "vector";
  for (std::int64_t i = 0; i < layers; ++i) {
    network::Node linear{fmt::format("linear{}", i), network::Op::linear, {last}, {}, {}, {}};
    linear.attributes.features = kWidth;
    linear.attributes.bias = true;
    last = linear.name;
    graph.nodes.push_back(std::move(linear));
    // Between two layers, so that no compiler may make one of both.
    if (with_relu && i + 1 < layers) {
      graph.nodes.push_back({fmt::format("relu{}", i), network::Op::relu, {last}, {}, {}, {}});
      last = graph.nodes.back().name;
    }
  }
  graph.output = last;
  network::complete(graph);
  return graph;
}

/// One thread that does not spin, as far as the worker has the settings: then CPU time is time that was computed.
Settings single_threaded(const plan::WorkerInfo& worker) {
  Settings settings;
  if (has(worker.settings, "intra_op")) settings.intra_op = 1;
  if (has(worker.settings, "inter_op")) settings.inter_op = 1;
  if (has(worker.settings, "library_threads")) settings.library_threads = 1;
  if (has(worker.settings, "spin")) settings.spin = false;
  return settings;
}

}  // namespace

AuditedProcess::AuditedProcess(const AuditRequest& request, std::int64_t batch, std::int64_t layers, std::int64_t seed)
    : values_(request.folder / "values.safetensors"), output_(request.folder / "output.safetensors") {
  const auto graph = stack_of(layers, has(request.worker.operators, "relu"));
  network::write_values(graph, batch, static_cast<std::uint64_t>(seed), values_);
  measure::Part part;
  part.trial.workload.network = graph.name;
  part.trial.workload.batch = batch;
  part.trial.worker = {request.worker.name, request.worker.release};
  part.trial.settings = single_threaded(request.worker);
  part.seed = seed;
  part.graph = network::to_wire(graph);
  part.values = values_.string();
  session_.emplace(plan::worker_argv(request.worker),
                   measure::as_list(measure::worker_environment(part.trial.settings, "audit")), [this] { tick(); });
  const auto prepared = session_->prepare(measure::prepare_request(part, 0, 0), kLimitSeconds);
  if (prepared.parameters != graph.parameters) {
    measure::worker_failed(
        OutcomeKind::bad_output,
        fmt::format("it built {} parameters where the network has {}",
                    prepared.parameters ? std::to_string(*prepared.parameters) : "an unknown number of",
                    graph.parameters));
  }
}

AuditedProcess::~AuditedProcess() {
  session_.reset();
  process::end_tree(0, 0);
  std::error_code ignored;
  std::filesystem::remove(values_, ignored);
  forget_output();
}

SeenSteps AuditedProcess::measure(double seconds, std::int64_t max_samples) {
  return seen(seconds, std::min(max_samples, kMostSamples), {});
}

SeenSteps AuditedProcess::measure_with_output(std::int64_t max_samples) {
  forget_output();
  return seen(kLimitSeconds, max_samples, output_.string());
}

std::optional<std::int64_t> AuditedProcess::measure_with_pause(double seconds, std::int64_t after_ns) {
  pause_at_ns_ = monotonic_ns() + after_ns;
  const auto steps = seen(seconds, kMostSamples, {});
  if (pause_at_ns_) {
    pause_at_ns_.reset();
    return std::nullopt;
  }
  return *std::max_element(steps.samples_ns.begin(), steps.samples_ns.end());
}

std::int64_t AuditedProcess::evaluate() {
  forget_output();
  measure::Evaluation evaluation;
  evaluation.output = output_.string();
  const auto before = use_of_tree();
  session_->evaluate(evaluation, kLimitSeconds);
  return use_of_tree().cpu_ns - before.cpu_ns;
}

std::int64_t AuditedProcess::idle_cpu_ns() {
  const auto before = use_of_tree();
  sleep_until_ns(monotonic_ns() + kIdleNs);
  session_->attend();
  return use_of_tree().cpu_ns - before.cpu_ns;
}

Tensor AuditedProcess::output() const {
  return read_tensor(output_, "output");
}

void AuditedProcess::exit() {
  session_->exit(kExitSeconds);
}

std::vector<pid_t> AuditedProcess::processes() const {
  auto all = platform::descendants(session_->pid());
  all.push_back(session_->pid());
  return all;
}

AuditedProcess::Use AuditedProcess::use_of_tree() const {
  const auto use = platform::tree_use(processes());
  if (!use.cpu_ns) fail(ErrorKind::failure, "the CPU time of process {} cannot be read", session_->pid());
  Use sum{*use.cpu_ns, 0};
  for (const auto& [id, thread] : use.threads) sum.wait_ns += thread.wait_ns;
  return sum;
}

SeenSteps AuditedProcess::seen(double seconds, std::int64_t max_samples, const std::optional<std::string>& output) {
  SeenSteps steps;
  const auto before = use_of_tree();
  const std::int64_t begin_ns = monotonic_ns();
  steps.samples_ns = session_->measure("step", seconds, max_samples, kLimitSeconds, output).samples_ns;
  steps.wall_ns = monotonic_ns() - begin_ns;
  const auto after = use_of_tree();
  steps.cpu_ns = after.cpu_ns - before.cpu_ns;
  steps.busy_ns = steps.cpu_ns + after.wait_ns - before.wait_ns;
  return steps;
}

void AuditedProcess::tick() {
  if (!pause_at_ns_ || monotonic_ns() < *pause_at_ns_) return;
  pause_at_ns_.reset();
  const auto all = processes();
  for (const pid_t pid : all) kill(pid, SIGSTOP);
  sleep_until_ns(monotonic_ns() + kPauseNs);
  for (const pid_t pid : all) kill(pid, SIGCONT);
}

void AuditedProcess::forget_output() const {
  std::error_code ignored;
  std::filesystem::remove(output_, ignored);
}

}  // namespace assay::vet
