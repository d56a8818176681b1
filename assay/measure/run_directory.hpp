#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "assay/core/record.hpp"
#include "assay/measure/order.hpp"

namespace assay::measure {

/// `base`/assay-UID, made where it is not there; private to this user. Throws Error{failure} where it belongs to
/// another or another can write it.
std::filesystem::path own_folder(const std::filesystem::path& base);

/// Scratch space of one lease: run.json in, rank-N.json out, and the shared words of sync.hpp.
/// Removed with everything in it when the object ends.
class RunDirectory {
 public:
  /// Makes `root`/`name`, private to this user. A leftover of the same name is removed first.
  RunDirectory(const std::filesystem::path& root, const std::string& name);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write_order(const Order& order) const;

  /// The result of process `number`; null where assay-rank left none or left nonsense.
  std::optional<RankResult> read_result(std::size_t number) const;

  /// The end of what the launcher's own program printed; null where there is nothing.
  std::optional<std::string> launcher_log() const;

 private:
  std::filesystem::path path_;
};

/// Default root: a folder of this user's own below the temporary directory. Throws Error where it belongs to another
/// user.
std::filesystem::path default_run_root();

/// assay-rank's side.
Order read_order(const std::filesystem::path& directory);
/// Writes rank-N.json under another name first and renames it, so that a reader sees all of it or nothing.
void write_result(const std::filesystem::path& directory, std::size_t number, const RankResult& result);

struct WriteOptions {
  unsigned mode = 0600;  ///< permissions, where the file is made
  bool durable = false;  ///< on the disk before the call returns
};

/// Writes a whole file or throws Error that names it.
void write_file(const std::filesystem::path& file, const std::string& text, const WriteOptions& options = {});

}  // namespace assay::measure
