#include "assay/store/store.hpp"

#include <memory>

#include "assay/core/units.hpp"
#include "assay/store/backup.hpp"
#include "cli/campaign.hpp"
#include "cli/command.hpp"
#include "cli/submissions.hpp"

namespace assay::cli {
namespace {

struct StoreFlags {
  std::string store = "assay.db";
  std::string campaign;
  std::string role;
  std::string right;
  std::string file;
  bool replace = false;
};

void drop(const StoreFlags& o) {
  const auto store = store::open_store(o.store, store::Access::write);
  const auto row = choose_campaign(store->campaigns(), o.campaign, o.store);
  store->drop(row.id);
  remove_submissions(*store, row.id);
  print(fmt::format("dropped campaign {} {} with {} runs\n", row.id.substr(0, 8), row.name, row.progress.runs));
}

void allow(const StoreFlags& o) {
  const bool agent = o.right == "agent";
  if (!agent && !o.campaign.empty()) {
    fail(ErrorKind::usage, "--campaign: a reader reads the whole store. Leave it out, or allow an agent.");
  }
  const auto store = store::open_store(o.store, store::Access::write);
  const auto campaign = o.campaign.empty() ? "" : choose_campaign(store->campaigns(), o.campaign, o.store).id;
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

void add_backup(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("backup", "Copy a store into a new file while agents work, and check the copy");
  add_store_option(*command, o->store);
  command->add_option("file", o->file, "File that is not there yet")->required()->type_name("FILE");
  command->callback([o] { back_up(*o); });
}

void add_restore(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("restore", "Put a backup in the place that --store names");
  add_store_option(*command, o->store);
  command->add_option("file", o->file, "Backup; it stays as it is")->required()->type_name("FILE");
  command->add_flag("--replace", o->replace, "Rename the store that is there, in place of refusing");
  command->callback([o] { restore(*o); });
}

void add_drop(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("drop", "Remove a campaign with its runs and records, for good");
  add_store_option(*command, o->store);
  command->add_option("campaign", o->campaign, "Name of the campaign, or the first digits of its id")->required();
  command->callback([o] { drop(*o); });
}

void add_allow(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command =
      store.add_subcommand("allow", "Give a role of the PostgreSQL server the right of an agent or a reader");
  add_store_option(*command, o->store);
  command->add_option("right", o->right, "agent: takes and reports runs; reader: reads everything")
      ->required()
      ->check(CLI::IsMember({"agent", "reader"}));
  command->add_option("role", o->role, "Role, which the server has already")->required();
  command->add_option("--campaign", o->campaign,
                      "For an agent: only this campaign, by name or id [all, also later ones]");
  command->callback([o] { allow(*o); });
}

void add_forbid(CLI::App& store, const std::shared_ptr<StoreFlags>& o) {
  auto* command = store.add_subcommand("forbid", "Take every right in the store from a role");
  add_store_option(*command, o->store);
  command->add_option("role", o->role, "Role")->required();
  command->callback([o] {
    store::open_store(o->store, store::Access::write)->forbid(o->role);
    print(fmt::format("{} has no right in this store\n", o->role));
  });
}

}  // namespace

void add_store(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("store", "Look after a store: back it up, drop old campaigns, say which roles may use it");
  command->require_subcommand(1);
  const auto o = std::make_shared<StoreFlags>();
  add_backup(*command, o);
  add_restore(*command, o);
  add_drop(*command, o);
  add_allow(*command, o);
  add_forbid(*command, o);
  command->callback([&exit_code] { exit_code = 0; });
}

}  // namespace assay::cli
