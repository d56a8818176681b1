#include "assay/vet/equality.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "assay/measure/environment.hpp"
#include "assay/measure/rank/session.hpp"
#include "assay/network/network.hpp"
#include "assay/network/values.hpp"
#include "assay/vet/tensor.hpp"

namespace assay::vet {
namespace {

constexpr double kExitSeconds = 30;
// A gradient that is zero in exact arithmetic (the bias of attention's keys) is rounding in each framework.
constexpr double kGradientFloor = 1e-4;

double whole_norm(const std::map<std::string, double>& norms) {
  double sum = 0;
  for (const auto& [name, norm] : norms) sum += norm * norm;
  return std::sqrt(sum);
}

/// Each framework draws its own: with it, no two would be equal.
network::Graph without_dropout(network::Graph graph) {
  for (auto& node : graph.nodes) {
    if (node.attributes.dropout) node.attributes.dropout = 0;
    if (node.attributes.probability) node.attributes.probability = 0;
  }
  return graph;
}

/// What a worker answered, as far as it came.
struct Answer {
  measure::Evaluated evaluated;
  Tensor output;
};

class Equality {
 public:
  Equality(const EqualityRequest& request, const EqualityLimits& limits)
      : request_(request),
        limits_(limits),
        trains_(request.workload.mode == Mode::train),
        graph_(without_dropout(network::build(request.workload.network, request.workload.options))),
        values_(request.folder / "values.safetensors") {
    network::write_values(graph_, request.workload.batch, static_cast<std::uint64_t>(request.seed), values_);
  }

  ~Equality() {
    std::error_code ignored;
    std::filesystem::remove(values_, ignored);
  }
  Equality(const Equality&) = delete;
  Equality& operator=(const Equality&) = delete;

  std::vector<EqualityResult> run() {
    std::vector<EqualityResult> results;
    for (const auto& worker : request_.workers) {
      request_.started(worker.name);
      EqualityResult result;
      result.worker = worker.name;
      result.release = worker.release;
      try {
        const Answer answer = ask(worker, result);
        if (!reference_) reference_ = answer;
        trains_ ? judge_training(answer, result) : judge_output(answer, result);
      } catch (const measure::WorkerFailure& failure) {
        result.problems.push_back(fmt::format("{}: {}", name_of(failure.outcome.kind), failure.outcome.message));
      } catch (const Error& error) {
        result.problems.emplace_back(error.what());
      }
      process::end_tree(0, 0);
      results.push_back(std::move(result));
    }
    return results;
  }

 private:
  Answer ask(const plan::WorkerInfo& worker, EqualityResult& result) const {
    measure::Part part;
    part.trial.workload = request_.workload;
    part.trial.worker = {worker.name, worker.release};
    part.seed = request_.seed;
    part.graph = network::to_wire(graph_);
    part.values = values_.string();
    measure::WorkerSession session(plan::worker_argv(worker),
                                   measure::as_list(measure::worker_environment({}, "equal")), [] {});
    const auto prepared = session.prepare(measure::prepare_request(part, 0, 0), request_.limit_seconds);
    result.parameters = prepared.parameters;
    if (prepared.parameters != graph_.parameters) {
      result.problems.push_back(fmt::format("it built {} parameters where the network has {}",
                                            prepared.parameters ? std::to_string(*prepared.parameters) : "unknown",
                                            graph_.parameters));
    }
    measure::Evaluation evaluation;
    const auto output = request_.folder / "output.safetensors";
    evaluation.output = output.string();
    evaluation.updates = trains_ ? request_.updates : 0;
    evaluation.learning_rate = request_.learning_rate;
    evaluation.momentum = request_.momentum;
    Answer answer;
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    answer.evaluated = session.evaluate(evaluation, request_.limit_seconds);
    if (!trains_) answer.output = read_tensor(output, "output");
    std::filesystem::remove(output, ignored);
    session.exit(kExitSeconds);
    return answer;
  }

  void judge_output(const Answer& answer, EqualityResult& result) const {
    const auto& wanted = reference_->output;
    if (answer.output.shape != wanted.shape) {
      result.problems.emplace_back("its output has another shape");
      return;
    }
    result.output_spread = spread(answer.output.values);
    result.output_error = relative_error(answer.output.values, wanted.values);
    if (!(*result.output_spread > 0)) result.problems.emplace_back("its output is constant or not finite");
    if (!(*result.output_error <= limits_.output)) {
      result.problems.push_back(
          fmt::format("its output is {:.1e} away, {:.1e} is allowed", *result.output_error, limits_.output));
    }
  }

  void judge_training(const Answer& answer, EqualityResult& result) const {
    result.losses = answer.evaluated.losses;
    if (result.losses.size() != static_cast<std::size_t>(request_.updates) + 1) {
      fail(ErrorKind::bad_input, "it gave {} losses for {} updates", result.losses.size(), request_.updates);
    }
    judge_gradients(answer.evaluated.gradient_norms, result);
    const std::size_t at = std::min(kLossAfter, result.losses.size() - 1);
    const double wanted = reference_->evaluated.losses[at];
    result.loss_error = std::abs(result.losses[at] - wanted) / wanted;
    if (!(*result.loss_error <= limits_.loss)) {
      result.problems.push_back(
          fmt::format("its loss after {} updates is {:.6g} where {:.6g} was due", at, result.losses[at], wanted));
    }
    const double least = *std::min_element(result.losses.begin(), result.losses.end());
    if (!(least <= (1 - limits_.least_decrease) * result.losses.front())) {
      result.problems.push_back(fmt::format("its loss fell only from {:.6g} to {:.6g}", result.losses.front(), least));
    }
  }

  void judge_gradients(const std::map<std::string, double>& norms, EqualityResult& result) const {
    const auto& wanted = reference_->evaluated.gradient_norms;
    const double due = whole_norm(wanted);
    result.one_gradient_error = 0;
    for (const auto& node : graph_.nodes) {
      for (const auto& parameter : node.parameters) {
        const std::string name = node.name + "/" + parameter.name;
        const auto one = norms.find(name);
        const auto one_due = wanted.find(name);
        if (one == norms.end() || one_due == wanted.end()) {
          result.problems.push_back(fmt::format("no gradient of {} was given", name));
          return;
        }
        const double error = std::abs(one->second - one_due->second) / std::max(one_due->second, kGradientFloor * due);
        if (error > *result.one_gradient_error || std::isnan(error)) {
          result.one_gradient_error = error;
          result.one_gradient_of = name;
        }
      }
    }
    result.gradient_error = std::abs(whole_norm(norms) - due) / due;
    if (!(*result.gradient_error <= limits_.gradient)) {
      result.problems.push_back(fmt::format("its first gradient is {:.2e} away in norm, {:.1e} is allowed",
                                            *result.gradient_error, limits_.gradient));
    }
    if (!(*result.one_gradient_error <= limits_.one_gradient)) {
      result.problems.push_back(fmt::format("its first gradient of {} is {:.2e} away in norm, {:.1e} is allowed",
                                            result.one_gradient_of, *result.one_gradient_error, limits_.one_gradient));
    }
  }

  const EqualityRequest& request_;
  const EqualityLimits& limits_;
  const bool trains_;
  const network::Graph graph_;
  const std::filesystem::path values_;
  std::optional<Answer> reference_;
};

}  // namespace

std::vector<EqualityResult> check_equality(const EqualityRequest& request, const EqualityLimits& limits) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGPIPE, SIG_IGN);
  return Equality(request, limits).run();
}

}  // namespace assay::vet
