#include "assay/report/subjects/workers/audit.hpp"

#include "assay/report/table.hpp"

namespace assay::report {
namespace {

std::string shown_judgement(vet::Judgement judgement) {
  if (judgement == vet::Judgement::alarm) return "ALARM";
  return judgement == vet::Judgement::ok ? "ok" : "not tried";
}

}  // namespace

Document audit_document(const vet::AuditResult& result) {
  Document document;
  Table table({{"check"}, {"result"}, {"expected"}, {"seen"}});
  for (const auto& check : result.checks) {
    table.add({check.name, shown_judgement(check.judgement), check.expected, check.seen});
  }
  document.add(table);
  document.gap();
  for (const auto& check : result.checks) document.term(check.name, check.rule);
  document.gap();
  const auto alarms = result.alarms();
  document.paragraph(alarms == 0 ? fmt::format("{}=={}: no alarm", result.worker, result.release)
                                 : fmt::format("{}=={}: {} of {} checks raise an alarm ({} rounds)", result.worker,
                                               result.release, alarms, result.checks.size(), result.rounds));
  return document;
}

}  // namespace assay::report
