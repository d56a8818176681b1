#include <memory>

#include "assay/store/selection.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"
#include "cli/help.hpp"
#include "cli/progress.hpp"

namespace assay::cli {
namespace {

using Align = report::Table::Align;

struct ListOptions {
  std::string store = "assay.db";
  std::vector<std::string> rename;  ///< what a campaign is called, and what it shall be
  AnswerFlags answer;
};

/// "done", "done, 2 failed", "3 of 10 runs done", "running, 3 of 10".
std::string state_of(const store::Progress& progress) {
  const auto failed = progress.failed > 0 ? fmt::format(", {} failed", progress.failed) : "";
  if (progress.ready + progress.leased == 0) {
    return fmt::format("done, {} run{}{}", progress.runs, progress.runs == 1 ? "" : "s", failed);
  }
  return fmt::format("{}{} of {} runs done{}", progress.leased > 0 ? "running, " : "", progress.done, progress.runs,
                     failed);
}

json json_list(const std::vector<store::CampaignRow>& rows) {
  json out = json::array();
  for (const auto& row : rows) {
    out.push_back({{"id", row.id},
                   {"name", row.name},
                   {"round", row.round + 1},
                   {"created_utc", row.created_utc},
                   {"runs", row.progress.runs},
                   {"done", row.progress.done},
                   {"failed", row.progress.failed},
                   {"leased", row.progress.leased}});
  }
  return out;
}

report::Document list_document(const std::vector<store::CampaignRow>& rows) {
  report::Document out;
  if (rows.empty()) {
    out.paragraph("No campaign yet. `assay run` makes one.");
    return out;
  }
  report::Table table({{"campaign", Align::left, 0, true},
                       {"name", Align::left},
                       {"round", Align::right, 1},
                       {"made", Align::left, 2, true},
                       {"state", Align::left, 0, true}});
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    table.add({row->id.substr(0, 8), row->name, std::to_string(row->round + 1), time_ago(row->created_utc),
               state_of(row->progress)});
  }
  out.add(std::move(table));
  return out;
}

void rename_one(const ListOptions& o) {
  const auto row =
      store::only_campaign(store::open_store(o.store, store::Access::read)->campaigns(), o.rename[0], o.store);
  store::rename_campaign(o.store, row.id, o.rename[1]);
  print(fmt::format("campaign {} is now {}\n", row.id.substr(0, 8), o.rename[1]));
}

void add_list(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<ListOptions>();
  add_store_option(command, o->store);
  command.add_option("--rename", o->rename, "Give the first campaign, by name or id, the second name")
      ->expected(2)
      ->type_name("OLD NEW");
  add_answer_flags(command, o->answer);
  command.callback([o, &invocation] {
    invocation.exit_code = 0;
    if (!o->rename.empty()) return rename_one(*o);
    const auto rows = store::open_store(o->store, store::Access::read)->campaigns();
    answer(o->answer, list_document(rows), [&] { return json_list(rows); });
  });
}

}  // namespace

const Command commands::list{"list", "List the campaigns of a store, the newest first: name, age and state", add_list};

}  // namespace assay::cli
