#include <algorithm>
#include <iterator>

#include "assay/core/clock.hpp"
#include "assay/core/text/units.hpp"
#include "assay/core/version.hpp"
#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostRows = 300;
constexpr std::size_t kFindings = 3;

std::string times_text(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{}{}", short_number(*value), unit) : "-";
}

TextTable results_table(const Evidence& evidence) {
  TextTable table{{"workload", "worker", "settings", "median step", "95 % interval", "samples/s", "of peak",
                   "runs that ended well"},
                  {}};
  for (const auto& result : evidence.results) {
    if (table.rows.size() >= kMostRows) {
      ++table.left_out;
      continue;
    }
    const auto& interval = result.median_interval;
    table.rows.push_back(
        {title(result.trial.workload), result.trial.worker.name + " " + result.trial.worker.release,
         conditions(result.trial), result.median_ns ? format_duration(*result.median_ns) : "-",
         interval ? fmt::format("{} to {}", format_duration(interval->low), format_duration(interval->high)) : "-",
         times_text(result.samples_per_second, ""),
         result.share_of_peak ? fmt::format("{:.0f} %", 100 * *result.share_of_peak) : "-",
         fmt::format("{} of {}{}", result.ok, result.runs, disturbed_text(result))});
  }
  return table;
}

/// What failed comes first: it may be why something is not there.
std::optional<std::string> failures_finding(const Evidence& evidence) {
  std::int64_t failed = 0;
  std::int64_t runs = 0;
  std::string first;
  for (const auto& result : evidence.results) {
    runs += result.runs;
    for (const auto& [kind, failures] : result.failures) {
      if (failed == 0) first = fmt::format("{} {}: {}", title(result.trial.workload), name_of(kind), failures.message);
      failed += failures.runs;
    }
  }
  if (failed == 0) return {};
  return fmt::format("{} of {} runs failed. The first: {}", failed, runs, first);
}

/// Whether more than a tenth of the runs that count were disturbed.
bool much_disturbed(const Evidence& evidence) {
  std::int64_t ok = 0;
  std::int64_t untrusted = 0;
  for (const auto& result : evidence.results) {
    ok += result.ok;
    untrusted += result.untrusted;
  }
  return 10 * untrusted > ok;
}

/// The answers of one picture of each question, those about speed before those about the measurement.
std::vector<std::string> findings_of(const Evidence& evidence, const std::vector<Picture>& pictures) {
  std::vector<std::string> findings;
  if (const auto failed = failures_finding(evidence)) findings.push_back(*failed);
  std::vector<std::string> questions;
  // Where much was disturbed, no other finding can be trusted before that is known.
  if (much_disturbed(evidence)) {
    for (const auto& picture : run_order_pictures(evidence)) {
      questions.push_back(picture.question);
      findings.push_back(picture.answer);
    }
  }
  for (const auto& picture : pictures) {
    if (findings.size() == kFindings) break;
    if (picture.answer.empty()) continue;
    if (std::find(questions.begin(), questions.end(), picture.question) != questions.end()) continue;
    questions.push_back(picture.question);
    findings.push_back(picture.answer);
  }
  return findings;
}

Headline verdict_of(const Evidence& evidence, const Result& result, const std::vector<Picture>& pictures) {
  Headline verdict;
  const double rate = *result.samples_per_second;
  verdict.number = fmt::format("{} samples/s", short_number(rate));
  if (const auto& interval = result.median_interval) {
    verdict.interval = fmt::format("{} to {} (95 %)", short_number(rate * *result.median_ns / interval->high),
                                   short_number(rate * *result.median_ns / interval->low));
  } else {
    verdict.interval = "no interval: " + result.interval_reason.value_or("too few runs");
  }
  verdict.subject =
      fmt::format("{}; the median step takes {}", title(result.trial), format_duration(*result.median_ns));
  verdict.findings = findings_of(evidence, pictures);
  return verdict;
}

}  // namespace

const Result* headline(const Evidence& evidence) {
  const auto good = good_results(evidence);
  if (good.empty()) return nullptr;
  const auto& newest = good.back()->trial.workload;
  const Result* best = nullptr;
  for (const auto* result : good) {
    const auto& workload = result->trial.workload;
    if (workload.network != newest.network || workload.mode != newest.mode || workload.precision != newest.precision)
      continue;
    if (workload.options != newest.options) continue;
    // One that has an interval comes before one that may be fast by chance.
    const auto rank = [](const Result& r) { return std::pair(r.median_interval.has_value(), *r.samples_per_second); };
    if (best == nullptr || rank(*result) > rank(*best)) best = result;
  }
  return best;
}

std::vector<Picture> pictures_of(const Evidence& evidence) {
  std::vector<Picture> pictures;
  constexpr std::vector<Picture> (*kAll[])(const Evidence&) = {
#define PICTURES(name) name##_pictures,
#include "assay/report/pictures/pictures.inc"
#undef PICTURES
  };
  for (const auto make : kAll) {
    auto made = make(evidence);
    std::move(made.begin(), made.end(), std::back_inserter(pictures));
  }
  for (auto& picture : pictures) fit_axes(picture);
  return pictures;
}

ReportPage page_of(const Evidence& evidence) {
  ReportPage page;
  page.assay_version = kVersion;
  page.created_utc = utc_now();
  for (const auto& campaign : evidence.campaigns) {
    if (page.sources.size() == 8) {
      page.sources.push_back(fmt::format("and {} more campaigns", evidence.campaigns.size() - 8));
      break;
    }
    page.sources.push_back(fmt::format("{}, {}: {} runs, {} failed", campaign.name, campaign.created_utc.substr(0, 16),
                                       campaign.progress.done, campaign.progress.failed));
  }
  std::copy(evidence.machines.begin(), evidence.machines.end(), std::back_inserter(page.sources));
  page.pictures = pictures_of(evidence);
  if (const auto* result = headline(evidence)) page.verdict = verdict_of(evidence, *result, page.pictures);
  page.results = results_table(evidence);
  return page;
}

}  // namespace assay::report
