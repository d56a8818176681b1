#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/plan/campaign.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/store/store.hpp"
#include "cli/flags/plan_flags.hpp"

namespace assay::cli {

/// A campaign, as a command line says it.
struct CampaignFlags {
  std::string what;  ///< networks, or a campaign file
  PlanFlags plan;
  MeasureFlags measure;
  std::vector<std::string> command;  ///< after --
  std::string name;
  std::int64_t runs = 10;
  std::int64_t seed = 1;
  bool lockstep = false;
  bool again = false;
};

bool is_campaign_file(const std::string& what);

void add_campaign_flags(CLI::App& command, CampaignFlags& flags);

/// Throws Error{usage} where nothing is named, or the file and the flags contradict each other.
plan::Campaign make_campaign(const CampaignFlags& flags, const plan::Catalog& catalog, const CLI::App& command);

/// Puts the runs into the store and leaves them to agents.
store::Planned plan_for_agents(const plan::Campaign& campaign, bool again, const std::string& store);

}  // namespace assay::cli
