#pragma once

#include <optional>
#include <vector>

#include "assay/core/record.hpp"

namespace assay::measure {

/// Fills the phases prefill (until every sequence has its first token) and decode (from there to the last token) of the
/// steps after the warm-up, with those steps as phase_step_ns.
void add_generation_phases(const Generation& asked, RankResult& rank);

/// Of each step from `from` on: nanoseconds until every sequence has its first token. Empty where there are no tokens.
std::vector<double> first_tokens(const RankResult& rank, const Generation& asked, std::size_t from);

/// What the tokens of all processes say, each from its step `from` on. Tokens of different contexts are never pooled.
/// Throughput follows from that of `summary`. Null where a process has no tokens.
std::optional<GeneratedSummary> summarise_tokens(const std::vector<RankResult>& ranks, const Generation& asked,
                                                 const std::vector<std::size_t>& from, const Summary& summary);

}  // namespace assay::measure
