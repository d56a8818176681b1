#include "assay/report/site/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "assay/core/text/file.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/process/regular_file.hpp"

namespace assay::report::site {
namespace {

constexpr const char* kManifest = "manifest.jsonl";
constexpr const char* kLock = ".assay-site.lock";
constexpr const char* kStaging = ".assay-site.next";
constexpr std::size_t kMostManifestBytes = 1u << 30;

namespace fs = std::filesystem;

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) file_failed(error.value(), "make", path.string());
}

/// Whether there is anything but what a build leaves that was stopped before its end.
bool holds_files(const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const auto name = it->path().filename().string();
    if (name != kLock && name != kStaging) return true;
  }
  if (error) file_failed(error.value(), "read", path.string());
  return false;
}

process::Fd locked(const fs::path& path) {
  auto lock = process::open_or_fail(path / kLock, O_RDWR | O_CREAT, "open", 0644);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  fail(ErrorKind::usage, "{}: another program is writing this site. Wait for its end.", path.string());
}

/// Throws where the folder is somebody else's: before anything is written there.
void refuse_other_files(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path / kManifest, error) || !holds_files(path)) return;
  fail(ErrorKind::usage,
       "{} holds files, and none of them is {}: it is not a site that this program wrote. Name an empty or a new "
       "folder.",
       path.string(), kManifest);
}

Manifest read_known(const fs::path& path) {
  try {
    return parse_manifest(read_file(path / kManifest, kMostManifestBytes));
  } catch (const FileError&) {
    throw;
  } catch (const Error& problem) {
    fail(problem.kind(), "{}: {} Remove the folder, or name another, and the site is built from nothing.",
         path.string(), problem.what());
  }
}

}  // namespace

Folder::Folder(fs::path path) : path_(std::move(path)) {
  make_folder(path_);
  refuse_other_files(path_);
  lock_ = locked(path_);
  std::error_code error;
  fs::remove_all(path_ / kStaging, error);
  if (error) file_failed(error.value(), "remove", (path_ / kStaging).string());
  if (!fs::exists(path_ / kManifest, error)) {  // a first build that is cut off leaves a folder that is known as ours
    write_staged(kManifest, manifest_text({}));
    place(kManifest);
  }
  known_ = read_known(path_);
}

bool Folder::is_there(const PageEntry& page) const {
  std::error_code error;
  const auto bytes = fs::file_size(path_ / page.path, error);
  return !error && static_cast<std::int64_t>(bytes) == page.bytes;
}

const PageEntry* Folder::unchanged(const std::string& path, const std::string& made_from) const {
  const auto found = known_.find(path);
  if (found == known_.end() || found->second.made_from != made_from || !is_there(found->second)) return nullptr;
  return &found->second;
}

void Folder::keep(const PageEntry& page) {
  pages_.insert_or_assign(page.path, page);
}

void Folder::put(PageEntry page, const std::string& text) {
  ASSAY_CHECK(is_site_path(page.path));
  page.content = hash_hex(text);
  page.bytes = static_cast<std::int64_t>(text.size());
  const auto found = known_.find(page.path);
  if (found == known_.end() || found->second.content != page.content || !is_there(page)) {
    write_staged(page.path, text);
    staged_.push_back(page.path);
  }
  keep(page);
}

void Folder::write_staged(const std::string& path, const std::string& text) const {
  const auto file = path_ / kStaging / path;
  make_folder(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) file_failed(errno, "write", file.string());
}

void Folder::place(const std::string& path) const {
  make_folder((path_ / path).parent_path());
  if (rename((path_ / kStaging / path).c_str(), (path_ / path).c_str()) != 0)
    file_failed(errno, "write", (path_ / path).string());
}

void Folder::finish() {
  write_staged(kManifest, manifest_text(pages_));
  // Whole on the disk before any of it gets its name.
  process::Fd folder(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || syncfs(folder.get()) != 0) file_failed(errno, "write", path_.string());
  // New pages first, to which nothing leads yet: what leads to them is replaced after them. The manifest comes last, so
  // that a build that is cut off here is done again.
  std::stable_partition(staged_.begin(), staged_.end(), [&](const auto& path) { return !known_.contains(path); });
  for (const auto& path : staged_) place(path);
  std::error_code ignored;
  for (const auto& [path, page] : known_) {
    if (!pages_.contains(path) && fs::remove(path_ / path, ignored)) ++removed_;
  }
  place(kManifest);
  fs::remove_all(path_ / kStaging, ignored);
}

}  // namespace assay::report::site
