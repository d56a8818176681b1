#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/plan/catalog/catalog.hpp"
#include "cli/flags/check_files.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/flags/work.hpp"

namespace assay::cli {

/// What `assay compare` was asked for.
struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> others;  ///< beyond two
  std::string to;                   ///< of several sides: what ratios are to
  PlanFlags plan;
  MeasureFlags measure;
  WorkFlags work;
  bool run = false;
  bool apart = false;
  bool again = false;
  std::int64_t runs = 10;
  std::int64_t seed = 1;
  std::string gate;
  std::string undecided;           ///< pass or fail; empty: an exit code of its own
  std::vector<std::string> words;  ///< the command line
  bool explain = false;
  std::string of;  ///< which time of generated text; empty: of the whole step
  bool json = false;
  CheckFiles files;
};

/// A trial of each side, equal but for what the sides say.
using TrialGroup = std::vector<Trial>;

/// As named, in order; one where the second is left out.
std::vector<std::string> sides_of(const CompareOptions& o);

/// Ids of the campaigns that the sides name; none where one of them names a worker or a setting, as such sides always
/// did.
std::vector<std::string> campaign_sides(const CompareOptions& o, const plan::Catalog& catalog);

/// The trials of all campaigns that are the same but for the user's own code; of campaigns of one trial each, those.
/// Throws Error{usage} where there are none, or where what was measured has changed since.
std::vector<TrialGroup> stored_groups(const CompareOptions& o, const std::vector<std::string>& campaigns,
                                      const plan::Catalog& catalog);

/// The trials that the sides and the flags describe. Throws Error{usage} where sides differ in their number of trials,
/// or are the same.
std::vector<TrialGroup> groups_of(const CompareOptions& o, const plan::Catalog& catalog);

}  // namespace assay::cli
