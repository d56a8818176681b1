#include "assay/predict/serving/stacks/stack_prior.hpp"

namespace assay::predict {
namespace {

// Servers sum small messages by kernels of their own, which the tables of NCCL do not have.
constexpr double kOwnSum = 0.8;
// Half of the power: the frequency goes as its cube root.
constexpr double kCapped = 1.26;

StackConstants closed_guess(double wait) {
  StackConstants guess;
  guess.collectives = kOwnSum;
  guess.layer_us = 3;
  guess.sequence_us = 5;
  guess.first = 1.2;
  guess.wait = wait;
  return guess;
}

StackConstants static_guess() {
  StackConstants guess;
  guess.layer_us = 300;
  guess.host_norm = 3;
  guess.first_layer_us = 500;
  guess.first_norm = 3;
  guess.long_token_us = 50;
  guess.long_split = 1;
  guess.capped = kCapped;
  return guess;
}

/// Fixed times stay near the guess in all of them: rows of one tensor split cannot tell a time for each layer from that
/// of reading its weights, so that errors on such rows say nothing of it.
std::vector<StackPrior> closed_priors() {
  return {
      {"all alike", closed_guess(0.01), {0.7, 0.3}, {0.7, 0.3}, {0.7, 0.3}, {0.7, 0.3}, 0.06, 0.25},
      {"free wait", closed_guess(0.1), {0.7, 0.3}, {0.7, 0.3}, {0.7, 0.3}, {3, 3}, 0.06, 0.25},
      {"free first", closed_guess(0.1), {0.7, 0.3}, {0.7, 0.3}, {2, 1}, {3, 3}, 0.06, 0.25},
      {"near kernels, free wait", closed_guess(0.1), {0.3, 0.15}, {0.7, 0.3}, {0.7, 0.3}, {3, 3}, 0.06, 0.25},
      {"near kernels, free first", closed_guess(0.1), {0.3, 0.15}, {0.7, 0.3}, {2, 1}, {3, 3}, 0.06, 0.25},
      {"light first", closed_guess(0.1), {0.7, 0.3}, {0.7, 0.3}, {0.7, 0.3}, {3, 3}, 0.06, 0.4},
  };
}

/// The first two spreads are those of decoding, the others those of prompts.
std::vector<StackPrior> static_priors() {
  return {
      {"all alike", static_guess(), {0.7, 0.3}, {0.7, 0.3}, {0.7, 0.3}, {0.7, 0.3}, 0.06, 0.1},
      {"near kernels", static_guess(), {0.3, 0.15}, {1, 0.5}, {0.3, 0.15}, {1, 0.5}, 0.06, 0.1},
      {"free family", static_guess(), {0.7, 0.7}, {1, 1}, {0.7, 0.7}, {1, 1}, 0.06, 0.1},
      {"one family", static_guess(), {0.7, 0.1}, {0.7, 0.3}, {0.7, 0.1}, {0.7, 0.3}, 0.06, 0.1},
      {"near kernels, free fixed", static_guess(), {0.3, 0.3}, {1.5, 1}, {0.3, 0.3}, {1.5, 1}, 0.06, 0.1},
      {"decoding near kernels", static_guess(), {0.3, 0.15}, {1, 0.5}, {0.7, 0.3}, {0.7, 0.3}, 0.06, 0.1},
      {"free", static_guess(), {1, 0.5}, {2, 1}, {1, 0.5}, {2, 1}, 0.06, 0.1},
  };
}

constexpr std::size_t kChosenClosed = 1;
constexpr std::size_t kChosenStatic = 5;

}  // namespace

const std::vector<ServingConstant>& serving_constants(ServingMode mode) {
  using C = StackConstants;
  using K = ConstantKind;
  static const std::vector<ServingConstant> closed{
      {"products", &C::products, K::kernel, 0.4, 2.5},
      {"attention", &C::attention, K::kernel, 0.2, 4},
      {"collectives", &C::collectives, K::kernel, 0.2, 4},
      {"prefill", &C::prefill, K::kernel, 0.1, 4},
      {"layer_us", &C::layer_us, K::fixed, 1e-2, 20},
      {"sequence_us", &C::sequence_us, K::fixed, 1e-2, 60},
      {"first", &C::first, K::first, 0.2, 20},
      {"first_each", &C::first_each, K::first, 1e-3, 3},
      {"wait", &C::wait, K::wait, 1e-4, 3},
      {"queue", &C::queue, K::first, 0.02, 10},
  };
  static const std::vector<ServingConstant> at_once{
      {"products", &C::products, K::kernel, 0.4, 2.5},
      {"attention", &C::attention, K::kernel, 0.2, 8},
      {"collectives", &C::collectives, K::kernel, 0.2, 8},
      {"layer_us", &C::layer_us, K::fixed, 1, 3000},
      {"sequence_us", &C::sequence_us, K::fixed, 1e-2, 1000},
      {"host_norm", &C::host_norm, K::fixed, 1, 12},
      {"first_products", &C::first_products, K::first, 0.4, 4},
      {"first_attention", &C::first_attention, K::first, 0.2, 8},
      {"first_collectives", &C::first_collectives, K::first, 0.2, 8},
      {"first_layer_us", &C::first_layer_us, K::wait, 1, 5000},
      {"first_norm", &C::first_norm, K::wait, 1, 12},
      {"long_token_us", &C::long_token_us, K::wait, 1e-1, 1000},
      {"long_split", &C::long_split, K::wait, 0.1, 3},
      {"capped", &C::capped, K::wait, 0.9, 2},
  };
  return mode == ServingMode::closed_loop ? closed : at_once;
}

const PriorSpread& StackPrior::spread(ConstantKind kind) const {
  switch (kind) {
    case ConstantKind::kernel:
      return kernel;
    case ConstantKind::fixed:
      return fixed;
    case ConstantKind::first:
      return first;
    case ConstantKind::wait:
      return wait;
  }
  return kernel;
}

const std::vector<StackPrior>& candidate_priors(ServingMode mode) {
  static const auto closed = closed_priors();
  static const auto at_once = static_priors();
  return mode == ServingMode::closed_loop ? closed : at_once;
}

const StackPrior& chosen_prior(ServingMode mode) {
  return candidate_priors(mode)[mode == ServingMode::closed_loop ? kChosenClosed : kChosenStatic];
}

}  // namespace assay::predict
