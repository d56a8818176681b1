#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "assay/core/text/utf8.hpp"
#include "assay/report/exports/check.hpp"

namespace assay::report {
namespace {

/// U+FFFE and U+FFFF are well-formed UTF-8, but no characters of XML.
bool is_noncharacter(std::string_view character) {
  return character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf";
}

/// Text fit for an element and for an attribute in double quotes. Line ends and tabs are written by number, because a
/// parser makes blanks of them in attributes.
std::string xml(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_character(text, i);
    const auto bytes = text.substr(i, length == 0 ? 1 : length);
    i += bytes.size();
    if (bytes == "&") {
      out += "&amp;";
    } else if (bytes == "<") {
      out += "&lt;";
    } else if (bytes == ">") {
      out += "&gt;";
    } else if (bytes == "\"") {
      out += "&quot;";
    } else if (bytes == "\n" || bytes == "\t") {
      out += fmt::format("&#{};", static_cast<int>(bytes[0]));
    } else if (length == 0 || is_control(bytes) || is_noncharacter(bytes)) {
      for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += bytes;
    }
  }
  return out;
}

std::string case_xml(const Check& check) {
  const std::string begin =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(check.group), xml(check.name));
  const std::string message = xml(check.message);
  const std::string detail = xml(check.detail.empty() ? check.message : check.detail);
  switch (check.status) {
    case CheckStatus::passed:
      return fmt::format("{}>\n      <system-out>{}</system-out>\n    </testcase>\n", begin, detail);
    case CheckStatus::failed:
      return fmt::format("{}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n", begin, message, detail);
    case CheckStatus::undecided:
      return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", begin, message);
  }
  return begin + "/>\n";
}

std::string counts(const std::vector<Check>& checks) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", checks.size(),
                     count(checks, CheckStatus::failed), count(checks, CheckStatus::undecided));
}

}  // namespace

std::int64_t count(const std::vector<Check>& checks, CheckStatus status) {
  return std::count_if(checks.begin(), checks.end(), [&](const Check& check) { return check.status == status; });
}

std::string junit_report(const std::vector<Check>& checks) {
  std::vector<std::vector<Check>> groups;
  for (const auto& check : checks) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g[0].group == check.group; });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->push_back(check);
  }
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"assay\" {}>\n", counts(checks));
  for (const auto& group : groups) {
    out += fmt::format("  <testsuite name=\"{}\" {}>\n", xml(group[0].group), counts(group));
    for (const auto& check : group) out += case_xml(check);
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace assay::report
