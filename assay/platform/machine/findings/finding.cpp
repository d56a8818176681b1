#include "assay/platform/machine/findings/finding.hpp"

#include <string_view>

#include "assay/core/error.hpp"

namespace assay::platform {
namespace {

struct Case {
  const char* code;
  const char* note;
  const char* warning;
  const char* why;
  const char* mend;
};

constexpr Case kCases[] = {
#define FINDING(name, code, note, warning, why, mend) {code, note, warning, why, mend},
#include "assay/platform/machine/findings/cases.inc"
#undef FINDING
};

const Case& case_of(FindingCase of) {
  return kCases[static_cast<std::size_t>(of)];
}

/// Each word in braces must have its figure.
std::string filled(std::string_view text, const std::map<std::string, std::string>& figures) {
  std::string out;
  while (true) {
    const auto begin = text.find('{');
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    const auto end = text.find('}', begin);
    const auto figure = figures.find(std::string(text.substr(begin + 1, end - begin - 1)));
    ASSAY_CHECK(figure != figures.end());
    out += figure->second;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> where(const char* text) {
  return *text == '\0' ? std::nullopt : std::optional<std::string>(text);
}

std::string without_braces(std::string text) {
  std::erase_if(text, [](char c) { return c == '{' || c == '}'; });
  return text;
}

}  // namespace

std::vector<FindingText> finding_texts() {
  std::vector<FindingText> out;
  for (const auto& one : kCases) {
    out.push_back({one.code, where(one.note), where(one.warning), one.why, without_braces(one.mend)});
  }
  return out;
}

Finding found(FindingCase of, Severity severity, std::string seen, const std::map<std::string, std::string>& figures) {
  const Case& one = case_of(of);
  ASSAY_CHECK(severity != Severity::ok);
  ASSAY_CHECK(where(severity == Severity::note ? one.note : one.warning));
  return {one.code, severity, std::move(seen), one.why, filled(one.mend, figures)};
}

Finding well(FindingCase of, std::string seen) {
  return {case_of(of).code, Severity::ok, std::move(seen), {}, {}};
}

}  // namespace assay::platform
