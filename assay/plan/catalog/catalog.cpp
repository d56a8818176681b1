#include "assay/plan/catalog/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "assay/core/text/utf8.hpp"
#include "assay/plan/text.hpp"

namespace assay::plan {
namespace {

constexpr JsonLimits kLimits{.bytes = 1u << 20, .depth = 16, .values = 10'000};
constexpr std::size_t kLongestName = 100;
constexpr std::string_view kFolder = "{folder}";
constexpr std::string_view kEnvironment = "{environment}";

bool is_name(const std::string& text) {
  const auto allowed = [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) || (c != 0 && std::strchr("._+-", c));
  };
  return !text.empty() && text.size() <= kLongestName && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), allowed);
}

void check_name(const char* field, const std::string& text) {
  if (is_name(text)) return;
  fail(ErrorKind::usage,
       "{}: {} cannot be used. Write at most {} letters, digits and ._+-, beginning with a letter or digit.", field,
       shown(text), kLongestName);
}

std::string reference(const WorkerInfo& worker) {
  return worker.name + "==" + worker.release;
}

std::vector<std::string> references(const std::vector<WorkerInfo>& workers) {
  std::vector<std::string> out;
  for (const auto& worker : workers) out.push_back(reference(worker));
  return out;
}

/// Splits off the leading run of digits, or of other characters.
std::string_view next_run(std::string_view& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t end = 1;
  while (end < text.size() && is_digit(text[end]) == is_digit(text[0])) ++end;
  const auto run = text.substr(0, end);
  text.remove_prefix(end);
  return run;
}

/// Below, equal or above 0 as run `a` comes before, with or after `b`.
int compare_runs(std::string_view a, std::string_view b) {
  if (!std::isdigit(static_cast<unsigned char>(a[0])) || !std::isdigit(static_cast<unsigned char>(b[0]))) {
    return a.compare(b);
  }
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

/// Whether a release that goes on with `rest` where the other ends is older than the other.
bool is_prerelease(std::string_view rest) {
  return !rest.empty() && rest[0] != '.' && rest[0] != '+' && !std::isdigit(static_cast<unsigned char>(rest[0]));
}

void check_environment(const WorkerInfo& worker) {
  const auto wants_it = [](const std::string& text) { return text.find(kEnvironment) != std::string::npos; };
  if (!worker.environment) {
    if (!std::any_of(worker.argv.begin(), worker.argv.end(), wants_it)) return;
    fail(ErrorKind::usage, "argv: it names {{environment}}, but there is no field environment. Write one.");
  }
  check_name("environment.package", worker.environment->package);
  check_name("environment.requirements", worker.environment->requirements);  // a file beside worker.json, no path
  // An environment's folder is name-release: it must tell where the name ends.
  if (worker.name.find('-') != std::string::npos) {
    fail(ErrorKind::usage, "name: {} has a '-', and the worker asks for an environment. Write _ in its place.",
         shown(worker.name));
  }
}

}  // namespace

void check(const WorkerInfo& worker) {
  check_name("name", worker.name);
  check_release(worker.release);
  if (worker.protocol != kWorkerProtocol) {
    fail(ErrorKind::usage, "protocol: the worker speaks {}, this Assay speaks {}. Install a matching worker.",
         worker.protocol, kWorkerProtocol);
  }
  if (worker.argv.empty() || worker.argv[0].empty()) {
    fail(ErrorKind::usage, "argv: it is empty. Name the worker's program, such as {{folder}}/worker.");
  }
  for (const auto& argument : worker.argv) check_text(argument, "argv", "\t\n");
  check_environment(worker);
}

bool is_whole_network(std::string_view kind) {
  return kind == "onnx" || kind == "pt" || kind == "replay" || kind == "gguf";
}

bool older_release(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const std::string_view rest_a = a, rest_b = b;
    const int order = compare_runs(next_run(a), next_run(b));
    if (order == 0) continue;
    if (is_prerelease(rest_a) != is_prerelease(rest_b)) return is_prerelease(rest_a);
    return order < 0;
  }
  return a.empty() ? !b.empty() && !is_prerelease(b) : is_prerelease(a);
}

Catalog::Catalog(std::vector<WorkerInfo> workers) : workers_(std::move(workers)) {
  for (const auto& worker : workers_) check(worker);
}

Catalog Catalog::read(const std::vector<std::filesystem::path>& roots, const std::filesystem::path& environments) {
  Catalog catalog;
  for (const auto& root : roots) catalog.read_root(root, environments);
  return catalog;
}

