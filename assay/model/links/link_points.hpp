#pragma once

#include <string>
#include <vector>

#include "assay/model/links/collective.hpp"
#include "assay/store/store.hpp"

namespace assay::model {

/// One measured time of a collective.
struct LinkPoint {
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 2;
  double bytes = 0;    ///< as Collective says
  double seconds = 0;  ///< of ping_pong, of the round trip
  std::string run;     ///< the processes it was measured in: points of one run share their luck
};

template <typename V>
void describe(V& v, LinkPoint& p) {
  required(v, "collective", p.collective);
  required(v, "ranks", p.ranks);
  required(v, "bytes", p.bytes);
  required(v, "seconds", p.seconds);
  v("run", p.run);
}

/// Points that may be fitted together: one implementation on one set of links.
struct LinkPoints {
  std::string source;  ///< for a person: worker and conditions, or files
  std::vector<LinkPoint> points;
  std::int64_t disturbed = 0;  ///< of them, from runs that were disturbed
  std::string platform = {};   ///< empty: not known, of files
};

/// The collectives among the trials of a store, a set for each worker release, settings, placement and platform; one
/// point is the median step of one run. A disturbed run counts only where its trial has no other.
std::vector<LinkPoints> link_points(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& runs);

}  // namespace assay::model
