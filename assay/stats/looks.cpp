#include "assay/stats/looks.hpp"

namespace assay::stats {

std::vector<std::int64_t> looks(std::int64_t most) {
  std::vector<std::int64_t> out;
  for (const std::int64_t look : {8, 12, 20}) {
    if (look < most) out.push_back(look);
  }
  out.push_back(most);
  return out;
}

double look_confidence(std::int64_t most) {
  return 1 - 0.05 / static_cast<double>(looks(most).size());
}

}  // namespace assay::stats
