#include "assay/report/exports/prometheus.hpp"

#include <array>

#include "assay/core/text/utf8.hpp"
#include "assay/report/report.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostLabelBytes = 1000;

/// A gauge of which each result has one value, or none.
struct Gauge {
  const char* name;
  const char* help;
  std::optional<double> (*value)(const Result&);
};

std::optional<double> in_seconds(const std::optional<double>& ns) {
  return ns ? std::optional(*ns / 1e9) : std::nullopt;
}

constexpr std::array<Gauge, 8> kGauges{{
    {"assay_step_median_seconds", "Time of a step: median of the medians of the processes.",
     [](const Result& r) { return in_seconds(r.median_ns); }},
    {"assay_step_median_low_seconds", "Lower end of the 95 % interval of that median.",
     [](const Result& r) { return r.median_interval ? std::optional(r.median_interval->low / 1e9) : std::nullopt; }},
    {"assay_step_median_high_seconds", "Upper end of the 95 % interval of that median.",
     [](const Result& r) { return r.median_interval ? std::optional(r.median_interval->high / 1e9) : std::nullopt; }},
    {"assay_step_p90_seconds", "Nine of ten steps take no longer.",
     [](const Result& r) { return in_seconds(r.p90.ns); }},
    {"assay_step_p99_seconds", "99 of 100 steps take no longer.", [](const Result& r) { return in_seconds(r.p99.ns); }},
    {"assay_samples_per_second", "Samples of all processes together.",
     [](const Result& r) { return r.samples_per_second; }},
    {"assay_watts", "Power of all hosts while steps were timed.", [](const Result& r) { return r.watts; }},
    {"assay_untrusted_runs", "Runs that ended well, were disturbed, and were not measured again.",
     [](const Result& r) { return std::optional(static_cast<double>(r.untrusted)); }},
}};

/// name="value", with what would end the value escaped.
std::string prometheus_label(const char* name, const std::string& value) {
  std::string text;
  for (const char c : is_utf8(value) ? value : printable(value, kMostLabelBytes)) {
    if (c == '\n') {
      text += "\\n";
    } else {
      if (c == '\\' || c == '"') text += '\\';
      text += c;
    }
  }
  return fmt::format("{}=\"{}\"", name, text);
}

std::string prometheus_labels(const Result& r) {
  const auto& workload = r.trial.workload;
  auto text = prometheus_label("trial", r.trial_id) + "," + prometheus_label("platform", r.platform);
  const auto add = [&](const char* name, const std::string& value) { text += "," + prometheus_label(name, value); };
  add("network", workload.network);
  add("mode", name_of(workload.mode));
  add("batch", std::to_string(workload.batch));
  add("precision", workload.precision);
  add("worker", r.trial.worker.name);
  add("release", r.trial.worker.release);
  add("device", r.trial.placement.device);
  add("ranks", std::to_string(r.trial.placement.ranks));
  add("settings", settings_text(r.trial.settings));
  add("options", canonical_json(to_json(workload.options)));
  return text;
}

std::string prometheus_head(const char* name, const char* help) {
  return fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
}

}  // namespace

std::string prometheus_report(const std::vector<Result>& results) {
  std::vector<std::string> labels;
  for (const auto& result : results) labels.push_back(prometheus_labels(result));
  std::string text;
  for (const auto& gauge : kGauges) {
    std::string lines;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (const auto value = gauge.value(results[i]))
        lines += fmt::format("{}{{{}}} {}\n", gauge.name, labels[i], *value);
    }
    if (!lines.empty()) text += prometheus_head(gauge.name, gauge.help) + lines;
  }
  if (results.empty()) return text;
  text += prometheus_head("assay_runs", "Runs that count, by their outcome.");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto line = [&](OutcomeKind kind, std::int64_t runs) {
      text += fmt::format("assay_runs{{{},outcome=\"{}\"}} {}\n", labels[i], name_of(kind), runs);
    };
    line(OutcomeKind::ok, results[i].ok);
    for (const auto& [kind, failures] : results[i].failures) line(kind, failures.runs);
  }
  return text;
}

}  // namespace assay::report
