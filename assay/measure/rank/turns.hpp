#pragma once

#include <cstdint>

namespace assay::measure {

/// Steps at the beginning of a slice that ratios leave out: the first one after a worker was stopped takes up to half
/// as long again, and some workers longer than others.
constexpr std::int64_t kSettlingSteps = 1;

/// Side of a lock-step group of `sides` whose turn it is. Turns r * sides to (r + 1) * sides - 1 are round r, in which
/// each side has one turn; round r begins with side r mod `sides`. The order inside a round is a row of a Williams
/// square: over `sides` rounds (2 * `sides` where that is odd) each side has each place and follows each other side
/// equally often, and for every order its mirror image comes too. So a host that steadily gets slower favours nobody,
/// neither in the mean over rounds nor in the median. Of two: a b, b a, a b, …
std::int64_t side_of_turn(std::int64_t turn, std::int64_t sides);

/// Round of a turn.
constexpr std::int64_t round_of_turn(std::int64_t turn, std::int64_t sides) {
  return turn / sides;
}

}  // namespace assay::measure
