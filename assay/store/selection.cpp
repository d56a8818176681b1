#include "assay/store/selection.hpp"

#include <algorithm>
#include <iterator>

#include "assay/plan/text.hpp"
#include "assay/store/stores/sqlite/database.hpp"

namespace assay::store {

namespace {

bool is_named(const CampaignRow& row, const std::string& named) {
  return row.name == named || (named.size() >= 4 && row.id.starts_with(named));
}

[[noreturn]] void no_campaign(const std::vector<CampaignRow>& campaigns, const std::string& named,
                              const std::string& store) {
  std::vector<std::string> names;
  for (const auto& row : campaigns) names.push_back(row.name);
  const auto near = plan::nearest(named, names);
  fail(ErrorKind::usage, "there is no campaign {} in {}. {}`assay list` shows them.", shown(named),
       shown_location(store), near ? fmt::format("Did you mean {}? ", shown(*near)) : "");
}

}  // namespace

CampaignRow only_campaign(const std::vector<CampaignRow>& campaigns, const std::string& named,
                          const std::string& store) {
  std::vector<CampaignRow> found;
  std::copy_if(campaigns.begin(), campaigns.end(), std::back_inserter(found),
               [&](const CampaignRow& row) { return is_named(row, named); });
  if (found.empty()) no_campaign(campaigns, named, store);
  if (found.size() == 1) return found[0];
  std::string ids;
  constexpr std::size_t kMostIds = 8;
  for (std::size_t i = found.size(); i-- > 0 && found.size() - i <= kMostIds;) {
    ids +=
        fmt::format("{}{} ({})", ids.empty() ? "" : ", ", found[i].id.substr(0, 8), found[i].created_utc.substr(0, 16));
  }
  fail(ErrorKind::usage, "{} is the name of {} campaigns. Give the id of one: {}{}.", shown(named), found.size(), ids,
       found.size() > kMostIds ? ", …" : "");
}

CampaignRow choose_campaign(const std::vector<CampaignRow>& campaigns, const std::string& named,
                            const std::string& store) {
  const auto newest =
      std::find_if(campaigns.rbegin(), campaigns.rend(), [&](const CampaignRow& row) { return is_named(row, named); });
  if (newest == campaigns.rend()) no_campaign(campaigns, named, store);
  return *newest;
}

void rename_campaign(const std::string& store, const std::string& id, const std::string& name) {
  constexpr std::size_t kLongestName = 200;
  constexpr const char* kRenaming = "renaming a campaign";
  if (name.empty() || name.size() > kLongestName) {
    fail(ErrorKind::usage, "name: {} has {} bytes. Write 1 to {}.", shown(name), name.size(), kLongestName);
  }
  plan::check_text(name, "name");
  const auto location = locate(store);
  if (!location.is_file) fail(ErrorKind::usage, "{}: campaigns of a server cannot be renamed.", location.shown);
  sqlite::Database database(location.place, Access::write);
  sqlite::Statement(
      database, "UPDATE campaign SET name = ?2 WHERE family = (SELECT family FROM campaign WHERE id = ?1)", kRenaming)
      .bind(id, name)
      .run();
}

TrialRow choose_trial(const std::vector<TrialRow>& trials, const std::string& named, const std::string& store) {
  if (trials.empty()) {
    fail(ErrorKind::usage, "there is no trial {} in {}.", shown(named), shown_location(store));
  }
  if (trials.size() > 1) {
    fail(ErrorKind::usage, "{} is the beginning of {} trials. Give more digits.", shown(named), trials.size());
  }
  return trials[0];
}

}  // namespace assay::store
