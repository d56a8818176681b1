#include <memory>

#include "assay/core/text/file.hpp"
#include "assay/core/text/units.hpp"
#include "assay/report/page.hpp"
#include "assay/report/results/gathered_evidence.hpp"
#include "assay/report/site/site.hpp"
#include "assay/store/selection.hpp"
#include "assay/store/store.hpp"
#include "cli/command.hpp"
#include "cli/commands/report_form.hpp"
#include "cli/output.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t kMostFormBytes = 8u << 20;

struct ReportFlags {
  std::string store = "assay.db";
  std::string output;
  std::vector<std::string> campaigns;
  std::string title;
  std::string site;
};

std::vector<store::CampaignRow> chosen_campaigns(store::Store& store, const ReportFlags& o) {
  auto all = store.campaigns();
  if (all.empty()) fail(ErrorKind::usage, "{} has no campaign. `assay run` makes one.", store::shown_location(o.store));
  if (o.campaigns.empty()) return all;
  std::vector<store::CampaignRow> chosen;
  for (const auto& name : o.campaigns) chosen.push_back(store::choose_campaign(all, name, o.store));
  return chosen;
}

void write_report(const ReportFlags& o) {
  const auto form = report_form();
  const auto store = store::open_store(o.store, store::Access::read);
  auto evidence = report::gather_evidence(*store, chosen_campaigns(*store, o));
  evidence.store = store::shown_location(o.store);
  auto page = page_of(evidence);
  page.title = !o.title.empty() ? o.title : "Assay: " + evidence.campaigns.back().name;
  const std::string file = o.output.empty() ? "report.html" : o.output;
  write_output(file, html_page(page, form));
  std::fprintf(stderr, "assay: wrote %s\n", file.c_str());
}

void write_site(const ReportFlags& o) {
  if (!o.output.empty()) fail(ErrorKind::usage, "--site writes a folder, and --output a file. Leave out one of them.");
  if (!o.campaigns.empty()) fail(ErrorKind::usage, "--site shows a whole store. Leave out --campaign.");
  const auto store = store::open_store(o.store, store::Access::read);
  const auto location = store::shown_location(o.store);
  if (store->campaigns().empty()) fail(ErrorKind::usage, "{} has no campaign. `assay run` makes one.", location);
  const auto title = !o.title.empty() ? o.title : "Assay: " + std::filesystem::path(location).filename().string();
  const auto built = report::site::build_site(*store, {o.site, title, location});
  std::fprintf(stderr, "assay: %s: %lld files, %s; %lld written, %lld removed\n", o.site.c_str(),
               static_cast<long long>(built.pages), format_bytes(built.bytes).c_str(),
               static_cast<long long>(built.written), static_cast<long long>(built.removed));
}

void add_report(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<ReportFlags>();
  add_store_option(command, o->store);
  command.add_option("-o,--output", o->output, "Write to this file [report.html]")->type_name("PATH");
  command
      .add_option("--campaign", o->campaigns, "Show only these campaigns, by name or the first digits of an id [all]")
      ->delimiter(',');
  command.add_option("--title", o->title, "Give the page this title [the newest campaign, or the store]");
  command
      .add_option("--site", o->site,
                  "Write pages of the whole store into this folder, for any web server; again, it writes what changed")
      ->type_name("DIR");
  command.footer(
      "The file asks for nothing outside itself, and reads without JavaScript too: docs/storing.md.\n"
      "assay report\n"
      "assay report --site public");
  command.callback([o, &invocation] {
    o->site.empty() ? write_report(*o) : write_site(*o);
    invocation.exit_code = 0;
  });
}

}  // namespace

std::string report_form() {
  const auto path = share_folder() / "report.html";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    fail(ErrorKind::failure,
         "{} is not there: this program was built without node and npm. Install them, then configure and build again; "
         "`assay show` and `assay export` need neither.",
         path.string());
  }
  return read_file(path, kMostFormBytes);
}

const Command commands::report{"report", "Write pictures of what a store holds, as one HTML file for any browser",
                               add_report};

}  // namespace assay::cli
