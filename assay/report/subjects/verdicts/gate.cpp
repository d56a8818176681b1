#include "assay/report/subjects/verdicts/gate.hpp"

#include <fmt/format.h>

namespace assay::report {

namespace {

void add_verdict(const GateOutcome& gate, Document& out) {
  const double percent = 100 * gate.share;
  if (gate.failed > 0) {
    return out.paragraph(
        fmt::format("Gate: {}{} are slower{} by {:.2g} % or more.", gate.failed, gate.of, gate.than, percent));
  }
  if (gate.open == 0) {
    return out.paragraph(fmt::format("Gate: none is proved to be slower{} by {:.2g} % or more.", gate.than, percent));
  }
  out.paragraph(
      fmt::format("Gate: UNDECIDED. {}{} may be slower{} by {:.2g} % or more: that is neither proved nor excluded.",
                  gate.open, gate.of, gate.than, percent));
  if (!gate.next_command.empty()) out.paragraph("Next: " + gate.next_command);
}

}  // namespace

void add_gate(const GateOutcome& gate, Document& out) {
  add_verdict(gate, out);
  if (!gate.advisory) return;
  out.paragraph(
      "The gate is advisory: the noise of this host is not known, and the same program can differ from itself here. "
      "`assay doctor --calibrate` learns how much, and gates then allow for it.");
}

void add_uncalibrated(Document& out) {
  out.paragraph("This host's own noise is not known here; `assay doctor --calibrate` learns it, and verdicts use it.");
}

Check check_of(const compare::Comparison& comparison, const std::optional<double>& share, const std::string& first,
               const std::string& second, std::string sentence) {
  const auto& c = comparison;
  const bool open = share ? compare::leaves_gate_open(c, *share) : c.verdict == compare::Verdict::undecided;
  Check check;
  check.group = "assay compare";
  check.name = fmt::format("{}: {} against {}", title(c.a.trial), second, first);
  check.status = open                                        ? CheckStatus::undecided
                 : compare::fails_gate(c, share.value_or(0)) ? CheckStatus::failed
                                                             : CheckStatus::passed;
  check.message = std::move(sentence);
  check.detail = fmt::format("first: {} (trial {})\nsecond: {} (trial {})", title(c.a.trial), c.a.trial_id,
                             title(c.b.trial), c.b.trial_id);
  return check;
}

}  // namespace assay::report
