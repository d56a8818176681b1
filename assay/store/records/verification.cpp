#include "assay/store/records/verification.hpp"

#include <algorithm>

#include "assay/core/text/utf8.hpp"

namespace assay::store {
namespace {

std::string subject(const FoundFault& finding) {
  if (finding.content) return "content " + *finding.content;
  std::string out = "a record";
  if (finding.record) {
    out = fmt::format("record {}", *finding.record);
  } else if (finding.fault == Fault::broken_link) {
    out = "a receipt";
  }
  if (finding.trial) out += fmt::format(" of trial {}", finding.trial->substr(0, 8));
  if (finding.index) out += fmt::format(", index {}", *finding.index);
  if (finding.attempt) out += fmt::format(", attempt {}", *finding.attempt);
  return out;
}

const char* predicate(Fault fault) {
  switch (fault) {
    case Fault::altered:
      return "was altered after it was stored";
    case Fault::slipped_in:
      return "has no receipt, so Assay did not store it";
    case Fault::lost:
      return "is gone, though its campaign was not dropped";
    case Fault::broken_link:
      return "the chain of receipts is broken here";
    case Fault::wrong_content:
      return "does not fit its hash: it was altered";
  }
  return "";
}

}  // namespace

std::int64_t count_of(const std::vector<FoundFault>& findings, Fault fault) {
  return std::count_if(findings.begin(), findings.end(), [&](const FoundFault& one) { return one.fault == fault; });
}

std::string sentence(const FoundFault& finding) {
  auto out = fmt::format("{}: {}", subject(finding), predicate(finding.fault));
  if (!finding.writer) return out;
  const auto& writer = *finding.writer;
  out += fmt::format(" (writer {} on {}, process {}", writer.role, writer.host, writer.agent);
  if (finding.receipt) out += fmt::format(", receipt {}", *finding.receipt);
  return printable(out + ")", 1000);
}

}  // namespace assay::store
