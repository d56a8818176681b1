#pragma once

#include <string>
#include <vector>

#include "assay/report/subjects/fleet.hpp"
#include "assay/store/store.hpp"

namespace assay::report {

void keep_submission(store::Archive& store, const std::string& campaign, const Submission& submission);

/// Those of a campaign, oldest first, with what Slurm says of them right now.
std::vector<Submission> submissions_of(store::Archive& store, const std::string& campaign);

/// Forgets those of a campaign that is dropped.
void remove_submissions(store::Archive& store, const std::string& campaign);

}  // namespace assay::report
