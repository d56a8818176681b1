#pragma once

#include <string>
#include <vector>

#include "assay/network/network.hpp"

namespace assay::network {

/// Reads the options of one network. Each is asked for once; whatever is left over at the end is refused by name.
class OptionReader {
 public:
  OptionReader(std::string network, const Options& given) : network_(std::move(network)), given_(given) {}

  /// An integer between `least` and `most`.
  std::int64_t integer(const std::string& name, std::int64_t standard, std::int64_t least, std::int64_t most);

  /// A multiple of `of` up to `most`, and not 0.
  std::int64_t multiple(const std::string& name, std::int64_t standard, std::int64_t of, std::int64_t most);

  /// A divisor of `whole`, which is the option called `of`.
  std::int64_t divisor(const std::string& name, std::int64_t standard, const std::string& of, std::int64_t whole);

  /// A probability in [0, 1).
  double probability(const std::string& name, double standard);

  /// Throws Error{usage} where an option was given that nobody asked for.
  void finish() const;

 private:
  const Scalar* find(const std::string& name);

  std::string network_;
  const Options& given_;
  std::vector<std::string> known_;
};

}  // namespace assay::network
