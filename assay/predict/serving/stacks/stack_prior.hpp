#pragma once

#include <string>
#include <vector>

#include "assay/predict/serving/stack.hpp"

namespace assay::predict {

/// What a constant is about: constants of a kind are expected to be alike in how far they are from what is expected.
enum class ConstantKind { kernel, fixed, first, wait };

/// A constant that is fitted, within bounds.
struct ServingConstant {
  const char* name;
  double StackConstants::*member;
  ConstantKind kind;
  double low;
  double high;
};

/// Those of one way of serving.
const std::vector<ServingConstant>& serving_constants(ServingMode mode);

/// How far constants may be from what is expected of them, in logarithms: of the widest group from the first guess
/// (root), and of a stack from its group (family).
struct PriorSpread {
  double root = 0.7;
  double family = 0.3;
};

/// What is expected before a row is seen.
struct StackPrior {
  std::string name;
  StackConstants guess;
  PriorSpread kernel;  ///< factors on kernels
  PriorSpread fixed;   ///< fixed times
  PriorSpread first;   ///< of the first token
  PriorSpread wait;
  // What a time is expected to be off by: weights of the residuals.
  double token_spread = 0.06;
  double first_token_spread = 0.25;

  const PriorSpread& spread(ConstantKind kind) const;
};

/// Priors that choose_prior() compares on rows that calibrate, whole lengths or configurations left out in turn;
/// bench/predict_inference --choice shows it.
const std::vector<StackPrior>& candidate_priors(ServingMode mode);

/// The one that stacks are calibrated with.
const StackPrior& chosen_prior(ServingMode mode);

}  // namespace assay::predict
