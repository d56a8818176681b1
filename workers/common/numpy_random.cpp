#include "workers/common/numpy_random.hpp"

#include <array>
#include <charconv>

#include "assay/core/error.hpp"

namespace assay::worker {
namespace {

using Word = std::uint32_t;
constexpr std::size_t kWords = 4;
using Pool = std::array<Word, kWords>;

/// The hash of a SeedSequence: each use changes its constant.
class Hash {
 public:
  Hash(Word first, Word factor) : constant_(first), factor_(factor) {}

  Word operator()(Word value) {
    value ^= constant_;
    constant_ *= factor_;
    value *= constant_;
    return value ^ (value >> 16);
  }

 private:
  Word constant_, factor_;
};

Word mixed(Word left, Word right) {
  const Word both = 0xca01f9dd * left - 0x4973f715 * right;
  return both ^ (both >> 16);
}

/// The seed's words, the lowest first.
Pool words_of(std::string_view seed) {
  ASSAY_CHECK(seed.size() == 8 * kWords);
  Pool words{};
  for (std::size_t i = 0; i < kWords; ++i) {
    const auto* const begin = seed.data() + 8 * (kWords - 1 - i);
    const auto read = std::from_chars(begin, begin + 8, words[i], 16);
    ASSAY_CHECK(read.ec == std::errc() && read.ptr == begin + 8);
  }
  return words;
}

Pool pool_of(std::string_view seed) {
  Hash hash(0x43b0d7e5, 0x931e8875);
  Pool pool = words_of(seed);
  for (auto& word : pool) word = hash(word);
  for (std::size_t from = 0; from < kWords; ++from) {
    for (std::size_t to = 0; to < kWords; ++to) {
      if (from != to) pool[to] = mixed(pool[to], hash(pool[from]));
    }
  }
  return pool;
}

/// What a SeedSequence gives PCG64: four numbers of 64 bits.
std::array<std::uint64_t, 4> states_of(const Pool& pool) {
  Hash hash(0x8b51f9dd, 0x58f38ded);
  std::array<std::uint64_t, 4> states{};
  for (std::size_t i = 0; i < 2 * states.size(); ++i) {
    states[i / 2] |= std::uint64_t{hash(pool[i % kWords])} << (32 * (i % 2));
  }
  return states;
}

}  // namespace

NumpyRandom::NumpyRandom(std::string_view seed) {
  const auto states = states_of(pool_of(seed));
  increment_ = ((Wide{states[2]} << 64 | states[3]) << 1) | 1;
  next();
  state_ += Wide{states[0]} << 64 | states[1];
  next();
}

std::uint64_t NumpyRandom::next() {
  constexpr Wide kFactor = Wide{0x2360ed051fc65da4} << 64 | 0x4385df649fccf645;
  state_ = state_ * kFactor + increment_;
  const auto high = static_cast<std::uint64_t>(state_ >> 64);
  const std::uint64_t folded = high ^ static_cast<std::uint64_t>(state_);
  const auto turn = static_cast<unsigned>(high >> 58);
  return folded >> turn | folded << (-turn & 63U);
}

float NumpyRandom::unit() {
  Word word = half_;
  if (!has_half_) {
    const std::uint64_t both = next();
    word = static_cast<Word>(both);
    half_ = static_cast<Word>(both >> 32);
  }
  has_half_ = !has_half_;
  return static_cast<float>(word >> 8) * 0x1p-24F;
}

}  // namespace assay::worker
