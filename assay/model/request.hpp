#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/model/model.hpp"

namespace assay::model {

/// What `assay-fit` is asked for.
struct FitRequest {
  std::string name;
  Table table;
  std::vector<std::string> families;  ///< by name; none: all
  std::int64_t evaluations = 80'000;  ///< of a cost by differential evolution, for the law itself
  double penalty = 1e-3;              ///< of the generic family
  double confidence = 0.9;
  std::int64_t draws = 200;  ///< of the data again, for the intervals of constants
  std::int64_t threads = 1;  ///< does not change the result
  std::int64_t seed = 1;
};

template <typename V>
void describe(V& v, FitRequest& r) {
  v("name", r.name);
  required(v, "table", r.table);
  v("families", r.families);
  v("evaluations", r.evaluations);
  v("penalty", r.penalty);
  v("confidence", r.confidence);
  v("draws", r.draws);
  v("threads", r.threads);
  v("seed", r.seed);
}

}  // namespace assay::model