void Catalog::read_root(const std::filesystem::path& root, const std::filesystem::path& environments) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(root, error)) return;  // a default place where nothing was installed yet
  std::vector<fs::path> files;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const fs::path file = it->path() / "worker.json";
    if (fs::exists(file, ignored)) files.push_back(file);
  }
  if (error) problems_.push_back(fmt::format("{}: it cannot be read: {}", root.string(), error.message()));
  std::sort(files.begin(), files.end());  // the order of a directory differs between machines
  for (const auto& file : files) add(file, environments);
}

void Catalog::add(const std::filesystem::path& file, const std::filesystem::path& environments) {
  try {
    auto worker = from_json<WorkerInfo>(parse_json(read_worker_file(file), kLimits));
    check(worker);
    worker.folder = std::filesystem::absolute(file).parent_path().lexically_normal();
    if (worker.environment) return add_releases(worker, environments);
    if (find(Worker{worker.name, worker.release}) == nullptr) workers_.push_back(std::move(worker));
  } catch (const std::exception& error) {
    const std::string message = error.what();
    problems_.push_back(message.starts_with(file.string()) ? message : fmt::format("{}: {}", file.string(), message));
  }
}

void Catalog::add_releases(const WorkerInfo& worker, const std::filesystem::path& environments) {
  // Environments are told apart by the worker's name only, so the first folder of that name has them all.
  const auto same_name = [&](const WorkerInfo& other) { return other.name == worker.name; };
  if (std::any_of(installable_.begin(), installable_.end(), same_name)) return;
  installable_.push_back(worker);
  const auto installed = installed_environments(environments, worker.name, problems_);
  for (const auto& one : installed) {
    WorkerInfo release = worker;
    release.release = one.release;
    release.environment_folder = environment_folder(environments, one.name, one.release);
    workers_.push_back(std::move(release));
  }
  if (installed.empty()) workers_.push_back(worker);
}

Reference parse_reference(const std::string& text) {
  const auto equals = text.find("==");
  if (equals == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 2)};
}

void check_release(const std::string& release) {
  check_name("release", release);
}

const WorkerInfo& Catalog::find(const std::string& text) const {
  const auto [name, release] = parse_reference(text);
  const WorkerInfo* newest = nullptr;
  for (const auto& worker : workers_) {
    if (worker.name != name || !worker.installed() || (release && *release != worker.release)) continue;
    if (newest == nullptr || older_release(newest->release, worker.release)) newest = &worker;
  }
  if (newest == nullptr) not_found(text);
  return *newest;
}

void Catalog::not_found(const std::string& text) const {
  const std::string name = parse_reference(text).name;
  const auto named = [&](const WorkerInfo& worker) { return worker.name == name; };
  if (std::any_of(installable_.begin(), installable_.end(), named)) {
    const std::string safe = printable(text, kLongestName);
    fail(ErrorKind::usage, "worker {} is not installed: run `assay worker install {}`.", safe, safe);
  }
  if (workers_.empty())
    fail(ErrorKind::usage, "worker: {} is not at hand; no worker is. Install one first.", shown(text));
  const bool known = std::any_of(workers_.begin(), workers_.end(), named);
  std::vector<std::string> names;
  for (const auto* list : {&workers_, &installable_}) {
    for (const auto& worker : *list) names.push_back(worker.name);
  }
  if (const auto near = nearest(name, names); near && !known) {
    fail(ErrorKind::usage, "worker: {} is not at hand. Did you mean '{}'?", shown(text), *near);
  }
  fail(ErrorKind::usage, "worker: {} is not at hand{}. There are: {}.", shown(text), known ? " in this release" : "",
       fmt::join(references(workers_), ", "));
}

const WorkerInfo* Catalog::find(const Worker& wanted) const {
  const auto it = std::find_if(workers_.begin(), workers_.end(), [&](const WorkerInfo& worker) {
    return worker.name == wanted.name && worker.release == wanted.release && worker.installed();
  });
  return it == workers_.end() ? nullptr : &*it;
}

const WorkerInfo& Catalog::installable(const std::string& name) const {
  for (const auto& worker : installable_) {
    if (worker.name == name) return worker;
  }
  for (const auto& worker : workers_) {
    if (worker.name != name) continue;
    fail(ErrorKind::usage, "worker: {} needs no installing: it has no environment of its own.", shown(name));
  }
  std::vector<std::string> names;
  for (const auto& worker : installable_) names.push_back(worker.name);
  fail(ErrorKind::usage, "worker: {} is not at hand. Those that can be installed: {}.", shown(name),
       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

std::vector<std::string> worker_argv(const WorkerInfo& worker) {
  ASSAY_CHECK(worker.installed());
  std::vector<std::string> argv = worker.argv;
  for (auto& argument : argv) {
    replace_all(argument, kFolder, worker.folder.string());
    replace_all(argument, kEnvironment, worker.environment_folder.string());
  }
  return argv;
}

}  // namespace assay::plan
