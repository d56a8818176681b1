#include "assay/core/text/units.hpp"
#include "assay/report/site/pages.hpp"
#include "assay/report/table.hpp"

namespace assay::report::site {

std::string workload_path(const std::string& id) {
  return "workload/" + address_of(id) + ".html";
}

std::string series_path(const std::string& id) {
  return "history/" + address_of(id) + ".html";
}

std::string campaign_path(const std::string& id) {
  return "campaign/" + address_of(id) + ".html";
}

std::string comparison_path(const std::string& campaign) {
  return "comparison/" + address_of(campaign) + ".html";
}

std::string machine_path(const std::string& platform) {
  return "machine/" + address_of(platform) + ".html";
}

LinkedCell median_cell(const Result& result) {
  return {duration_or_dash(result.median_ns)};
}

LinkedCell interval_cell(const Result& result) {
  const auto& interval = result.median_interval;
  if (!interval) return {"-"};
  return {fmt::format("{} to {}", format_duration(interval->low), format_duration(interval->high))};
}

std::string round_name(const store::CampaignRow& row) {
  return row.round == 0 ? row.name : fmt::format("{}@{}", row.name, row.round + 1);
}

LinkedCell campaign_cell(const Context& context, const std::string& id) {
  const auto found = context.campaign_index.find(id);
  if (found == context.campaign_index.end()) return {id.substr(0, 8)};
  return {round_name(context.catalogue.campaigns[found->second].row), campaign_path(id)};
}

LinkedCell machine_cell(const std::string& platform) {
  return {platform.substr(0, 8), machine_path(platform)};
}

std::string change_words(const KnownChange& change) {
  const bool slower = change.ratio >= 1;
  return fmt::format("{:.1f} % {} since {}", 100 * (slower ? change.ratio - 1 : 1 - change.ratio),
                     slower ? "slower" : "faster", change.since_utc.substr(0, 10));
}

std::string minute_of(const std::string& utc) {
  auto text = utc.substr(0, 16);
  if (text.size() > 10) text[10] = ' ';
  return text;
}

std::string counted(std::int64_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

void say_left_out(PageWriter& page, std::size_t shown, std::size_t all, std::string_view where) {
  if (all > shown) page.paragraph(fmt::format("{} of {} are shown; {}", shown, all, where));
}

}  // namespace assay::report::site
