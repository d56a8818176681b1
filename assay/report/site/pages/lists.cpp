#include <algorithm>
#include <iterator>
#include <map>

#include "assay/core/text/utf8.hpp"
#include "assay/report/markup.hpp"
#include "assay/report/site/pages.hpp"
#include "assay/report/table.hpp"

namespace assay::report::site {
namespace {

constexpr std::size_t kRowsOfAList = 500;
constexpr std::size_t kNewest = 25;
constexpr std::size_t kMostWorkloads = 100;
constexpr std::size_t kLongestSearched = 300;

using Entries = std::vector<const PageEntry*>;

/// Pages of the folder whose paths begin so, by their paths.
Entries pages_below(const Folder& folder, const std::string& prefix) {
  Entries out;
  for (auto it = folder.pages().lower_bound(prefix); it != folder.pages().end() && it->first.starts_with(prefix); ++it)
    out.push_back(&it->second);
  return out;
}

Entries newest_first(Entries entries, std::size_t most) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto* a, const auto* b) { return a->newest_utc > b->newest_utc; });
  if (entries.size() > most) entries.resize(most);
  return entries;
}

LinkedTable table_of(const std::string& title, const Entries& entries) {
  LinkedTable table{title, {"what", "newest (UTC)", "remark"}, {}};
  for (const auto* entry : entries)
    table.rows.push_back({{entry->title, entry->path}, {minute_of(entry->newest_utc)}, {entry->note}});
  return table;
}

std::string list_path(const std::string& name, std::size_t number) {
  return fmt::format("list/{}-{}.html", name, number);
}

std::size_t list_count(std::size_t entries) {
  return (entries + kRowsOfAList - 1) / kRowsOfAList;
}

/// In the order in which they came, so that only the last list grows.
void write_list(Context& context, const std::string& name, const Entries& entries) {
  const auto lists = list_count(entries.size());
  for (std::size_t number = 1; number <= lists; ++number) {
    const auto first = entries.begin() + static_cast<std::ptrdiff_t>((number - 1) * kRowsOfAList);
    const auto rest = static_cast<std::size_t>(entries.end() - first);
    PageWriter page(list_path(name, number), fmt::format("All {}, {} of {}", name, number, lists));
    page.table(table_of(page.title(), {first, first + static_cast<std::ptrdiff_t>(std::min(rest, kRowsOfAList))}));
    if (number > 1) page.link("Before: ", {fmt::format("{} of {}", number - 1, lists), list_path(name, number - 1)});
    if (number < lists) page.link("After: ", {fmt::format("{} of {}", number + 1, lists), list_path(name, number + 1)});
    context.folder.put({page.path(), "", "", 0}, page.page(context.title));
  }
}

Entries workload_entries(const Context& context) {
  Entries out;
  for (const auto& workload : context.catalogue.workloads)
    out.push_back(&context.folder.pages().at(workload_path(workload.id)));
  return out;
}

Entries campaign_entries(const Context& context) {
  Entries out;
  for (const auto& campaign : context.catalogue.campaigns)
    out.push_back(&context.folder.pages().at(campaign_path(campaign.row.id)));
  return out;
}

/// A change, and the series that it is in.
struct ListedChange {
  const PageEntry* series;
  const SeriesStanding* standing;
};

/// Newest changes of level in all series, slow-downs or not.
void add_changes_of_all(const Context& context, PageWriter& page) {
  std::vector<ListedChange> changes;
  for (const auto* entry : pages_below(context.folder, "history/")) {
    for (const auto& standing : entry->standings) {
      if (standing.change) changes.push_back({entry, &standing});
    }
  }
  const auto when = [](const ListedChange& one) { return one.standing->change->since_utc; };
  std::stable_sort(changes.begin(), changes.end(), [&](const auto& a, const auto& b) { return when(a) > when(b); });
  page.heading("What changed its speed, the newest first");
  if (changes.empty()) return page.paragraph("No series that can be judged has changed its level.");
  LinkedTable table{"Changes", {"what", "machine", "change", "95 % interval", "first campaign"}, {}};
  for (const auto& one : changes) {
    if (table.rows.size() == kNewest) break;
    const auto& change = *one.standing->change;
    table.rows.push_back({{one.series->title, one.series->path},
                          machine_cell(one.standing->platform),
                          {change_words(change)},
                          {fmt::format("{:+.1f} % to {:+.1f} %", 100 * (change.low - 1), 100 * (change.high - 1))},
                          campaign_cell(context, change.campaign)});
  }
  page.table(table);
  say_left_out(page, table.rows.size(), changes.size(), "`assay history` has every one.");
}

