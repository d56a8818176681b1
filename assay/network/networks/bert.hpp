#pragma once

#include "assay/network/options.hpp"

namespace assay::network::networks {

/// What members of the BERT family differ in. A head has 64 features.
struct Bert {
  std::string name;
  std::int64_t tokens;     ///< there are
  std::int64_t positions;  ///< rows of their table
  std::int64_t longest;    ///< sequence
  std::int64_t types;      ///< of segments
  std::int64_t layers;
  std::int64_t features;
  double epsilon;
};

/// An encoder with embeddings of words, types and positions, and a pooler behind its first position. Options may change
/// its sequence, layers, features and dropout.
Graph bert(const Bert& about, OptionReader& options);

}  // namespace assay::network::networks
