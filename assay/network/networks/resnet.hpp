#pragma once

#include "assay/network/builder.hpp"

namespace assay::network::networks {

constexpr double kResnetEpsilon = 1e-5;

/// All of ResNet-50 up to its last 2048 channels, at a 32nd of the image's side. Where it is `dilated`, its last two
/// stages do not shrink: their windows reach farther instead, and the side is an 8th.
std::string resnet50_features(Builder& b, const std::string& image, bool dilated);

}  // namespace assay::network::networks
