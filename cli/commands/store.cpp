#include "assay/store/store.hpp"

#include <memory>

#include "assay/core/text/units.hpp"
#include "assay/core/version.hpp"
#include "assay/report/results/submissions.hpp"
#include "assay/report/subjects/store_info.hpp"
#include "assay/store/backup.hpp"
#include "assay/store/merge.hpp"
#include "assay/store/selection.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/work.hpp"
#include "cli/help.hpp"

namespace assay::cli {
namespace {

struct StoreFlags {
  std::string store = "assay.db";
  std::string campaign;
  std::string role;
  std::string right;
  std::string file;
  std::vector<std::string> others;
  bool replace = false;
  AnswerFlags answer;
};

void drop(const StoreFlags& o) {
  const auto store = store::open_store(o.store, store::Access::write);
  const auto row = store::only_campaign(store->campaigns(), o.campaign, o.store);
  store->drop(row.id);
  report::remove_submissions(*store, row.id);
  print(fmt::format("dropped campaign {} {} with {} runs\n", row.id.substr(0, 8), row.name, row.progress.runs));
}

void allow(const StoreFlags& o) {
  const bool agent = o.right == "agent";
  if (!agent && !o.campaign.empty()) {
    fail(ErrorKind::usage, "--campaign: a reader reads the whole store. Leave it out, or allow an agent.");
  }
  const auto store = store::open_store(o.store, store::Access::write);
  const auto campaign = o.campaign.empty() ? "" : store::choose_campaign(store->campaigns(), o.campaign, o.store).id;
  store->allow(o.role, agent ? store::Right::agent : store::Right::reader, campaign);
  print(fmt::format("{} is {} of {}\n", o.role, o.right,
                    campaign.empty() ? "every campaign" : "campaign " + campaign.substr(0, 8)));
}

void back_up(const StoreFlags& o) {
  const auto copied = store::back_up(o.store, o.file);
  print(fmt::format("{}: {} records of store {}, {}\n", o.file, copied.records, copied.uuid.substr(0, 8),
                    format_bytes(copied.bytes)));
}

void restore(const StoreFlags& o) {
  const auto restored = store::restore(o.file, o.store, o.replace);
  print(fmt::format("{}: {} records of store {}, {}\n", store::shown_location(o.store), restored.copied.records,
                    restored.copied.uuid.substr(0, 8), format_bytes(restored.copied.bytes)));
  if (!restored.aside.empty()) print(fmt::format("what was there is now {}\n", restored.aside.string()));
}

void merge(const StoreFlags& o) {
  for (const auto& other : o.others) {
    const auto m = store::merge(other, o.store);
    print(fmt::format(
        "{}: {} records of store {}, of which {} are set aside because their runs were done in both; {} were there "
        "already. New: {} campaigns, {} trials, {} runs, {} platforms, {} artifacts\n",
        store::shown_location(other), m.records, m.uuid.substr(0, 8), m.set_aside, m.repeated, m.campaigns, m.trials,
        m.runs, m.platforms, m.artifacts));
  }
}

/// What waits on this host for the store; null where there is no folder for it.
std::optional<store::SpoolInfo> spool_info(const std::string& location, const std::string& uuid) {
  try {
    WorkFlags flags;
    flags.store = location;
    const store::Spool spool(spool_of(flags));
    return store::SpoolInfo{spool.folder().string(), static_cast<std::int64_t>(spool.waiting_for(uuid).size()),
                            spool.waiting_for_others(uuid)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

void info(const StoreFlags& o) {
  auto found = store::open_store(o.store, store::Access::read)->info();
  found.program_version = kVersion;
  found.spool = spool_info(o.store, found.uuid);
  answer(o.answer, report::store_info_document(found), [&] { return to_json(found); });
}

/// 1 where something is wrong.
int verify(const StoreFlags& o) {
  const auto found = store::open_store(o.store, store::Access::read)->verify();
  answer(o.answer, report::verification_document(found), [&] { return to_json(found); });
  return found.findings.empty() ? 0 : 1;
}

CLI::App* add_info(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("info", "Show what a store holds, how large it is, and what waits on this host");
  add_store_option(*command, o->store);
  add_answer_flags(*command, o->answer);
  command->callback([o] { info(*o); });
  return command;
}

void add_verify(CLI::App& store, const std::shared_ptr<StoreFlags>& o, int& exit_code) {
  auto* command = store.add_subcommand(
      "verify", "Check every record against the receipt of who wrote it; exit with 1 if something is wrong");
  add_store_option(*command, o->store);
  add_answer_flags(*command, o->answer);
  command->callback([o, &exit_code] { exit_code = verify(*o); });
}

void add_backup(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("backup", "Copy a store into a new file while agents work, and check the copy");
  add_store_option(*command, o->store);
  command->add_option("file", o->file, "Write to this file, which must not be there yet")
      ->required()
      ->type_name("FILE");
  command->callback([o] { back_up(*o); });
}

void add_restore(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("restore", "Put a backup in the place that --store names");
  add_store_option(*command, o->store);
  command->add_option("file", o->file, "Take this backup; it stays as it is")->required()->type_name("FILE");
  command->add_flag("--replace", o->replace, "Rename the store that is there, in place of refusing");
  command->callback([o] { restore(*o); });
}

void add_merge(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand(
      "merge", "Bring what other stores hold into the file that --store names; what is there already stays as it is");
  add_store_option(*command, o->store);
  command->add_option("other", o->others, "Merge these stores, by path or URL; each whole or not at all")
      ->required()
      ->type_name("OTHER");
  command->callback([o] { merge(*o); });
}

void add_drop(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("drop", "Remove a campaign with its runs and records, for good");
  add_store_option(*command, o->store);
  command->add_option("campaign", o->campaign, "Remove this campaign, by name or the first digits of its id")
      ->required();
  command->callback([o] { drop(*o); });
}

void add_allow(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command =
      store.add_subcommand("allow", "Give a role of the PostgreSQL server the right of an agent or a reader");
  add_store_option(*command, o->store);
  command->add_option("right", o->right, "Let it take and report runs (agent), or read everything (reader)")
      ->required()
      ->check(CLI::IsMember({"agent", "reader"}));
  command->add_option("role", o->role, "Give the right to this role, which the server has already")->required();
  command->add_option("--campaign", o->campaign,
                      "Allow an agent this campaign only, by name or id [all, later ones too]");
  command->callback([o] { allow(*o); });
}

void add_forbid(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("forbid", "Take every right in the store from a role");
  add_store_option(*command, o->store);
  command->add_option("role", o->role, "Take the rights of this role")->required();
  command->callback([o] {
    store::open_store(o->store, store::Access::write)->forbid(o->role);
    print(fmt::format("{} has no right in this store\n", o->role));
  });
}

void add_store(CLI::App& command, Invocation& invocation) {
  command.require_subcommand(0, 1);
  const auto o = std::make_shared<StoreFlags>();
  auto* info = add_info(command, o);
  add_backup(command, o);
  add_restore(command, o);
  add_merge(command, o);
  add_verify(command, o, invocation.exit_code);
  add_drop(command, o);
  add_allow(command, o);
  add_forbid(command, o);
  command.callback([&command, info] {
    if (command.get_subcommands().empty()) info->parse(std::vector<std::string>{});
  });
}

}  // namespace

const Command commands::store{"store",
                              "Look after a store: what it holds, backups, merging, whether records are as they were "
                              "stored, old campaigns, roles",
                              add_store};

}  // namespace assay::cli
