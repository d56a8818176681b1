#pragma once

#include <vector>

#include "assay/predict/serving/stack.hpp"

namespace assay::predict {

/// Times of a server's steps, tabulated once so that a simulation asks for millions of them.
class StepTable {
 public:
  /// Of a model on a device with a software stack. Batches up to `batch`, contexts up to `tokens`.
  StepTable(const ServedModel& model, const KernelTimes& times, const StackConstants& constants, double batch,
            double tokens);

  /// Steps that take what is said, whatever the context: for checks by hand.
  static StepTable fixed(double decode_seconds, double prompt_token_seconds);

  /// The same with all steps this many times as long.
  StepTable slower(double factor) const;

  /// A step in which so many sequences get a token, with so many tokens cached on average. 0 for none.
  double decode(double sequences, double context) const;

  /// What tokens of prompts add to a step, after so many tokens of the same prompt in steps before.
  double prompt(double tokens, double before) const;

 private:
  /// Values at points of two axes, linear between them; beyond the last point the slope goes on.
  struct Grid {
    std::vector<double> rows;
    std::vector<double> columns;
    std::vector<double> values;

    double at(double row, double column) const;
  };

  StepTable() = default;

  Grid decode_;
  Grid prompt_;
};

}  // namespace assay::predict
