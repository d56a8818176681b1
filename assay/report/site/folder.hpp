#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/process/descriptor.hpp"
#include "assay/report/site/manifest.hpp"

namespace assay::report::site {

/// The folder of a site, in the hands of one program at a time. What is new is written beside the site first; finish()
/// then puts it in its place file by file, so that a reader, and whoever comes after a crash, finds each page whole.
class Folder {
 public:
  /// Makes the folder where it is missing. Throws Error{usage} where it holds files and no manifest, or where another
  /// program is writing to it.
  explicit Folder(std::filesystem::path path);

  /// What is there already; empty at first.
  const Manifest& known() const { return known_; }

  /// The page as it is there, where it was made from the same; null otherwise.
  const PageEntry* unchanged(const std::string& path, const std::string& made_from) const;

  /// A page of the site as it will be. It is written only where its bytes differ from what is there. `page` has all but
  /// content and bytes.
  void put(PageEntry page, const std::string& text);

  /// Keeps a page as it is.
  void keep(const PageEntry& page);

  const Manifest& pages() const { return pages_; }

  /// Puts what was written in its place, then removes pages that the site no longer has.
  void finish();

  std::int64_t written() const { return static_cast<std::int64_t>(staged_.size()); }
  std::int64_t removed() const { return removed_; }

 private:
  bool is_there(const PageEntry& page) const;
  void write_staged(const std::string& path, const std::string& text) const;
  void place(const std::string& path) const;  ///< gives a staged file its name

  std::filesystem::path path_;
  process::Fd lock_;
  Manifest known_;
  Manifest pages_;
  std::vector<std::string> staged_;  ///< paths of pages
  std::int64_t removed_ = 0;
};

}  // namespace assay::report::site
