#pragma once

#include <string>
#include <vector>

#include "assay/predict/serving/serving_row.hpp"

namespace assay::cli {

/// What a file of measured points does not say itself.
struct PointsAsked {
  predict::ServedModel model;
  std::string server;
  std::string device;  ///< of the catalogue, or of a device file
};

/// Points of a CSV table (docs/serving.md) or of a result of `assay load --json`: its closed loops are taken as they
/// are, and of a rate the requests that were inside by Little's law. Throws Error{bad_input} that names the file where
/// none can be used.
predict::ServingTable read_points(const std::string& path, const PointsAsked& asked);

}  // namespace assay::cli
