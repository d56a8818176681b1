#include "assay/measure/rank/turns.hpp"

#include "assay/core/error.hpp"

namespace assay::measure {
namespace {

/// 0, 1, n-1, 2, n-2, …: every distance between neighbours comes once.
std::int64_t zigzag(std::int64_t place, std::int64_t sides) {
  return place % 2 == 1 ? (place + 1) / 2 : (sides - place / 2) % sides;
}

}  // namespace

std::int64_t side_of_turn(std::int64_t turn, std::int64_t sides) {
  ASSAY_CHECK(turn >= 0 && sides > 0);
  const std::int64_t round = round_of_turn(turn, sides);
  const std::int64_t place = turn % sides;
  // The rows of an even number hold their own mirror images; of an odd number every second row is mirrored.
  const bool mirrored = sides % 2 == 1 && round % 2 == 1;
  const std::int64_t offset =
      mirrored ? zigzag(sides - 1 - place, sides) - zigzag(sides - 1, sides) : zigzag(place, sides);
  return (round % sides + offset + sides) % sides;
}

}  // namespace assay::measure
