#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/plan/catalog/catalog.hpp"

namespace assay::vet {

/// Whether workers compute the same function: the same graph, weights and inputs, given to each in turn.
struct EqualityRequest {
  std::vector<plan::WorkerInfo> workers;  ///< the first is what the others are held against
  Workload workload;                      ///< a network of Assay's
  std::int64_t seed = 1;
  std::int64_t updates = 20;  ///< training: steps of SGD
  double learning_rate = 0.01;
  double momentum = 0.9;
  double limit_seconds = 900;    ///< for each answer of a worker
  std::filesystem::path folder;  ///< for files of the size of the network, removed at the end
  std::function<void(const std::string& worker)> started = [](const auto&) {};
};

/// How far apart is too far. Outputs of workers in fp32 differ by a few 1e-6 in L2 norm, the smallest mistakes seen
/// (the tanh form of GELU, another epsilon) by 3e-4. Gradients through many batch norms are less exact: in PyTorch
/// itself, fp32 is up to 6e-4 away from fp64 in the norm of all of them, and up to 6e-3 in that of a single parameter.
struct EqualityLimits {
  double output = 1e-4;         ///< relative L2 error
  double gradient = 1e-3;       ///< of the norm of the whole first gradient
  double one_gradient = 2e-2;   ///< of the norm of any parameter's
  double loss = 1e-3;           ///< after kLossAfter updates
  double least_decrease = 0.1;  ///< of the loss within all updates
};
constexpr std::size_t kLossAfter = 5;

/// What one worker computed, and how far that is from the first. Null where it does not apply.
struct EqualityResult {
  std::string worker;
  std::string release;
  std::optional<std::int64_t> parameters;
  std::optional<double> output_error;        ///< ||y - r|| / ||r||
  std::optional<double> output_spread;       ///< standard deviation of the outputs: 0 compares nothing
  std::optional<double> gradient_error;      ///< of the norm of the whole first gradient
  std::optional<double> one_gradient_error;  ///< of the norm of a parameter's, the largest
  std::string one_gradient_of;               ///< the parameter it is largest for
  std::optional<double> loss_error;
  std::vector<double> losses;
  std::vector<std::string> problems;  ///< why it is not equal; empty where it is
};

template <typename V>
void describe(V& v, EqualityResult& r) {
  v("worker", r.worker);
  v("release", r.release);
  v("parameters", r.parameters);
  v("output_error", r.output_error);
  v("output_spread", r.output_spread);
  v("gradient_error", r.gradient_error);
  v("one_gradient_error", r.one_gradient_error);
  v("one_gradient_of", r.one_gradient_of);
  v("loss_error", r.loss_error);
  v("losses", r.losses);
  v("problems", r.problems);
}

/// Evaluates every worker, one after the other. Dropout is left out, because each framework draws its own. Ends
/// whatever it started; the calling process becomes a subreaper and must have no other children.
std::vector<EqualityResult> check_equality(const EqualityRequest& request, const EqualityLimits& limits = {});

}  // namespace assay::vet
