#include "assay/report/site/catalogue.hpp"

#include <algorithm>
#include <map>

#include "assay/compare/selector.hpp"
#include "assay/core/text/hash.hpp"

namespace assay::report::site {
namespace {

/// The trial without what may differ within a series.
Trial subject_of(Trial trial) {
  trial.worker.release.clear();
  if (compare::is_own_code(trial.workload)) trial.workload.graph.reset();
  return trial;
}

/// "toy infer b8 on fake, intra_op=2"
std::string series_title(const Trial& trial) {
  const auto how = conditions(trial);
  return fmt::format("{} on {}{}{}", title(trial.workload), trial.worker.name, how == "default" ? "" : ", ",
                     how == "default" ? "" : how);
}

/// "toy infer", with precision and options.
std::string workload_title(Workload workload) {
  workload.batch = 1;
  auto words = title(workload);
  const auto size = fmt::format("{} {}", workload.network, name_of(workload.mode));
  if (words.starts_with(size + " b1")) words.erase(size.size(), 3);
  return words;
}

/// Everything of a campaign that its pages may show: a record that comes or goes changes a count.
std::string identity_of(const store::CampaignRow& row, const std::string& common) {
  const auto& p = row.progress;
  return hash_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{} {} {} {}\n{}", common, row.id, row.name, row.round,
                              row.created_utc, p.runs, p.done, p.failed, p.set_aside, row.lockstep));
}

class CatalogueMaker {
 public:
  CatalogueMaker(store::Store& store, const std::string& common) : store_(store), common_(common) {}

  Catalogue make() {
    add_trials();
    add_campaigns();
    for (auto& workload : made_.workloads) {
      std::string all = common_;
      for (auto& series : workload.series) {
        std::string of_series = common_;
        for (const auto trial : series.trials) of_series += made_.trials[trial].id + made_from_[trial];
        series.made_from = hash_hex(of_series);
        all += series.made_from;
      }
      workload.made_from = hash_hex(all);
    }
    return std::move(made_);
  }

 private:
  void add_trials() {
    made_.trials = store_.trials({});
    made_from_.resize(made_.trials.size());
    std::unordered_map<std::string, std::size_t> workloads;
    std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> series;
    for (std::size_t i = 0; i < made_.trials.size(); ++i) {
      trial_index_.emplace(made_.trials[i].id, i);
      const auto subject = subject_of(made_.trials[i].trial);
      auto workload = subject.workload;
      workload.batch = 1;
      // The same text is a trial of another kind: a workload alone has no id of its own.
      const auto key = hash_hex(canonical_json(to_json(workload)));
      const auto [group, is_new] = workloads.try_emplace(key, made_.workloads.size());
      if (is_new) made_.workloads.push_back({key, workload_title(workload), {}, {}});
      const auto id = trial_id(subject);
      auto& in_group = made_.workloads[group->second].series;
      const auto [place, first] = series.try_emplace(id, group->second, in_group.size());
      if (first) in_group.push_back({id, series_title(subject), {}, {}});
      made_.workloads[place->second.first].series[place->second.second].trials.push_back(i);
      made_.series_of.emplace(made_.trials[i].id, id);
    }
  }

  void add_campaigns() {
    std::vector<std::optional<std::size_t>> last(made_.trials.size());  // campaign that had the trial
    std::vector<std::string> identities;
    for (auto& row : store_.campaigns()) {
      ListedCampaign campaign;
      const auto identity = identity_of(row, common_);
      for (const auto& trial : store_.trials({.campaign = row.id})) {
        const auto found = trial_index_.find(trial.id);
        if (found == trial_index_.end()) continue;  // it came since the trials were read: the next build has it
        campaign.trials.push_back(found->second);
        campaign.earlier = std::max(campaign.earlier, last[found->second]);
        last[found->second] = made_.campaigns.size();
        made_from_[found->second] = hash_hex(made_from_[found->second] + identity);
      }
      campaign.made_from = campaign.earlier ? hash_hex(identity + identities[*campaign.earlier]) : identity;
      identities.push_back(identity);
      campaign.row = std::move(row);
      made_.campaigns.push_back(std::move(campaign));
    }
  }

  store::Store& store_;
  const std::string& common_;
  Catalogue made_;
  std::unordered_map<std::string, std::size_t> trial_index_;
  std::vector<std::string> made_from_;  ///< of each trial: a hash over the campaigns that have it
};

}  // namespace

Catalogue catalogue_of(store::Store& store, const std::string& common) {
  return CatalogueMaker(store, common).make();
}

std::string address_of(const std::string& id) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const bool plain = id.size() >= 8 && id.size() <= 64 && std::all_of(id.begin(), id.end(), digit);
  return plain ? id : hash_hex(id);
}

}  // namespace assay::report::site
