#include "assay/vet/conformance.hpp"

#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <numeric>

#include "assay/core/clock.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/rank/session.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/network/graph.hpp"
#include "assay/network/values.hpp"
#include "assay/platform/process.hpp"
#include "assay/process/spawn.hpp"
#include "assay/vet/tensor.hpp"

namespace assay::vet {
namespace {

constexpr double kLimitSeconds = 60;
constexpr double kExitSeconds = 10;

/// Raised by a check that saw something else than the rule demands.
struct Broken {
  std::string message;
};

template <typename... Args>
void expect(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) throw Broken{fmt::format(format, std::forward<Args>(args)...)};
}

class Conformance {
 public:
  explicit Conformance(const plan::WorkerInfo& worker) : worker_(worker) {
    trial_.worker = {worker.name, worker.release};
    if (!worker.modes.empty() && worker.modes[0] == "train") trial_.workload.mode = Mode::train;
    trial_.workload.network = worker.networks.empty() || worker.networks[0] == "*" ? "toy" : worker.networks[0];
    if (!worker.check.is_null()) trial_.workload = from_json<Workload>(worker.check, "worker.json: check");
  }

  std::vector<RuleCheck> run() {
    rule("answers prepare with its versions", [&] {
      auto session = start();
      const auto prepared = session->prepare(request(trial_), kLimitSeconds);
      expect(!prepared.versions.empty(), "versions is empty: name the framework's release");
      leave(*session);
    });
    rule("takes at most max_samples and at least one sample, again and again", [&] {
      auto session = prepared_session();
      for (const std::int64_t most : {1, 3, 1}) {
        const auto measured = session->measure("step", kLimitSeconds / 2, most, kLimitSeconds);
        expect(static_cast<std::int64_t>(measured.samples_ns.size()) == most, "{} samples where {} fit the time",
               measured.samples_ns.size(), most);
      }
      const auto brief = session->measure("step", 1e-6, 1000, kLimitSeconds);
      expect(brief.samples_ns.size() == 1, "{} samples in a microsecond of steps; one was due",
             brief.samples_ns.size());
      leave(*session);
    });
    for (const auto& detail : worker_.details) check_detail(detail);
    if (worker_.step_output) check_step_output();
    rule("says nothing unasked", [&] {
      auto session = prepared_session();
      const std::int64_t until = monotonic_ns() + 300'000'000;
      while (monotonic_ns() < until) {
        session->attend();
        sleep_until_ns(monotonic_ns() + 10'000'000);
      }
      leave(*session);
    });
    rule("ends with code 0 at end of input", [&] {
      auto session = prepared_session();
      expect(session->exit(kExitSeconds, measure::Session::Farewell::end_of_input), "still there after {} s",
             kExitSeconds);
    });
    check_refusal("a network it does not know", [](Trial& trial) { trial.workload.network = "no_such_network"; });
    check_refusal("a precision it does not know", [](Trial& trial) { trial.workload.precision = "no_such_precision"; });
    rule("leaves no process behind", [&] {
      auto session = prepared_session();
      session->measure("step", 0.1, 3, kLimitSeconds);
      leave(*session);
      const auto left = platform::descendants(getpid());
      expect(left.empty(), "{} processes are still there after it ended", left.size());
    });
    return std::move(checks_);
  }

 private:
  void rule(const std::string& text, const std::function<void()>& body) {
    RuleCheck check{text, false, ""};
    try {
      body();
      check.passed = true;
    } catch (const Broken& broken) {
      check.message = broken.message;
    } catch (const measure::WorkerFailure& failure) {
      check.message = fmt::format("{}: {}", name_of(failure.outcome.kind), failure.outcome.message);
    } catch (const Error& error) {
      check.message = error.what();
    }
    process::end_tree(0, 0);
    checks_.push_back(std::move(check));
  }

