#include "assay/vet/install.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "assay/core/clock.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/platform/process.hpp"
#include "assay/process/program.hpp"
#include "assay/process/regular_file.hpp"
#include "assay/process/spawn.hpp"
#include "assay/vet/install_environment.hpp"
#include "assay/vet/package_changes.hpp"

namespace assay::vet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownLines = 12;
constexpr int kLockPollMs = 50;
constexpr std::int64_t kLeftoversNs = 5'000'000'000;
constexpr const char* kListing = "listing what was installed";
constexpr const char* kBuildAdvice =
    "It needs CMake, Ninja, a C++ compiler and what Assay itself is built from (scripts/setup).";
constexpr const char* kPipFoundOtherHash = "DO NOT MATCH THE HASHES";
constexpr const char* kAlteredAdvice =
    "A file that was served is not the one that the worker's lock names: its hash differs. It was altered, or it is "
    "another build under the same name. Nothing of it is left; find out which before you install it in another way.";
// Marks a folder as ours before anything else is in it; renamed to installed.json at the end.
constexpr const char* kInstallingFile = "installing.json";

/// Ends the installation because the user wants so.
struct Stopped {};

/// The last lines for a person: blank ones left out, each made printable.
std::string last_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of("\r\n", at), text.size());
    if (end > at) lines.push_back("  " + printable(text.substr(at, end - at), 500));
    at = end + 1;
  }
  if (lines.size() > kShownLines) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kShownLines));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// Others may use an environment.
constexpr measure::WriteOptions kLasting{.mode = 0644, .durable = true};

/// `folder` itself, to be synchronised.
process::Fd opened(const fs::path& folder) {
  process::Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) file_failed(errno, "open", folder.string());
  return fd;
}

/// Names that were changed in `folder` stay changed when the power fails.
void sync_names(const fs::path& folder) {
  if (fsync(opened(folder).get()) != 0) file_failed(errno, "write", folder.string());
}

/// All that was written to the file system of `folder` is on its disk: pip writes thousands of files and waits for
/// none.
void sync_all(const fs::path& folder) {
  if (syncfs(opened(folder).get()) != 0) file_failed(errno, "write", folder.string());
}

/// What pip is given.
struct Wanted {
  std::string requirements;                ///< the text of its file
  std::vector<plan::PinnedPackage> known;  ///< what was asked for and what the lock lists
  bool locked = false;                     ///< the file has hashes, and pip takes nothing else
};

class Installer {
 public:
  Installer(const plan::WorkerInfo& worker, const std::string& release, const InstallOptions& options)
      : worker_(worker),
        release_(release),
        options_(options),
        folder_(plan::environment_folder(options.environments, worker.name, release)),
        environment_(install_environment(folder_)),
        changes_(read_package_changes(worker.folder)) {}

  Installation run() {
    std::error_code error;
    fs::create_directories(options_.environments, error);
    if (error) {
      fail(ErrorKind::failure, "cannot make {}: {}. Name another folder with ASSAY_ENVIRONMENTS.",
           options_.environments.string(), error.message());
    }
    Installation out;
    out.folder = folder_;
    process::Fd lock;  // held until what a failure left is removed, too
    try {
      lock = take_lock();
      if (!options_.again) {
        if (const auto there = plan::read_installed(folder_)) return {InstallEnd::already_there, folder_, *there};
      }
      begin();
      out.installed = make();
    } catch (const Stopped&) {
      remove();
      out.end = InstallEnd::stopped;
    } catch (...) {
      remove();
      throw;
    }
    return out;
  }

 private:
  void tell(const std::string& step, const std::string& detail = "") const { options_.progress(step, detail); }

