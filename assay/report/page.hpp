#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/report/pictures/picture.hpp"

namespace assay::report {

constexpr std::int64_t kPageVersion = 1;

/// The one number that a page begins with.
struct Headline {
  std::string number;    ///< "412 samples/s"
  std::string interval;  ///< "405 to 418 (95 %)", or why there is none
  std::string subject;   ///< what was measured, and how
  std::vector<std::string> findings;
};

template <typename V>
void describe(V& v, Headline& x) {
  required(v, "number", x.number);
  v("interval", x.interval);
  v("subject", x.subject);
  v("findings", x.findings);
}

/// Cells of text, such as all results.
struct TextTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::int64_t left_out = 0;  ///< rows beyond what a page holds
};

template <typename V>
void describe(V& v, TextTable& t) {
  required(v, "columns", t.columns);
  required(v, "rows", t.rows);
  v("left_out", t.left_out);
}

/// What `assay report` writes into its page, docs/formats/report.schema.json.
struct ReportPage {
  std::int64_t report_version = kPageVersion;
  std::string title;
  std::string created_utc;
  std::string assay_version;
  std::vector<std::string> sources;  ///< campaigns and machines, a line each
  std::optional<Headline> verdict;   ///< null where no run gave a number
  std::vector<Picture> pictures;
  TextTable results;
  std::string footer;  ///< what its numbers are; empty: measured ones
};

template <typename V>
void describe(V& v, ReportPage& p) {
  required(v, "report_version", p.report_version);
  required(v, "title", p.title);
  required(v, "created_utc", p.created_utc);
  required(v, "assay_version", p.assay_version);
  v("sources", p.sources);
  v("verdict", p.verdict);
  required(v, "pictures", p.pictures);
  required(v, "results", p.results);
  v("footer", p.footer);
}

/// The page as one HTML file that asks for nothing outside itself. `form` is the page that was built with the script in
/// it, and has one place each for title, body and data. Throws Error{bad_input} where it has not.
std::string html_page(const ReportPage& page, std::string_view form);

}  // namespace assay::report

namespace assay {

// Instantiated once, in the source: the mapping is what costs most to compile.
extern template json to_json_value<report::ReportPage>(const report::ReportPage&);

}  // namespace assay
