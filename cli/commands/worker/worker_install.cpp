#include <unistd.h>

#include <filesystem>
#include <memory>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"
#include "assay/vet/install.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"
#include "cli/progress.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

struct InstallFlags {
  std::vector<std::string> workers;
  std::string python = "python3";
  bool again = false;
  bool unlocked = false;
  bool json = false;
};

/// "Downloading torch-2.13.0.whl (190.1 MB)" of what pip says of a file that it fetches, without its address; else
/// empty.
std::string download_of(const std::string& line) {
  const auto at = line.find("Downloading ");
  const auto size = line.rfind(" (");
  if (at == std::string::npos || size == std::string::npos || !line.ends_with(')')) return "";
  const auto address = line.substr(at + 12, size - at - 12);
  return "Downloading " + address.substr(address.rfind('/') + 1) + line.substr(size);  // npos + 1 is 0
}

/// What is being done, on stderr: a line that is written over on a terminal, a line for each step elsewhere.
class InstallProgress {
 public:
  explicit InstallProgress(std::string subject) : subject_(std::move(subject)) {}
  ~InstallProgress() {
    if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
  }
  InstallProgress(const InstallProgress&) = delete;
  InstallProgress& operator=(const InstallProgress&) = delete;

  void show(const std::string& step, const std::string& detail) {
    const auto download = download_of(detail);
    if (!terminal_ && step == step_ && download.empty()) return;
    step_ = step;
    shown_ = true;
    const auto& last = download.empty() ? detail : download;
    const std::string line = fmt::format("{}: {}{}{}", subject_, step, last.empty() ? "" : ": ", last);
    if (terminal_) {
      std::fprintf(stderr, "\r\033[K%s", report::fit(line, stderr_width()).c_str());
    } else {
      std::fprintf(stderr, "%s\n", line.c_str());
    }
  }

 private:
  std::string subject_;
  std::string step_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
};

/// Bytes of all files below `folder`, as `du --apparent-size` has them but for folders and links.
std::uintmax_t bytes_below(const std::filesystem::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_symlink(ignored) && it->is_regular_file(ignored)) bytes += it->file_size(ignored);
  }
  return bytes;
}

vet::Installation install_one(const std::string& reference, const plan::Catalog& catalog, const InstallFlags& flags,
                              int stop_fd) {
  const auto [name, release] = plan::parse_reference(reference);
  InstallProgress progress(reference);
  vet::InstallOptions options;
  options.environments = environments_root();
  options.python = flags.python;
  options.again = flags.again;
  options.unlocked = flags.unlocked;
  options.stop_fd = stop_fd;
  options.progress = [&](const std::string& step, const std::string& detail) { progress.show(step, detail); };
  if (options.environments.empty()) {
    fail(ErrorKind::usage, "there is no home folder to install to. Name a folder with ASSAY_ENVIRONMENTS.");
  }
  return vet::install(catalog.installable(name), release, options);
}

int install(const InstallFlags& flags) {
  const auto catalog = catalog_at_hand();
  for (const auto& reference : flags.workers) catalog.installable(plan::parse_reference(reference).name);
  const auto stop = stop_signals();
  json out = json::array();
  for (const auto& reference : flags.workers) {
    const auto done = install_one(reference, catalog, flags, stop.get());
    if (done.end == vet::InstallEnd::stopped) {
      std::fprintf(stderr, "assay: stopped; nothing is left of %s, and the same command begins it again\n",
                   reference.c_str());
      return kExitStopped;
    }
    const bool is_new = done.end == vet::InstallEnd::installed;
    if (flags.json) {
      json one = to_json(done.installed);
      one["folder"] = done.folder.string();
      one["new"] = is_new;
      out.push_back(std::move(one));
    } else {
      print(fmt::format("{} {} {}: {}, {}{}\n", done.installed.name, done.installed.release,
                        is_new ? "is installed" : "is already there", done.folder.string(),
                        format_bytes(static_cast<std::int64_t>(bytes_below(done.folder))),
                        done.installed.locked == true ? "" : " (not locked: hashes were not checked)"));
    }
  }
  if (flags.json) print(out.dump(2) + "\n");
  return 0;
}

}  // namespace

void add_worker_install(CLI::App& worker, int& exit_code) {
  auto* command = worker.add_subcommand("install", "Make the virtual environment of a worker, one for each release");
  const auto flags = std::make_shared<InstallFlags>();
  command->add_option("worker", flags->workers, "Install this worker, or worker==release [the release it was made for]")
      ->required();
  command->add_option("--python", flags->python, "Make it with this interpreter")->capture_default_str();
  command->add_flag("--again", flags->again, "Make it again if it is there");
  command->add_flag("--unlocked", flags->unlocked, "Take what pip finds, without checking hashes of files");
  add_json_flag(*command, flags->json, "Print what was installed as JSON");
  command->callback([flags, &exit_code] { exit_code = install(*flags); });
}

}  // namespace assay::cli
