#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/network/network.hpp"
#include "assay/predict/scaling.hpp"

namespace assay::cli {

/// Where the layers of a prediction come from, as flags say it.
struct PredictSource {
  std::string network;
  std::vector<std::string> options;
  std::int64_t batch = 0;  ///< 0: that of the record, or 32
  std::string precision = "fp32";
  std::string store = "assay.db";
  bool store_named = false;  ///< by a person, and not by default
  std::string campaign;
  std::string layers;  ///< a CSV file
};

void add_source_flags(CLI::App& command, PredictSource& source);

/// Layers on one device, with how far computing may be off.
struct SourceTable {
  predict::LayerTable table;
  network::Options options;
  std::string precision = "fp32";
  double fastest = 1;
  double slowest = 1;
  predict::RangeKind range = predict::RangeKind::none;
  std::vector<std::string> notes;
};

/// Throws Error{usage} where nothing tells how long layers take.
SourceTable table_of(const PredictSource& source, const predict::Cluster& cluster);

}  // namespace assay::cli
