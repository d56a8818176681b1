#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/error.hpp"
#include "assay/core/text/number.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/plan/text.hpp"
#include "assay/store/location.hpp"
#include "cli/command.hpp"
#include "cli/command_tree.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"
#include "cli/version.hpp"

namespace assay::cli {
namespace {

/// By the variables that every program of the terminal goes by.
bool shows_blocks() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale = value;
    std::transform(locale.begin(), locale.end(), locale.begin(), [](unsigned char c) { return std::tolower(c); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

/// --max-samples has the twin ASSAY_MAX_SAMPLES. A flag on the command line wins.
void add_environment_twins(CLI::App& app) {
  for (auto* command : app.get_subcommands([](CLI::App*) { return true; })) {
    add_environment_twins(*command);
    for (auto* option : command->get_options()) {
      if (option->get_lnames().empty() || option->get_lnames()[0] == "help") continue;
      if (option->get_lnames()[0] == "published") continue;  // ASSAY_PUBLISHED is a folder of tables, for tests
      std::string name = "ASSAY_" + option->get_lnames()[0];
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return c == '-' ? '_' : std::toupper(c); });
      option->envname(name);
    }
  }
}

constexpr std::array kCommands{
#define COMMAND(name) &commands::name,
#include "cli/commands/commands.inc"
#undef COMMAND
};

/// What somebody sees who has just installed it.
constexpr const char* kFirstScreen =
    R"(Assay measures deep-learning workloads so that the numbers hold up. Four questions, one command each:

  How fast is it here?           assay run resnet50 --runs 6       or model.onnx, net.py:function, -- ./program
  Which settings are fastest?    assay tune model.onnx --worker onnxruntime
  What limits it, and at scale?  assay predict resnet50 --cluster FILE --devices 1-64*2
  Did it get slower?             assay compare before after --gate 3%

`assay list` shows what was measured, `assay worker list` what can be. All commands: assay --help
)";

/// "Frameworks here: onnxruntime 1.31.1, pytorch 2.13.0"; where there is none, how to get one.
std::string frameworks_text() {
  const auto catalog = catalog_at_hand();
  std::string names;
  for (const auto& worker : catalog.workers()) {
    if (!worker.environment || !worker.installed()) continue;
    names += (names.empty() ? "" : ", ") + worker.name + " " + worker.release;
  }
  if (names.empty()) return "No framework is installed yet: assay worker install onnxruntime\n";
  return "Frameworks here: " + names + "\n";
}

/// The one that is asked for, since declaring flags takes time that `assay exec` must not take; else all, for the help
/// and for what is written from it.
void add_commands(CLI::App& app, std::string_view wanted, Invocation& invocation) {
  std::vector<std::string> names;
  for (const auto* command : kCommands) names.emplace_back(command->name);
  const bool known = std::find(names.begin(), names.end(), wanted) != names.end();
  if (!known && !wanted.empty() && wanted.front() != '-') {
    fail(ErrorKind::usage, "{} is not a command. {}", shown(std::string(wanted)), plan::suggestion(wanted, names));
  }
  const bool one_is_enough = known && wanted != commands::manual.name && wanted != commands::completion.name;
  for (const auto* command : kCommands) {
    if (!one_is_enough || command->name == wanted) {
      command->add(*app.add_subcommand(command->name, command->summary), invocation);
    }
  }
}

/// The command that the words chose, below which nothing else was understood.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : chosen_command(*parsed.front());
}

/// Names the first word that the chosen command does not know, and the nearest that it does.
[[noreturn]] void refuse_extras(const CLI::App& app) {
  const auto& command = chosen_command(app);
  const auto path = "assay" + (&command == &app ? "" : " " + command.get_name());
  const auto rest = app.remaining(true);
  const std::string word = rest.empty() ? "" : rest.front().substr(0, rest.front().find('='));
  std::vector<std::string> known;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const auto* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!word.starts_with('-')) known.push_back(below->get_name());
  }
  const auto near = plan::nearest(word, known);
  fail(ErrorKind::usage, "{} is not {} of `{}`. {}`{} --help` shows what there is.", shown(word),
       word.starts_with('-') ? "a flag" : "an argument", path, near ? fmt::format("Did you mean '{}'? ", *near) : "",
       path);
}

/// A message of CLI11 as a sentence.
std::string sentence(const CLI::ParseError& error) {
  auto text = printable(error.what(), 300);
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

int run(int argc, char** argv) {
  // Everything after "--" is a program's own command line, and none of our flags.
  char** const end = argv + argc;
  char** const split = std::find_if(argv + 1, end, [](const char* text) { return std::string_view(text) == "--"; });
  Invocation invocation{{split == end ? end : split + 1, end}, {argv + 1, split}};
  argc = static_cast<int>(split - argv);
  if (argc < 2 && invocation.program.empty()) {
    print(kFirstScreen + frameworks_text());
    return 0;
  }
  std::vector<std::string> words{argv + 1, argv + argc};
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  const std::string command = words.empty() ? "" : words[0];
  if (!invocation.program.empty() && command != "run" && command != "exec") {
    fail(ErrorKind::usage, "-- {}: only `assay run` and `assay exec` take a program.", shown(invocation.program[0]));
  }
  if (std::any_of(argv, argv + argc, [](const char* word) { return store::has_password(word); })) {
    fail(ErrorKind::usage,
         "a password on a command line can be read by every user of this host. Put the URL into a file that only you "
         "can read, and write --store @FILE; or put the password into ~/.pgpass.");
  }
  CLI::App app{"Measure, tune and predict deep-learning workloads on real frameworks, with numbers that hold up.",
               "assay"};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.formatter(help_formatter());
  add_commands(app, command, invocation);
  app.footer("Start with: assay run toy --worker fake --batch 1-32*2");  // its own alone: commands would take it over
  add_environment_twins(app);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors; everything else is the user's command line.
    if (error.get_exit_code() == 0) return app.exit(error);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) refuse_extras(app);
    fail(ErrorKind::usage, "{} `assay --help` and `assay COMMAND --help` show what there is.", sentence(error));
  }
  return invocation.exit_code;
}

}  // namespace

std::pair<std::string, std::string> split_assignment(const std::string& text, const char* flag) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail(ErrorKind::usage, "{}: {} has no NAME=VALUE form.", flag, shown(text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_store_option(CLI::App& command, std::string& store) {
  command
      .add_option(
          "--store", store,
          "Keep everything in this SQLite file, postgresql://USER@HOST/DATABASE, or @FILE that holds such a URL")
      ->capture_default_str()
      ->type_name("PATH")
      ->group(kHostGroup);
}

std::size_t terminal_width() {
  if (isatty(STDOUT_FILENO) == 0) return 0;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    if (const auto width = parse_number<std::size_t>(columns).value_or(0); width > 0) return width;
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool colour_wanted() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0') && !dumb;
}

report::Look terminal_look() {
  return {terminal_width(), shows_blocks(), colour_wanted()};
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE) std::_Exit(0);  // the reader, such as head, has seen enough
    fail(ErrorKind::failure, "cannot write to standard output: {}", std::strerror(errno));
  }
}

}  // namespace assay::cli

int main(int argc, char** argv) {
  // A limit on file size and a closed pipe are errors to report, not reasons to die without a word. What is ignored
  // stays so in a program that takes our place.
  if (argc < 2 || std::string_view(argv[1]) != "exec") {
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
  }
  try {
    return assay::cli::run(argc, argv);
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "assay: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay: internal error: %s. Please report this.\n", error.what());
    return 1;
  }
}