  void check_detail(const std::string& detail) {
    if (detail == "step") return;
    rule("gives " + detail + " that fit the step", [&] {
      auto session = prepared_session();
      const auto measured = session->measure(detail, kLimitSeconds / 2, 3, kLimitSeconds);
      const auto step = std::accumulate(measured.samples_ns.begin(), measured.samples_ns.end(), std::int64_t{0});
      std::int64_t parts = 0;
      for (const auto& [name, values] : measured.phases_ns)
        parts = std::accumulate(values.begin(), values.end(), parts);
      for (const auto& layer : measured.layers) {
        parts = std::accumulate(layer.forward_ns.begin(), layer.forward_ns.end(), parts);
        parts = std::accumulate(layer.backward_ns.begin(), layer.backward_ns.end(), parts);
      }
      expect(parts <= step + step / 10, "the {} add up to {} ns, the steps to {} ns", detail, parts, step);
      leave(*session);
    });
  }

  /// Whether it is the right output is for an audit to say.
  void check_step_output() {
    rule("writes what its last timed step computed, where it is asked to", [&] {
      const measure::RunDirectory folder(measure::default_run_root(), fmt::format("check-{}", getpid()));
      measure::Part part = part_of(trial_);
      expect(!part.graph.is_null(), "step_output is true in worker.json, but the workload in check has no graph");
      const auto graph = network::read_graph(part.graph);
      part.values = (folder.path() / "values.safetensors").string();
      network::write_values(graph, trial_.workload.batch, 1, *part.values);
      auto session = start();
      session->prepare(measure::prepare_request(part, 0, 0), kLimitSeconds);
      const auto output = folder.path() / "output.safetensors";
      session->measure("step", kLimitSeconds / 2, 2, kLimitSeconds, output.string());
      const auto is_output = [&](const auto& node) { return node.name == graph.output; };
      auto shape = std::find_if(graph.nodes.begin(), graph.nodes.end(), is_output)->shape;
      shape.insert(shape.begin(), trial_.workload.batch);
      const auto written = read_tensor(output, "output");
      expect(written.shape == shape, "its shape is [{}] where [{}] was due", fmt::join(written.shape, ", "),
             fmt::join(shape, ", "));
      leave(*session);
    });
  }

  void check_refusal(const std::string& what, const std::function<void(Trial&)>& change) {
    // A worker that takes every network, such as one that runs any program, has nothing to refuse here.
    if (worker_.networks == std::vector<std::string>{"*"} || worker_.networks == std::vector<std::string>{"command"})
      return;
    rule("refuses " + what + " by name", [&] {
      Trial trial = trial_;
      change(trial);
      auto session = start();
      try {
        session->prepare(request(trial), kLimitSeconds);
      } catch (const measure::WorkerFailure& failure) {
        expect(failure.outcome.kind == OutcomeKind::refused, "{}: {}", name_of(failure.outcome.kind),
               failure.outcome.message);
        return;
      }
      throw Broken{"it took it"};
    });
  }

  std::unique_ptr<measure::Session> start() {
    return std::make_unique<measure::WorkerSession>(
        plan::worker_argv(worker_), measure::as_list(measure::worker_environment(trial_.settings, "check")), [] {});
  }

  std::unique_ptr<measure::Session> prepared_session() {
    auto session = start();
    session->prepare(request(trial_), kLimitSeconds);
    return session;
  }

  json request(const Trial& trial) const { return measure::prepare_request(part_of(trial), 0, 0); }

  measure::Part part_of(const Trial& trial) const {
    auto source = plan::NetworkSources().find(worker_, trial.workload);
    measure::Part part;
    part.trial = trial;
    part.seed = 1;
    part.graph = std::move(source.graph);
    part.file = std::move(source.file);
    return part;
  }

  static void leave(measure::Session& session) {
    expect(session.exit(kExitSeconds), "still there {} s after it was asked to end", kExitSeconds);
  }

  const plan::WorkerInfo& worker_;
  Trial trial_;
  std::vector<RuleCheck> checks_;
};

}  // namespace

std::vector<RuleCheck> check_conformance(const plan::WorkerInfo& worker) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGPIPE, SIG_IGN);
  return Conformance(worker).run();
}

}  // namespace assay::vet
