#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::platform {

enum class Severity { ok, note, warning };

/// One thing that was looked at. docs/reference/findings.md explains each code.
struct Finding {
  std::string code;
  Severity severity = Severity::ok;
  std::string seen;                 ///< with figures
  std::optional<std::string> why;   ///< it matters; null where all is well
  std::optional<std::string> mend;  ///< what to do; null where all is well
};

/// A line of cases.inc.
enum class FindingCase {
#define FINDING(name, ...) name,
#include "assay/platform/machine/findings/cases.inc"
#undef FINDING
};

/// What can be said of a machine, whatever its figures are: those are words in capitals.
struct FindingText {
  std::string code;                    ///< several texts may share one
  std::optional<std::string> note;     ///< where the finding is a note; null: it never is
  std::optional<std::string> warning;  ///< where it is a warning; null: it never is
  std::string why;                     ///< it matters
  std::string mend;                    ///< what to do
};

/// All that can be found, in the order in which it is looked for.
std::vector<FindingText> finding_texts();

/// A finding with the reason and the cure of its case, in which `figures` stand for the words in braces.
Finding found(FindingCase of, Severity severity, std::string seen,
              const std::map<std::string, std::string>& figures = {});

/// That there is nothing to mend.
Finding well(FindingCase of, std::string seen);

template <typename V>
void describe(V& v, Finding& f) {
  required(v, "code", f.code);
  required(v, "severity", f.severity);
  required(v, "seen", f.seen);
  v("why", f.why);
  v("mend", f.mend);
}

template <typename V>
void describe(V& v, FindingText& t) {
  required(v, "code", t.code);
  v("note", t.note);
  v("warning", t.warning);
  required(v, "why", t.why);
  required(v, "mend", t.mend);
}

}  // namespace assay::platform

namespace assay {

template <>
struct EnumNames<platform::Severity> {
  static constexpr std::array<const char*, 3> names{"ok", "note", "warning"};
};

}  // namespace assay
