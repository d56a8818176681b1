#include "assay/measure/run_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "assay/core/text/utf8.hpp"
#include "assay/platform/proc.hpp"
#include "assay/process/regular_file.hpp"

namespace assay::measure {
namespace {

constexpr std::size_t kMostLogBytes = 16u << 10;
// A million samples of a rank as text, and as much again for phases and layers.
constexpr std::size_t kMostResultBytes = 64u << 20;

std::string result_name(std::size_t number) {
  return fmt::format("rank-{}.json", number);
}

}  // namespace

std::filesystem::path own_folder(const std::filesystem::path& base) {
  auto folder = base / fmt::format("assay-{}", getuid());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) file_failed(errno, "make the folder", folder.string());
  struct stat status {};
  const char* wrong = nullptr;
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    wrong = "is not a folder";
  } else if (status.st_uid != getuid()) {
    wrong = "belongs to another user";
  } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    wrong = "can be written by other users";
  }
  if (wrong != nullptr) {
    fail(ErrorKind::failure, "{} {}. Name a folder of your own: TMPDIR or --run-folder for runs, --spool for a spool.",
         folder.string(), wrong);
  }
  return folder;
}

std::filesystem::path default_run_root() {
  const char* configured = std::getenv("TMPDIR");
  return own_folder(configured != nullptr && *configured == '/' ? configured : "/tmp");
}

RunDirectory::RunDirectory(const std::filesystem::path& root, const std::string& name) : path_(root / name) {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (mkdir(path_.c_str(), 0700) != 0) file_failed(errno, "make the run directory", path_.string());
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void RunDirectory::write_order(const Order& order) const {
  write_file(path_ / "run.json", to_json(order).dump());
}

std::optional<RankResult> RunDirectory::read_result(std::size_t number) const {
  const auto text = process::read_regular(path_ / result_name(number), kMostResultBytes);
  if (!text) return std::nullopt;
  try {
    auto result = from_json<RankResult>(parse_json(*text, {kMostResultBytes, 16, 16'000'000}), result_name(number));
    check(result);
    return result;
  } catch (const Error&) {
    return std::nullopt;  // the agent treats a torn result like a missing one
  }
}

std::optional<std::string> RunDirectory::launcher_log() const {
  auto text = process::read_regular(path_ / "launcher.log", kMostResultBytes);
  if (!text || text->empty()) return std::nullopt;
  if (text->size() > kMostLogBytes) text->erase(0, text->size() - kMostLogBytes);
  return printable(*text, kMostLogBytes);
}

Order read_order(const std::filesystem::path& directory) {
  const auto text = process::read_regular(directory / "run.json", kMostResultBytes);
  if (!text) fail(ErrorKind::failure, "{} cannot be read", (directory / "run.json").string());
  auto order = from_json<Order>(parse_json(*text, {kMostResultBytes, 64, 4'000'000}), "run.json");
  if (order.order_version != 1) fail(ErrorKind::failure, "run.json has order_version {}", order.order_version);
  return order;
}

void write_result(const std::filesystem::path& directory, std::size_t number, const RankResult& result) {
  const auto final_path = directory / result_name(number);
  const auto draft = directory / (result_name(number) + ".draft");
  // Text from the framework may hold any bytes: what is no UTF-8 is replaced, not refused.
  write_file(draft, to_json(result).dump(-1, ' ', false, json::error_handler_t::replace));
  if (std::rename(draft.c_str(), final_path.c_str()) != 0) file_failed(errno, "rename", draft.string());
}

void write_file(const std::filesystem::path& file, const std::string& text, const WriteOptions& options) {
  process::Fd opened = process::open_or_fail(file, O_WRONLY | O_CREAT | O_TRUNC, "write", options.mode);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(opened.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) file_failed(errno, "write", file.string());
    done += static_cast<std::size_t>(wrote);
  }
  if (options.durable && fsync(opened.get()) != 0) file_failed(errno, "write", file.string());
  if (close(opened.release()) != 0) file_failed(errno, "write", file.string());
}

}  // namespace assay::measure
