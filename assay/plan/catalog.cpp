#include "assay/plan/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>

#include "assay/plan/text.hpp"

namespace assay::plan {
namespace {

constexpr JsonLimits kLimits{.bytes = 1u << 20, .depth = 16, .values = 10'000};
constexpr std::size_t kLongestName = 100;

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

/// The whole file, or one byte beyond the limit, which parse_json then refuses.
std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(ErrorKind::usage, "it cannot be opened");
  std::string text(kLimits.bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
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

}  // namespace

void check(const WorkerInfo& worker) {
  check_name("name", worker.name);
  check_name("release", worker.release);
  if (worker.protocol != kWorkerProtocol) {
    fail(ErrorKind::usage, "protocol: the worker speaks {}, this Assay speaks {}. Install a matching worker.",
         worker.protocol, kWorkerProtocol);
  }
  if (worker.argv.empty() || worker.argv[0].empty()) {
    fail(ErrorKind::usage, "argv: it is empty. Name the worker's program, such as {{folder}}/worker.");
  }
  for (const auto& argument : worker.argv) check_text(argument, "argv", "\t\n");
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

Catalog Catalog::read(const std::vector<std::filesystem::path>& roots) {
  Catalog catalog;
  for (const auto& root : roots) catalog.read_root(root);
  return catalog;
}

void Catalog::read_root(const std::filesystem::path& root) {
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
  for (const auto& file : files) add(file);
}

void Catalog::add(const std::filesystem::path& file) {
  try {
    // A pipe or device of that name would block or never end.
    if (!std::filesystem::is_regular_file(file)) fail(ErrorKind::usage, "it is no regular file");
    auto worker = from_json<WorkerInfo>(parse_json(read_text(file), kLimits));
    check(worker);
    worker.folder = std::filesystem::absolute(file).parent_path().lexically_normal();
    if (find(Worker{worker.name, worker.release}) == nullptr) workers_.push_back(std::move(worker));
  } catch (const std::exception& error) {
    problems_.push_back(fmt::format("{}: {}", file.string(), error.what()));
  }
}

const WorkerInfo& Catalog::find(const std::string& text) const {
  const auto equals = text.find("==");
  const std::string name = text.substr(0, equals);
  const WorkerInfo* newest = nullptr;
  bool known = false;
  for (const auto& worker : workers_) {
    if (worker.name != name) continue;
    known = true;
    if (equals != std::string::npos && text.compare(equals + 2, std::string::npos, worker.release) != 0) continue;
    if (newest == nullptr || older_release(newest->release, worker.release)) newest = &worker;
  }
  if (newest != nullptr) return *newest;
  if (workers_.empty())
    fail(ErrorKind::usage, "worker: {} is not at hand; no worker is. Install one first.", shown(text));
  fail(ErrorKind::usage, "worker: {} is not at hand{}. There are: {}.", shown(text), known ? " in this release" : "",
       fmt::join(references(workers_), ", "));
}

const WorkerInfo* Catalog::find(const Worker& wanted) const {
  const auto it = std::find_if(workers_.begin(), workers_.end(), [&](const WorkerInfo& worker) {
    return worker.name == wanted.name && worker.release == wanted.release;
  });
  return it == workers_.end() ? nullptr : &*it;
}

std::vector<std::string> worker_argv(const WorkerInfo& worker) {
  static constexpr std::string_view kFolder = "{folder}";
  const std::string folder = worker.folder.string();
  std::vector<std::string> argv = worker.argv;
  for (auto& argument : argv) {
    for (std::size_t at = 0; (at = argument.find(kFolder, at)) != std::string::npos; at += folder.size()) {
      argument.replace(at, kFolder.size(), folder);
    }
  }
  return argv;
}

}  // namespace assay::plan
