#pragma once

#include <cstdint>
#include <vector>

namespace assay::stats {

/// Numbers of fresh processes after which a sequential measurement may stop: 8, 12, 20 as far as they lie below
/// `most`, and `most`. They are set beforehand, because looking after every run would find a narrow interval by chance.
std::vector<std::int64_t> looks(std::int64_t most);

/// Confidence of the interval at every look that is 95 % over all of them together.
double look_confidence(std::int64_t most);

}  // namespace assay::stats