void add_newest_of(const Context& context, const std::string& heading, const std::string& prefix, PageWriter& page) {
  const auto all = pages_below(context.folder, prefix);
  if (all.empty()) return;
  page.heading(heading);
  const auto shown = newest_first(all, kMostWorkloads);
  page.table(table_of(heading, shown));
  say_left_out(page, shown.size(), all.size(), "the search finds the others.");
}

/// The newest of a kind that has lists, and a link to the last of them.
void add_listed(const std::string& heading, const std::string& name, const Entries& all, std::size_t most,
                PageWriter& page) {
  if (all.empty()) return;
  page.heading(heading);
  page.table(table_of(heading, newest_first(all, most)));
  page.link("", {fmt::format("All {} {}", all.size(), name), list_path(name, list_count(all.size()))});
}

/// Hexadecimal digits of a page's address that name its part of what is searched.
std::size_t search_digits(std::size_t entries) {
  return entries <= 1000 ? 0 : entries <= 16'000 ? 1 : 2;
}

Entries searched_pages(const Folder& folder) {
  Entries out;
  for (const auto& [path, page] : folder.pages()) {
    if (!page.title.empty()) out.push_back(&page);
  }
  return out;
}

std::string search_box(std::size_t entries) {
  return fmt::format(
      "<div class=\"search\" role=\"search\"><label for=\"search\">Search {} pages</label>\n"
      "<input id=\"search\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" data-digits=\"{}\" disabled>\n"
      "<p id=\"found-count\" role=\"status\">The search needs JavaScript; the lists below do not.</p>\n"
      "<ul id=\"found\"></ul></div>\n",
      entries, search_digits(entries));
}

}  // namespace

void write_lists(Context& context) {
  write_list(context, "workloads", workload_entries(context));
  write_list(context, "campaigns", campaign_entries(context));
}

void write_search(Context& context) {
  const auto entries = searched_pages(context.folder);
  const auto digits = search_digits(entries.size());
  std::map<std::string, json> parts;
  const std::size_t count = digits == 0 ? 1 : digits == 1 ? 16 : 256;
  for (std::size_t i = 0; i < count; ++i)
    parts[digits == 0 ? "all" : fmt::format("{:0{}x}", i, digits)] = json::array();
  for (const auto* entry : entries) {
    const auto slash = entry->path.find('/');
    const auto part = digits == 0 ? "all" : entry->path.substr(slash + 1, digits);
    parts.at(part).push_back({printable(entry->title, kLongestSearched), entry->path});
  }
  for (const auto& [name, pages] : parts) {
    context.folder.put({"search/" + name + ".js", "", "", 0},
                       fmt::format("assaySearch(\"{}\",{});\n", name, script_json(pages)));
  }
}

void write_index(Context& context) {
  std::int64_t records = 0;
  std::string newest;
  for (const auto& campaign : context.catalogue.campaigns)
    records += campaign.row.progress.done + campaign.row.progress.set_aside;
  for (const auto* entry : pages_below(context.folder, "history/")) newest = std::max(newest, entry->newest_utc);
  PageWriter page("index.html", context.title);
  const auto machines = std::ssize(pages_below(context.folder, "machine/"));
  page.paragraph(fmt::format("{} of {} on {}, in {}.{}", counted(records, "record"),
                             counted(std::ssize(context.catalogue.workloads), "workload"), counted(machines, "machine"),
                             counted(std::ssize(context.catalogue.campaigns), "campaign"),
                             newest.empty() ? "" : fmt::format(" The newest began {} (UTC).", minute_of(newest))));
  page.html(search_box(searched_pages(context.folder).size()));
  add_changes_of_all(context, page);
  add_listed("Workloads", "workloads", workload_entries(context), kMostWorkloads, page);
  add_listed("Campaigns", "campaigns", campaign_entries(context), kNewest, page);
  const auto comparisons = pages_below(context.folder, "comparison/");
  if (!comparisons.empty()) {
    page.heading("Comparisons");
    page.table(table_of("Comparisons", newest_first(comparisons, kNewest)));
    say_left_out(page, std::min(comparisons.size(), kNewest), comparisons.size(),
                 "the page of a campaign leads to its own.");
  }
  add_newest_of(context, "Tunings", "tuning/", page);
  add_newest_of(context, "Predictions", "prediction/", page);
  add_newest_of(context, "Machines", "machine/", page);
  context.folder.put({page.path(), "", "", 0}, page.page(context.title, true));
}

}  // namespace assay::report::site
