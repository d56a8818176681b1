#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/report/pictures/picture.hpp"

namespace assay::report::site {

/// The text of the files that all pages share, built into the program.
extern const char* const kPageStyle;
extern const char* const kSiteStyle;
extern const char* const kSiteScript;

/// A cell of a table, and the page that it leads to, from the root of the site; empty: none.
struct LinkedCell {
  std::string text;
  std::string to = {};
};

struct LinkedTable {
  std::string title;  ///< for readers who do not see it
  std::vector<std::string> columns;
  std::vector<std::vector<LinkedCell>> rows;
};

/// Writes one page of a site. Every text is escaped, and addresses are those of is_site_path() alone.
class PageWriter {
 public:
  /// `path` is the page's own, from which links to others begin.
  PageWriter(std::string path, std::string title);

  void heading(std::string_view text);  ///< begins a part, an h2
  void paragraph(std::string_view text);
  void link(std::string_view before, const LinkedCell& to);  ///< a line with one link at its end
  void table(const LinkedTable& table);
  void pictures(const std::vector<Picture>& all);
  void html(const std::string& text) { body_ += text; }  ///< of our own

  /// The whole page. `site` is the title of the site; a script only where the page needs it.
  std::string page(const std::string& site, bool script = false) const;

  const std::string& path() const { return path_; }
  const std::string& title() const { return title_; }

 private:
  std::string anchor(const LinkedCell& cell) const;

  std::string path_;
  std::string title_;
  std::string root_;  ///< "" or "../"
  std::string body_;
};

}  // namespace assay::report::site
