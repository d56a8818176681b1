#pragma once

#include <vector>

#include "assay/core/record.hpp"

namespace assay::measure {

/// Whether a run's numbers can be trusted, from what its processes saw. Each reason carries its figures.
///
/// Some reasons pass: steal, neighbours, swapping, a host that changes its speed. They make a run untrusted, and it is
/// measured again. Others stay as long as settings and machine do: oversubscribed and throttled. The numbers are then
/// what this trial does here, so the run stays trusted, and whoever reads them is told.
///
/// CPU that the workload's own threads and children, its other instances, Assay's own probes or the `partner` of a
/// lock-step pair used is never a disturbance.
Validity judge(const std::vector<RankResult>& ranks, const std::vector<RankResult>& partner = {});

/// Codes of Reason.
constexpr const char* kNeighbours = "neighbours";
constexpr const char* kOversubscribed = "oversubscribed";
constexpr const char* kThrottled = "throttled";

/// True where a reason passes, so that measuring again may help.
bool is_passing(const Validity& validity);

/// True where so much of a lock-step group's time was taken, by the hypervisor or by neighbours, that its ratios do not
/// stand it: frameworks whose threads spin at barriers lose many times as much as others.
bool is_starved(const Validity& validity, const std::vector<RankResult>& ranks);

/// CPUs on which a reason "neighbours" was found; empty: on all that are allowed.
std::vector<std::int64_t> disturbed_cpus(const std::vector<RankResult>& ranks, const std::vector<RankResult>& partner);

}  // namespace assay::measure
