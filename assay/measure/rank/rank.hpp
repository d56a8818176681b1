#pragma once

#include "assay/core/record.hpp"
#include "assay/measure/order.hpp"
#include "assay/measure/rank/watch.hpp"

namespace assay::measure {

/// Exit code of assay-rank where it could not leave its result for another reason than the disk.
constexpr int kRankNoResult = 3;
/// Added to the errno where the disk was the reason: no fault of the worker's, and for the agent to tell.
constexpr int kRankDiskError = 64;

/// Carries out process `number` of an order: pins itself, starts the worker, measures, ends the worker's whole tree.
/// Whatever the worker does is an outcome of the result. The caller must be a subreaper without other children.
/// Told to stop, the result is `interrupted`.
RankResult run_rank(const Order& order, std::size_t number, const RankContext& surroundings);

}  // namespace assay::measure
