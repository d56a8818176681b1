#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/model/links/link_constants.hpp"

namespace assay::model {

constexpr std::int64_t kLinkVersion = 1;

/// A link as one algorithm's formula sees it.
struct AlgorithmFit {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  LinkConstants constants;
  double held_out_error = 0;  ///< relative, root of the mean square: of points that the fit had not seen
};

template <typename V>
void describe(V& v, AlgorithmFit& f) {
  required(v, "algorithm", f.algorithm);
  required(v, "constants", f.constants);
  required(v, "held_out_error", f.held_out_error);
}

/// A range of sizes in which one algorithm is at work.
struct LinkPiece {
  std::optional<double> from_bytes;          ///< the first size of it; null: all below the next piece
  std::vector<AlgorithmFit> algorithms;      ///< the recognised one first, by what they say of points held out
  bool told_apart = false;                   ///< no other fits as well
  std::vector<CollectiveAlgorithm> as_well;  ///< others within 1.1 times the error of the first
};

template <typename V>
void describe(V& v, LinkPiece& p) {
  v("from_bytes", p.from_bytes);
  required(v, "algorithms", p.algorithms);
  required(v, "told_apart", p.told_apart);
  required(v, "as_well", p.as_well);
}

/// What was measured of one collective, and what each of its algorithms says of it.
struct CollectiveFit {
  Collective collective = Collective::all_reduce;
  std::vector<std::int64_t> ranks;  ///< numbers of ranks that were measured
  std::int64_t sizes = 0;
  std::int64_t points = 0;
  std::int64_t runs = 0;
  double held_out_error = 0;      ///< relative, of all pieces together
  std::vector<LinkPiece> pieces;  ///< one, or two where the implementation changes its algorithm with the size
};

template <typename V>
void describe(V& v, CollectiveFit& f) {
  required(v, "collective", f.collective);
  required(v, "ranks", f.ranks);
  required(v, "sizes", f.sizes);
  required(v, "points", f.points);
  required(v, "runs", f.runs);
  required(v, "held_out_error", f.held_out_error);
  required(v, "pieces", f.pieces);
}

/// What the collectives of one implementation say of the links between its ranks.
struct LinkFit {
  std::int64_t link_version = kLinkVersion;
  std::string source;  ///< worker and conditions, or files
  std::string data;    ///< identity of the points
  std::vector<CollectiveFit> collectives;
  /// One link for all collectives, by the algorithms recognised; null for one collective.
  std::optional<LinkConstants> together;
  std::vector<std::string> notes;  ///< what was left out, and what the points cannot tell, with the reason
};

template <typename V>
void describe(V& v, LinkFit& f) {
  required(v, "link_version", f.link_version);
  required(v, "source", f.source);
  required(v, "data", f.data);
  required(v, "collectives", f.collectives);
  v("together", f.together);
  required(v, "notes", f.notes);
}

/// Fits every algorithm of every collective and says which is at work: the one that is nearest to points held out (the
/// largest number of ranks, the largest size, every second size). A change of algorithm at some size is told only
/// where it takes the error held out well down. Throws Error{usage} where no collective has three sizes, and
/// Error{bad_input} for a point that is none (time not above 0, fewer than 2 ranks, a negative size).
LinkFit fit_link(const LinkPoints& points);

/// The piece that holds a size. Precondition: a fit has pieces.
const LinkPiece& piece_at(const CollectiveFit& fit, double bytes);

}  // namespace assay::model
