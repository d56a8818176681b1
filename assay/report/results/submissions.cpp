#include "assay/report/results/submissions.hpp"

#include "assay/measure/slurm.hpp"

namespace assay::report {
namespace {

constexpr const char* kKind = "submission";

}  // namespace

void keep_submission(store::Archive& store, const std::string& campaign, const Submission& submission) {
  store.put_artifact(kKind, submission.id, {{"campaign", campaign}, {"submission", to_json(submission)}});
}

std::vector<Submission> submissions_of(store::Archive& store, const std::string& campaign) {
  std::vector<Submission> found;
  for (const auto& artifact : store.artifacts(kKind)) {
    if (artifact.content.value("campaign", "") != campaign) continue;
    auto one = from_json<Submission>(artifact.content.at("submission"), "submission");
    if (const auto jobs = measure::slurm_jobs(one.id)) {
      one.pending = jobs->pending;
      one.running = jobs->running;
      if (jobs->pending > 0) one.why_pending = jobs->why_pending;
    }
    found.push_back(std::move(one));
  }
  return found;
}

void remove_submissions(store::Archive& store, const std::string& campaign) {
  for (const auto& artifact : store.artifacts(kKind)) {
    if (artifact.content.value("campaign", "") == campaign) store.remove_artifact(kKind, artifact.inputs_hash);
  }
}

}  // namespace assay::report
