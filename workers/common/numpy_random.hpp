#pragma once

#include <cstdint>
#include <string_view>

namespace assay::worker {

/// The numbers of numpy.random.default_rng() (PCG64, seeded by its SeedSequence), so that values drawn here are those
/// that workers in Python draw.
class NumpyRandom {
 public:
  /// From a non-negative integer of 128 bits, as 32 hexadecimal digits.
  explicit NumpyRandom(std::string_view seed);

  /// In [0, 1), as random(dtype="float32") has it: 24 bits, exact in fp32.
  float unit();

 private:
  __extension__ typedef unsigned __int128 Wide;

  std::uint64_t next();

  Wide state_ = 0;
  Wide increment_ = 0;
  bool has_half_ = false;  ///< of a number of 64 bits, the lower half is given first
  std::uint32_t half_ = 0;
};

}  // namespace assay::worker