  /// Held until the installation has ended, whatever ends it.
  process::Fd take_lock() const {
    const fs::path path = folder_.parent_path() / fmt::format(".{}.lock", folder_.filename().string());
    process::Fd lock = process::open_or_fail(path, O_RDWR | O_CREAT, "open", 0644);
    bool told = false;
    while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR)
        fail(ErrorKind::failure, "cannot lock {}: {}.", path.string(), std::strerror(errno));
      if (!std::exchange(told, true)) tell("waiting: it is being installed by another program");
      pollfd stop{options_.stop_fd, POLLIN, 0};
      if (poll(&stop, 1, kLockPollMs) > 0) throw Stopped{};
    }
    return lock;
  }

  /// An empty folder that is marked as ours. Nobody else works in it: the lock is held, and what a killed installation
  /// started is ended here.
  void begin() {
    end_leftovers();
    std::error_code error;
    if (fs::exists(folder_, error)) {
      if (!is_ours()) {
        fail(ErrorKind::failure,
             "{} is there already and was not made by Assay; it was not changed. Remove it, or name another place with "
             "ASSAY_ENVIRONMENTS.",
             folder_.string());
      }
      tell("removing what was there");
      unmark();
      sync_names(folder_);
      empty();
    }
    owned_ = true;
    fs::create_directories(folder_, error);
    if (error) fail(ErrorKind::failure, "cannot make {}: {}.", folder_.string(), error.message());
    measure::write_file(folder_ / kInstallingFile, "{}\n", kLasting);
  }

  void end_leftovers() const {
    const std::int64_t deadline = monotonic_ns() + kLeftoversNs;
    while (true) {
      const auto left = platform::processes_with_environment(environment_.back());
      if (left.empty()) return;
      if (monotonic_ns() > deadline)
        fail(ErrorKind::failure, "process {} of an earlier installation cannot be ended.", left[0]);
      for (const pid_t pid : left) kill(pid, SIGKILL);
      sleep_until_ns(monotonic_ns() + 5'000'000);
    }
  }

  bool is_ours() const {
    std::error_code ignored;
    return fs::exists(folder_ / kInstallingFile, ignored) || fs::exists(folder_ / plan::kInstalledFile, ignored) ||
           fs::is_empty(folder_, ignored);
  }

  /// Not complete from now on, whatever happens next.
  void unmark() const {
    const fs::path file = folder_ / plan::kInstalledFile;
    if (std::rename(file.c_str(), (folder_ / kInstallingFile).c_str()) != 0 && errno != ENOENT)
      file_failed(errno, "rename", file.string());
  }

  /// Removes everything but the mark, so that the folder stays recognisable if this is interrupted.
  void empty() const {
    std::error_code error;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
      if (it->path().filename() == kInstallingFile) continue;
      fs::remove_all(it->path(), error);
      if (error) break;
    }
    if (error) fail(ErrorKind::failure, "cannot empty {}: {}.", folder_.string(), error.message());
  }

  /// After a failure: nothing is left, or it is left for the next installation to remove.
  void remove() const {
    if (!owned_) return;
    try {
      unmark();
      empty();
      std::error_code ignored;
      fs::remove_all(folder_, ignored);
    } catch (const Error&) {  // the failure that led here matters more
    }
  }

  plan::Installed make() const {
    const Wanted wanted = what_is_wanted();
    const std::string python = (folder_ / "bin" / "python").string();
    // -I: variables and packages of the user's own must not leak into the environment.
    execute(fmt::format("making the environment with {}", options_.python),
            {options_.python, "-I", "-m", "venv", folder_.string()},
            "Install Python 3 with its module venv (Debian: python3-venv), or name another interpreter with --python.");
    get_packages(python, wanted);
    const std::string python_release =
        first_line({python, "-I", "-c", "import platform; print(platform.python_version())"});
    plan::Installed installed{worker_.name, release_, python_release, packages(python), utc_now(), wanted.locked};
    check_release(installed, wanted);
    if (changes_.also_named) name_again(python);
    if (worker_.environment->build) build(python);
    measure::write_file(folder_ / kInstallingFile, to_json(installed).dump(2) + "\n", kLasting);
    complete();
    return installed;
  }

  fs::path requirements_file() const { return worker_.folder / worker_.environment->requirements; }
  fs::path lock_file() const { return worker_.folder / plan::lock_name(worker_.environment->requirements); }

  /// The lock where it is of this release; else the requirements with this release in place of theirs.
  Wanted what_is_wanted() const {
    const auto& package = worker_.environment->package;
    const std::string asked = plan::with_release(plan::read_worker_file(requirements_file()), package, release_);
    Wanted out{plan::with_exact_pins(asked), plan::pinned_packages(asked), false};
    if (std::error_code ignored; fs::symlink_status(lock_file(), ignored).type() == fs::file_type::not_found)
      return out;
    const std::string lock = plan::read_worker_file(lock_file());
    const auto locked = plan::pinned_packages(lock);
    out.known.insert(out.known.end(), locked.begin(), locked.end());
    if (options_.unlocked || !plan::find_build(locked, package, release_)) return out;
    for (const auto& pin : plan::pinned_packages(asked)) {
      if (plan::find_build(locked, pin.name, pin.release)) continue;
      fail(ErrorKind::usage, "worker {}: {} has no {}=={}, which {} pins. Renew it with scripts/lock-workers {}.",
           worker_.name, lock_file().string(), pin.name, pin.release, worker_.environment->requirements, worker_.name);
    }
    out.requirements = plan::with_exact_pins(lock);
    out.locked = true;
    return out;
  }

  /// Wheels alone: a source distribution is a program that pip would run.
  void get_packages(const std::string& python, const Wanted& wanted) const {
    const std::string requirements = (folder_ / "requirements.txt").string();
    measure::write_file(requirements, wanted.requirements, kLasting);
    std::vector<std::string> argv{python, "-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check"};
    argv.insert(argv.end(), {"--progress-bar", "off", "--only-binary", ":all:", "-r", requirements});
    if (wanted.locked) argv.push_back("--require-hashes");
    // A lock has all that is wanted; what it leaves out is asked for by others, and pip must not look for it.
    const auto& left_out = changes_.left_out;
    if (wanted.locked && !left_out.empty()) argv.push_back("--no-deps");
    if (worker_.environment->build) argv.push_back("--no-compile");  // what is built runs without Python
    execute(fmt::format("installing {}=={} and what it needs", worker_.environment->package, release_), argv,
            pip_advice(wanted));
    if (wanted.locked) return;
    check_builds(wanted);
    if (left_out.empty()) return;
    argv = {python, "-I", "-m", "pip", "uninstall", "--yes", "--no-input", "--disable-pip-version-check"};
    argv.insert(argv.end(), left_out.begin(), left_out.end());
    execute(fmt::format("removing {}", fmt::join(left_out, ", ")), argv, "Try it by hand.");
  }

  std::string packages_folder(const std::string& python) const {
    return first_line({python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"});
  }

  /// Metadata under the name by which the package looks itself up.
  void name_again(const std::string& python) const {
    const auto other = other_name(*changes_.also_named, release_);
    const fs::path metadata =
        fs::path(packages_folder(python)) / fmt::format("{}-{}.dist-info", other.name, other.release);
    std::error_code error;
    fs::create_directories(metadata, error);
    if (error) fail(ErrorKind::failure, "cannot make {}: {}.", metadata.string(), error.message());
    measure::write_file(metadata / "METADATA",
                        fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", other.name, other.release),
                        kLasting);
  }

  std::string pip_advice(const Wanted& wanted) const {
    if (!wanted.locked) {
      return fmt::format(
          "Check the release, spelled as the index spells it, and the network; pip read {} and takes wheels alone.{}",
          requirements_file().string(), about_withheld_variables());
    }
    return fmt::format(
        "pip may install only what {} lists. Check the network. If your index has other builds, or none for this "
        "Python, docs/frameworks.md says how pip finds the right ones; `assay worker install {} --unlocked` takes what "
        "there is and checks no hashes.{}",
        lock_file().string(), worker_.name, about_withheld_variables());
  }

  /// Builds of packages (1.0+cpu) that nobody asked for. Read from names of folders: no program of the environment may
  /// start before, since a package can have code run whenever its Python starts.
  void check_builds(const Wanted& wanted) const {
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder_ / "lib", error), end; !error && it != end; it.increment(error)) {
      if (it.depth() < 2) continue;  // lib/python3.11/site-packages
      it.disable_recursion_pending();
      const std::string name = it->path().stem().string();
      const auto dash = name.find('-');
      if (it->path().extension() != ".dist-info" || dash == std::string::npos) continue;
      const std::string package = name.substr(0, dash);
      const std::string release = name.substr(dash + 1);
      if (release.find('+') == std::string::npos || plan::find_build(wanted.known, package, release)) continue;
      fail(ErrorKind::failure,
           "worker {} {}: pip chose {}=={}, a local build that nobody asked for: another source serves it alongside "
           "the index. "
           "Find out who; if it is wanted, pin it in {}.",
           worker_.name, release_, printable(package, 100), printable(release, 100), requirements_file().string());
    }
    if (error) fail(ErrorKind::failure, "cannot read {}: {}.", folder_.string(), error.message());
  }

  /// What installed.json says is true after a power cut, too: all else is on the disk before it has its name.
  void complete() const {
    tell("waiting until all of it is on the disk");
    sync_all(folder_);
    if (std::rename((folder_ / kInstallingFile).c_str(), (folder_ / plan::kInstalledFile).c_str()) != 0)
      file_failed(errno, "write", (folder_ / plan::kInstalledFile).string());
    sync_names(folder_);
  }

  /// Builds the worker's own folder against the packages. Programs go to the environment's bin.
  void build(const std::string& python) const {
    const fs::path tree = folder_ / "build";
    execute("configuring the worker's program",
            {"cmake", "-S", worker_.folder.string(), "-B", tree.string(), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_PREFIX_PATH=" + packages_folder(python),
             "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=" + (folder_ / "bin").string()},
            kBuildAdvice);
    execute("building the worker's program", {"cmake", "--build", tree.string()}, kBuildAdvice);
    plan::WorkerInfo built = worker_;
    built.environment_folder = folder_;
    const std::string program = plan::worker_argv(built)[0];
    if (access(program.c_str(), X_OK) != 0) {
      fail(ErrorKind::failure, "worker {} {}: building {} made no program {}, which argv of worker.json names.",
           worker_.name, release_, worker_.folder.string(), program);
    }
    std::error_code ignored;
    fs::remove_all(tree, ignored);
  }

  /// What it wrote to stdout; throws where it did not end well.
  std::string execute(const std::string& step, const std::vector<std::string>& argv, const std::string& advice) const {
    tell(step);
    const auto end = process::run_program(argv, environment_, options_.stop_fd,
                                          [&](const std::string& line) { tell(step, printable(line, 500)); });
    if (end.stopped) throw Stopped{};
    if (end.ok()) return end.output;
    const std::string subject = fmt::format("worker {} {}: {} failed", worker_.name, release_, step);
    if (end.error != 0) {
      fail(ErrorKind::failure, "{}: {} cannot be started: {}. {}", subject, shown(argv[0]), std::strerror(end.error),
           advice);
    }
    const bool altered = end.tail.find(kPipFoundOtherHash) != std::string::npos;
    fail(ErrorKind::failure, "{} ({}). {} Its last words:\n{}", subject,
         end.signal != 0 ? fmt::format("signal {}", end.signal) : fmt::format("code {}", end.exit_code),
         altered ? kAlteredAdvice : advice, last_lines(end.tail));
  }

  /// Of what a small program prints.
  std::string first_line(const std::vector<std::string>& argv) const {
    const std::string text = execute(kListing, argv, "Try it by hand.");
    return text.substr(0, text.find('\n'));
  }

  std::vector<std::string> packages(const std::string& python) const {
    const std::string text =
        execute(kListing, {python, "-I", "-m", "pip", "--disable-pip-version-check", "freeze"}, "Try it by hand.");
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      if (end > at) out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return out;
  }

  /// What is recorded as a release must be that release.
  void check_release(const plan::Installed& installed, const Wanted& wanted) const {
    const auto& package = worker_.environment->package;
    const auto got = plan::listed_release(installed.packages, package);
    if (!got) fail(ErrorKind::failure, "pip installed no {}; environment.package names another package.", package);
    if (plan::is_build_of(*got, release_) && plan::find_build(wanted.known, package, *got)) return;
    fail(ErrorKind::usage, "{} {} calls itself {}: run `assay worker install {}=={}`.", package, release_, shown(*got),
         worker_.name, *got);
  }

  const plan::WorkerInfo& worker_;
  const std::string release_;
  const InstallOptions& options_;
  const fs::path folder_;
  const std::vector<std::string> environment_;
  const PackageChanges changes_;
  bool owned_ = false;
};

/// The pin, which must be the release that worker.json speaks of: else the two would drift apart unseen.
std::string default_release(const plan::WorkerInfo& worker) {
  const auto& environment = *worker.environment;
  auto pin =
      plan::pinned_release(plan::read_worker_file(worker.folder / environment.requirements), environment.package);
  if (pin == worker.release) return pin;
  fail(ErrorKind::usage, "worker {}: {} pins {}=={}, worker.json says release {}. Make them the same.", worker.name,
       environment.requirements, environment.package, pin, worker.release);
}

}  // namespace

Installation install(const plan::WorkerInfo& worker, const std::optional<std::string>& release,
                     const InstallOptions& options) {
  ASSAY_CHECK(worker.environment && options.progress);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (release) plan::check_release(*release);
  return Installer(worker, release ? *release : default_release(worker), options).run();
}

}  // namespace assay::vet
