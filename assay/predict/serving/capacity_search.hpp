#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/predict/serving/capacity.hpp"

namespace assay::predict {

/// A served model, what is asked of it, and what it may run on.
struct ServiceQuestion {
  CapacityQuestion asked;
  std::vector<DeviceLaws> devices;
  std::vector<std::int64_t> splits;
  std::map<std::string, double> prices;  ///< per hour, by device
};

/// A change of the best option, and how many times as much one server then holds.
struct ServiceAdvice {
  std::string change;
  double gain = 1;
};

template <typename V>
void describe(V& v, ServiceAdvice& a) {
  required(v, "change", a.change);
  required(v, "gain", a.gain);
}

/// The answer: every device and split that was tried.
struct ServiceAnswer {
  std::string model;
  double parameters = 0;
  ProductType weights = ProductType::bf16;
  std::string stack;     ///< "vllm bf16", or what was calibrated
  std::string rests_on;  ///< what its constants come from
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::optional<LengthKind> lengths;      ///< null: all are alike
  std::optional<double> length_width;     ///< of uniform and lognormal ones
  std::optional<double> rate_per_second;  ///< null in a closed loop
  std::optional<std::int64_t> concurrency;
  std::vector<ServingLimit> limits;
  std::vector<CapacityOption> options;  ///< the best first, those that cannot be last
  std::vector<ServiceAdvice> advice;    ///< of the first option
  std::vector<std::string> notes;
};

template <typename V>
void describe(V& v, ServiceAnswer& a) {
  required(v, "model", a.model);
  required(v, "parameters", a.parameters);
  required(v, "weights", a.weights);
  v("stack", a.stack);
  v("rests_on", a.rests_on);
  required(v, "prompt_tokens", a.prompt_tokens);
  required(v, "output_tokens", a.output_tokens);
  v("lengths", a.lengths);
  v("length_width", a.length_width);
  v("rate_per_second", a.rate_per_second);
  v("concurrency", a.concurrency);
  v("limits", a.limits);
  required(v, "options", a.options);
  v("advice", a.advice);
  v("notes", a.notes);
}

/// Tries every split on every device. Options are in order of price where all devices have one, else of energy.
ServiceAnswer search_capacity(const ServiceQuestion& question);

}  // namespace assay::predict
