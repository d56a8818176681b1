#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/network/graph.hpp"
#include "assay/predict/cluster.hpp"

namespace assay::predict {

/// Where the times of layers come from.
enum class Origin {
  measured,  ///< a record of a store
  imported,  ///< a user's own profile
  assumed,   ///< peak and efficiency of a device: a what-if
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::Origin> {
  static constexpr std::array<const char*, 3> names{"measured", "imported", "assumed"};
};

namespace assay::predict {

/// A layer on one device, for the batch of its table.
struct LayerTime {
  std::string name;
  double forward_seconds = 0;
  double backward_seconds = 0;
  std::vector<double> gradient_bytes;  ///< of each tensor, in the order the layer names them
  double activation_bytes = 0;         ///< kept from forward to backward
};

template <typename V>
void describe(V& v, LayerTime& l) {
  required(v, "name", l.name);
  v("forward_seconds", l.forward_seconds);
  v("backward_seconds", l.backward_seconds);
  v("gradient_bytes", l.gradient_bytes);
  v("activation_bytes", l.activation_bytes);
}

/// The step of one rank of a job whose ranks were read together.
struct RankLayers {
  std::int64_t rank = 0;
  std::string file;
  double forward_seconds = 0;
  double backward_seconds = 0;
  double update_seconds = 0;
  double load_seconds = 0;
};

template <typename V>
void describe(V& v, RankLayers& r) {
  required(v, "rank", r.rank);
  required(v, "file", r.file);
  v("forward_seconds", r.forward_seconds);
  v("backward_seconds", r.backward_seconds);
  v("update_seconds", r.update_seconds);
  v("load_seconds", r.load_seconds);
}

/// What one step on one device consists of.
struct LayerTable {
  std::string name;
  Origin origin = Origin::assumed;
  std::int64_t batch = 1;
  std::vector<LayerTime> layers;  ///< in the order of the forward pass
  double load_seconds = 0;        ///< to read and decode a batch, with the loaders it was measured with
  double stored_bytes = 0;        ///< of a batch, where it is read from
  double transfer_seconds = 0;    ///< from the node's memory to the device's
  double update_seconds = 0;
  std::vector<RankLayers> ranks;  ///< that it was made from; empty: from one
  std::string why_not_joined;     ///< where layers are those of one rank alone, because others have other layers: which

  double forward_seconds() const;
  double backward_seconds() const;
  double gradient_bytes() const;
  double activation_bytes() const;
};

/// One that somebody else measured, without its layers yet.
LayerTable imported_table(const std::string& name, std::int64_t batch);

template <typename V>
void describe(V& v, LayerTable& t) {
  required(v, "name", t.name);
  required(v, "origin", t.origin);
  required(v, "batch", t.batch);
  required(v, "layers", t.layers);
  v("load_seconds", t.load_seconds);
  v("stored_bytes", t.stored_bytes);
  v("transfer_seconds", t.transfer_seconds);
  v("update_seconds", t.update_seconds);
  v("ranks", t.ranks);
  v("why_not_joined", t.why_not_joined);
}

struct Training {
  std::int64_t batch = 1;  ///< of a device
  std::string precision = "fp32";
};

/// A what-if: products at a share of the peak, the rest at the memory's rate, backward twice forward. Throws
/// Error{usage} where the device has no peak.
LayerTable assumed_layers(const network::Graph& graph, const Training& training, const Device& device, double share);

/// From what one process of a run left: the medians of its layers, scaled so that they add up to its phases (timing
/// each layer costs time of its own). Throws Error{usage} where the record has neither layers nor phases of training.
LayerTable measured_layers(const network::Graph& graph, const Training& training, const RankResult& result);

/// A table of a user's own: CSV with the columns layer, gradient_bytes (several numbers with ; between them), and
/// forward_… and backward_…, whose names end with _seconds, _ms, _us or _ns. Throws Error{bad_input} with the line.
LayerTable parse_layers(std::string_view csv, const std::string& name, std::int64_t batch);

/// A table as `assay import` wrote it. Throws Error{bad_input} where it is none, or a number is negative.
LayerTable parse_layer_json(std::string_view text, const std::string& name);

/// The same work for another batch: times and bytes of samples grow with it, those of parameters stay.
LayerTable at_batch(const LayerTable& table, std::int64_t batch);

/// All computing this many times as long.
LayerTable slowed(LayerTable table, double factor);

}  // namespace assay::predict
