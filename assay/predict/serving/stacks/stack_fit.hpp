#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/predict/serving/serving_row.hpp"

namespace assay::predict {

/// Laws of devices by name, made for use; every device of the rows must be there.
using DeviceTimes = std::map<std::string, KernelTimes>;

/// What rows say of one stack, or of several together.
struct FittedStack {
  StackConstants constants;
  double room = 1;                 ///< factor on the sequences that are taken to fit
  double cache_element_bytes = 2;  ///< of keys and values
  std::int64_t rows = 0;
  std::int64_t largest_tensor = 1;
  std::vector<std::string> devices;
  std::vector<std::string> models;
  double first_token_range = 1;  ///< a time is known to a factor of exp(±range) in nine cases of ten
  double token_range = 0.5;
  double throughput_range = 0.5;
  std::vector<std::string> at_bounds;  ///< constants that the rows do not determine
};

template <typename V>
void describe(V& v, FittedStack& f) {
  required(v, "constants", f.constants);
  v("room", f.room);
  v("cache_element_bytes", f.cache_element_bytes);
  v("rows", f.rows);
  v("largest_tensor", f.largest_tensor);
  v("devices", f.devices);
  v("models", f.models);
  v("first_token_range", f.first_token_range);
  v("token_range", f.token_range);
  v("throughput_range", f.throughput_range);
  v("at_bounds", f.at_bounds);
}

/// A time with its range of 90 %.
struct RangedTime {
  double low = 0;
  double value = 0;
  double high = 0;
};

template <typename V>
void describe(V& v, RangedTime& t) {
  required(v, "low", t.low);
  required(v, "value", t.value);
  required(v, "high", t.high);
}

struct ServingPrediction {
  RangedTime first_token_seconds;
  RangedTime token_seconds;
  RangedTime tokens_per_second;
  ServingTimes times;
  std::string rests_on;  ///< "42 rows of trtllm 1.0.0rc3 fp8", or a group of stacks where this one was never seen
};

/// Constants of every stack that rows name. A stack's few rows lean on those of its server and type, these on those of
/// the server, these on all. docs/serving.md has what is fitted and how ranges are made.
class CalibratedStacks {
 public:
  /// Precondition: at least one row, and every row's device is in `times`, which must outlive this.
  CalibratedStacks(const std::vector<ServingRow>& rows, const DeviceTimes& times);

  /// Of a point on a stack, also one that no row was of.
  ServingPrediction predict(const StackName& stack, const std::string& device, const ServingPoint& point) const;

  /// By name: "trtllm 1.0.0rc3 fp8", and the groups "trtllm fp8", "trtllm" and "all".
  const std::map<std::string, FittedStack>& stacks() const { return stacks_; }

  /// The stack itself or, where no row was of it, the nearest group.
  std::pair<std::string, const FittedStack*> nearest(const StackName& stack, ServingMode mode) const;

 private:
  const DeviceTimes& times_;
  std::map<std::string, FittedStack> stacks_;
};

}  // namespace assay::predict
