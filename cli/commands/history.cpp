#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "assay/compare/history.hpp"
#include "assay/core/text/number.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/report/subjects/history.hpp"
#include "assay/store/selection.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/check_files.hpp"
#include "cli/flags/notify.hpp"
#include "cli/help.hpp"

namespace assay::cli {
namespace {

struct HistoryOptions {
  std::string store = "assay.db";
  std::string network;
  std::string worker;
  std::string trial;
  std::string over = "dates";
  std::string since;
  std::string least = "2%";
  bool json = false;
  bool gate = false;
  CheckFiles files;
  NotifyFlags notify;
};

/// "2%" and "2" are 0.02.
double parse_share(const std::string& text) {
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  const double percent = parse_number<double>(number).value_or(0);
  if (!(percent >= 0.1 && percent <= 1000)) {
    fail(ErrorKind::usage, "--least: {} is not a share from 0.1% to 1000%. Write it as 2%.", shown(text));
  }
  return percent / 100;
}

/// Whether `text` has a digit wherever `form` has one, and the same characters otherwise.
bool has_form(std::string_view text, std::string_view form) {
  return text.size() == form.size() && std::equal(text.begin(), text.end(), form.begin(), [](char c, char f) {
           return f == '0' ? c >= '0' && c <= '9' : c == f;
         });
}

/// A day that exists, with or without a time of that day after it.
void check_since(const std::string& text) {
  const auto number = [&](std::size_t at, std::size_t length) { return std::stoi(text.substr(at, length)); };
  bool good = has_form(text, "0000-00-00") || has_form(text, "0000-00-00T00:00");
  if (good) {
    using namespace std::chrono;
    good = year_month_day{year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                          day(static_cast<unsigned>(number(8, 2)))}
               .ok();
  }
  if (good && text.size() > 10) good = number(11, 2) < 24 && number(14, 2) < 60;
  if (!good)
    fail(ErrorKind::usage, "--since: {} is not a valid date. Write it as 2026-11-02 or 2026-11-02T10:30.", shown(text));
}

compare::HistoryRequest request_of(const HistoryOptions& o) {
  compare::HistoryRequest request;
  request.over = o.over == name_of(compare::Over::releases) ? compare::Over::releases : compare::Over::dates;
  request.least = parse_share(o.least);
  request.network = o.network;
  request.trial = o.trial;
  if (!o.worker.empty()) {
    const auto reference = plan::parse_reference(o.worker);
    request.worker = reference.name;
    request.release = reference.release.value_or("");
    if (request.over == compare::Over::releases && reference.release) {
      fail(ErrorKind::usage, "--worker {}: a history over releases is of all of them. Leave out =={}.", shown(o.worker),
           *reference.release);
    }
  }
  if (!o.since.empty()) check_since(o.since);
  request.since_utc = o.since;
  return request;
}

/// Says what was asked for where nothing was found: a gate must not pass because of a misspelt name.
[[noreturn]] void nothing_found(const HistoryOptions& o) {
  std::string asked;
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) asked += fmt::format(" {} {}", flag, shown(value));
  };
  add("--network", o.network);
  add("--worker", o.worker);
  add("--trial", o.trial);
  add("--since", o.since);
  fail(ErrorKind::usage, "no run in {} that gave a time{}{}. `assay show --all` lists what there is.",
       store::shown_location(o.store), asked.empty() ? "" : " fits", asked);
}

int history(const HistoryOptions& o) {
  const auto request = request_of(o);
  check_notify(o.notify, o.gate);
  const auto store = store::open_store(o.store, store::Access::read);
  if (!o.trial.empty()) store::choose_trial(store->trials({.trial = o.trial}), o.trial, o.store);
  const auto history = compare::read_history(*store, request);
  if (history.series.empty()) nothing_found(o);
  const auto checks = report::history_checks(history);
  o.json ? print_json(to_json(history)) : print_document(report::history_document(history));
  write_check_files(o.files, fmt::format("History over {}", o.over), checks);
  if (!o.gate || report::count(checks, report::CheckStatus::failed) == 0) return 0;
  notify(o.notify, report::history_alert(history, store::shown_location(o.store)));
  return kExitGate;
}

void add_history(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<HistoryOptions>();
  add_store_option(command, o->store);
  command.add_option("--network", o->network, "Look at this network only");
  command.add_option("--worker", o->worker, "Look at this worker only, or worker==release");
  command.add_option("--trial", o->trial, "Look only at the series of the trial whose id begins so");
  command.add_option("--over", o->over, "Put campaigns by dates, or releases of the worker, in a series")
      ->check(CLI::IsMember({"dates", "releases"}))
      ->capture_default_str();
  command.add_option("--since", o->since, "Leave out runs that began earlier, such as 2026-11-02 (UTC)")
      ->type_name("DATE");
  command.add_option("--least", o->least, "Report no change smaller than this")
      ->type_name("SHARE")
      ->capture_default_str();
  add_json_flag(command, o->json);
  add_check_files(command, o->files);
  command.add_flag("--gate", o->gate, "Exit with 3 if the newest change of a series is a slow-down");
  add_notify_flags(command, o->notify);
  command.footer("docs/measuring.md says how changes are found and what is needed to see one.");
  command.callback([o, &invocation] { invocation.exit_code = history(*o); });
}

}  // namespace

const Command commands::history{"history", "Find when it became slower: changes of level over dates or releases",
                                add_history};

}  // namespace assay::cli
