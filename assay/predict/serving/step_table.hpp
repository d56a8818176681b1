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

  /// The same where a first token takes more than its prompt, as StackConstants says.
  StepTable with_first(double first, double first_each) const;

  /// The same with all steps this many times as long.
  StepTable slower(double factor) const;

  /// A step in which so many sequences get a token, with so many tokens cached on average. 0 for none.
  double decode(double sequences, double context) const;

  /// What tokens of prompts add to a step, after so many tokens of the same prompt in steps before.
  double prompt(double tokens, double before) const;

  /// The times of a whole prompt() that pass before its first token, where so many sequences run with it: at least 1,
  /// what the prompt itself takes.
  double first(double others) const;

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
  double first_ = 1;
  double first_each_ = 0;
};

}  // namespace assay::predict
