#include "assay/report/site/site.hpp"

#include "assay/core/text/hash.hpp"
#include "assay/core/version.hpp"
#include "assay/report/results/results.hpp"
#include "assay/report/site/pages.hpp"

namespace assay::report::site {
namespace {

/// What every page depends on: another one makes every page again.
std::string common_of(const SiteRequest& request, const Roofline& roofline,
                      const std::vector<compare::Calibration>& calibrations) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", kSiteVersion, kVersion, request.title, request.store_name);
  for (const auto& peak : roofline.peaks)
    text += fmt::format("{} {} {} {}\n", peak.platform, peak.precision, peak.flops_per_second, peak.trial_id);
  for (const auto& bandwidth : roofline.bandwidths)
    text += fmt::format("{} {}\n", bandwidth.platform, bandwidth.bytes_per_second);
  for (const auto& calibration : calibrations) text += to_json(calibration).dump(-1, ' ', true) + "\n";
  return hash_hex(text);
}

}  // namespace

Built build_site(store::Store& store, const SiteRequest& request) {
  Folder folder(request.folder);
  auto roofline = known_roofline(store);
  auto calibrations = compare::calibrations(store);
  const auto catalogue = catalogue_of(store, common_of(request, roofline, calibrations));
  Context context{
      store, catalogue, folder, request.title, request.store_name, std::move(roofline), std::move(calibrations), {}};
  for (std::size_t i = 0; i < catalogue.campaigns.size(); ++i)
    context.campaign_index.emplace(catalogue.campaigns[i].row.id, i);
  for (const auto& workload : catalogue.workloads) write_workload(context, workload);
  write_campaigns(context);
  write_machines(context);
  write_artifacts(context);
  write_lists(context);
  write_search(context);
  write_index(context);
  folder.put({"site.css", "", "", 0}, std::string(kPageStyle) + kSiteStyle);
  folder.put({"site.js", "", "", 0}, kSiteScript);
  folder.finish();
  Built built;
  built.written = folder.written();
  built.removed = folder.removed();
  built.pages = static_cast<std::int64_t>(folder.pages().size());
  for (const auto& [path, page] : folder.pages()) built.bytes += page.bytes;
  return built;
}

}  // namespace assay::report::site
