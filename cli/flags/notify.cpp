#include "cli/flags/notify.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>
#include <sstream>

#include "assay/core/text/units.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/process/command_line.hpp"
#include "assay/process/memory_file.hpp"
#include "assay/process/program.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t kLongestFact = 2000;

double limit_seconds(const NotifyFlags& flags) {
  constexpr double kUsualSeconds = 60;
  if (flags.limit.empty()) return kUsualSeconds;
  const double seconds = parse_seconds(flags.limit, "--notify-limit");
  if (!(seconds >= 0.1 && seconds <= 3600)) {
    fail(ErrorKind::usage, "--notify-limit: {} is outside 100ms to 1h.", shown(flags.limit));
  }
  return seconds;
}

bool can_be_started(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access(((folder.empty() ? "." : folder) + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// The user's environment, without what an earlier alert may have left in it, and the facts of this one.
std::vector<std::string> environment_of(const compare::Alert& alert) {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    if (!std::string_view(*one).starts_with("ASSAY_ALERT_")) out.emplace_back(*one);
  }
  const auto& worst = alert.slowdowns.front();
  const auto add = [&](const char* name, const std::string& value) {
    out.push_back(fmt::format("ASSAY_ALERT_{}={}", name, printable(value, kLongestFact)));
  };
  add("STORE", alert.store);
  add("SLOWDOWNS", std::to_string(alert.slowdowns.size()));
  add("TITLE", worst.title);
  add("MESSAGE", worst.message);
  add("RATIO", fmt::format("{:.4f}", worst.ratio));
  add("TRIAL", worst.trial);
  add("PLATFORM", worst.platform);
  add("CAMPAIGN", worst.first.campaign);
  add("SINCE", worst.first.started_utc);
  return out;
}

/// How a command ended, in words; empty where it ended well.
std::string ending_of(const process::ProgramEnd& end, const NotifyFlags& flags, bool by_signal) {
  if (end.error != 0) return fmt::format("cannot be started: {}", std::strerror(end.error));
  if (end.stopped && by_signal) return "was ended, because this program was asked to stop";
  if (end.stopped)
    return fmt::format("took longer than {:.3g} s and was ended; --notify-limit gives it more", limit_seconds(flags));
  if (end.signal != 0) return fmt::format("was ended by signal {}", end.signal);
  if (end.exit_code != 0) return fmt::format("ended with exit code {}", end.exit_code);
  return "";
}

}  // namespace

void add_notify_flags(CLI::App& command, NotifyFlags& flags) {
  command
      .add_option("--notify", flags.command,
                  "With --gate: run this command if it fails, with the alert as JSON on its stdin; no shell reads it")
      ->type_name("COMMAND");
  command.add_option("--notify-limit", flags.limit, "With --notify: end the command after this time [60s]")
      ->type_name("TIME");
}

std::vector<std::string> command_words(const std::string& text, const char* flag) {
  const auto words = process::command_line_words(text, process::Backslash::stands);
  if (!words) fail(ErrorKind::usage, "{}: {} has a quote that is not closed.", flag, shown(text));
  if (words->empty() || words->front().empty())
    fail(ErrorKind::usage, "{}: {} names no program. Write it as --notify './alert --to team'.", flag, shown(text));
  return *words;
}

void check_notify(const NotifyFlags& flags, bool gate) {
  limit_seconds(flags);
  if (flags.command.empty()) {
    if (flags.limit.empty()) return;
    fail(ErrorKind::usage, "--notify-limit ends the command of --notify, and there is none. Leave it out.");
  }
  if (!gate) fail(ErrorKind::usage, "--notify runs a command when --gate fails. Add --gate.");
  const auto words = command_words(flags.command, "--notify");
  if (!can_be_started(words.front())) {
    fail(ErrorKind::usage, "--notify: {} is not a program that can be started. Give a path, or a name on PATH.",
         shown(words.front()));
  }
}

void notify(const NotifyFlags& flags, const compare::Alert& alert) {
  if (flags.command.empty() || alert.slowdowns.empty()) return;
  const auto words = command_words(flags.command, "--notify");
  const auto input = process::memory_file(to_json(alert).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a command leaves behind that is ended is ended with it
  StopSources stop;
  stop.after(limit_seconds(flags));
  const auto end = process::run_program(
      words, environment_of(alert), stop.fd(),
      [](const std::string& line) { std::fprintf(stderr, "%s\n", printable(line, kLongestFact).c_str()); },
      input.get());
  if (const auto ending = ending_of(end, flags, stop.by_signal()); !ending.empty())
    std::fprintf(stderr, "assay: --notify: %s %s\n", shown(words.front()).c_str(), ending.c_str());
}

}  // namespace assay::cli
