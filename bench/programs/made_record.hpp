#pragma once

#include <random>
#include <string>

#include "assay/store/run_queue.hpp"

namespace assay::bench {

/// A trial of the fake worker; trials differ by their batch, and by the name of the network.
Trial made_trial(std::int64_t number, const std::string& prefix);

/// A result of the first run of a lease: samples around what the batch makes of a step, times `scale`.
Record made_record(const store::Lease& lease, double scale, std::int64_t samples, std::mt19937_64& random);

}  // namespace assay::bench
