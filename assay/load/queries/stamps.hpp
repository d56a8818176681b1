#pragma once

#include <string>
#include <vector>

#include "assay/load/queries/request.hpp"

namespace assay::load {

/// Of more requests a record has no stamps: some 130 bytes each.
constexpr std::size_t kMostStamps = 1'000'000;

/// All stamps as CSV, a line for each request, its warm-up included.
std::string requests_csv(const std::vector<Request>& requests);

}  // namespace assay::load
