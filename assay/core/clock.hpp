#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// CLOCK_MONOTONIC in nanoseconds. Never subtract readings of different hosts.
std::int64_t monotonic_ns();

/// The time of day as RFC 3339 text in UTC with milliseconds. For people and joins, never for durations.
std::string utc_now();

/// Sleeps until CLOCK_MONOTONIC reaches `deadline_ns`; returns at once when it has passed.
void sleep_until_ns(std::int64_t deadline_ns);

}  // namespace assay
