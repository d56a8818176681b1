#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "assay/store/store.hpp"

namespace assay::report::site {

struct SiteRequest {
  std::filesystem::path folder;
  std::string title;       ///< of the site
  std::string store_name;  ///< for commands
};

/// What a build has done.
struct Built {
  std::int64_t pages = 0;    ///< files of the site, in all
  std::int64_t written = 0;  ///< of them: new, or with other bytes than before
  std::int64_t removed = 0;  ///< of what the store no longer holds
  std::int64_t bytes = 0;    ///< of all files
};

/// Writes static pages of everything that a store holds: an index, and a page for each workload, series, campaign,
/// comparison, machine, tuning and prediction. What was made from the same records is not read again. Memory is that of
/// the runs of one series or of two campaigns, and of a line for each page. Throws Error where the folder is not a site
/// or cannot be written; the site is then as it was, or each of its pages is whole.
Built build_site(store::Store& store, const SiteRequest& request);

}  // namespace assay::report::site
