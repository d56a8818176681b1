#include "assay/report/subjects/store_info.hpp"

#include "assay/core/text/units.hpp"

namespace assay::report {

Document store_info_document(const store::StoreInfo& info) {
  const auto& runs = info.runs;
  Document out;
  out.term("store", fmt::format("{} ({}), {}", info.location, info.kind, format_bytes(info.size_bytes)));
  out.term("id", info.uuid);
  out.term("version", fmt::format("{} of the schema; this is assay {}", info.schema_version, info.program_version));
  out.term("campaigns", std::to_string(info.campaigns));
  out.term("trials", std::to_string(info.trials));
  out.term("runs", fmt::format("{} ready, {} leased, {} done, of which {} failed", runs.ready, runs.leased, runs.done,
                               runs.failed));
  auto records = std::to_string(info.records);
  if (info.first_utc) records += fmt::format(", from {} to {}", *info.first_utc, info.last_utc.value_or("?"));
  out.term("records", records);
  out.term("writers", std::to_string(info.writers));
  if (!info.spool) return out;
  out.term("spool", fmt::format("{} results wait here for this store, {} for others, in {}", info.spool->waiting,
                                info.spool->waiting_for_others, info.spool->folder));
  return out;
}

Document verification_document(const store::Verification& found) {
  Document out;
  for (const auto& finding : found.findings) out.paragraph(sentence(finding));
  auto text = fmt::format("{} records, {} receipts of {} writers", found.records, found.receipts, found.writers);
  if (found.older > 0) text += fmt::format("; {} older records have no receipt to be held to", found.older);
  const auto verdict =
      found.findings.empty() ? "all is as it was stored" : fmt::format("{} faults", found.findings.size());
  out.paragraph(text + ": " + verdict);
  return out;
}

}  // namespace assay::report
