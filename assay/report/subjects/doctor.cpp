#include "assay/report/subjects/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "assay/core/text/units.hpp"

namespace assay::report {
namespace {

using platform::Examination;
using platform::Finding;
using platform::Severity;

std::string plural(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string hardware(const Examination& e) {
  const auto& i = e.identity;
  std::string out;
  for (const auto& cpu : i.cpus) out += (out.empty() ? "" : " and ") + cpu.name.value_or("unnamed CPU");
  out += fmt::format("{}{} on {} of {}", out.empty() ? "" : ": ", plural(i.threads, "CPU"), plural(i.cores, "core"),
                     plural(i.sockets, "socket"));
  if (i.nodes > 1) out += fmt::format(", {}", plural(i.nodes, "NUMA node"));
  return out + fmt::format(", {}", format_bytes(i.memory_bytes));
}

std::string around(const Examination& e) {
  std::vector<std::string> parts;
  if (e.about.os) parts.push_back(*e.about.os);
  if (e.state.kernel) parts.push_back("Linux " + *e.state.kernel);
  if (e.identity.virtual_machine) parts.push_back("virtual machine: " + *e.identity.virtual_machine);
  if (e.identity.container) parts.push_back("container: " + *e.identity.container);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string workers(const Examination& e) {
  std::vector<std::string> parts;
  for (const auto& worker : e.workers) parts.push_back(worker.name + " " + worker.release);
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string counters(const Examination& e) {
  std::vector<std::string> there;
  std::vector<std::string> absent;
  for (const auto& counter : e.counters) {
    (counter.readable ? there : absent)
        .push_back(counter.readable ? counter.name : fmt::format("{} ({})", counter.name, counter.why.value_or("")));
  }
  std::string out = there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", "));
  if (!absent.empty()) out += fmt::format("; not here: {}", fmt::join(absent, ", "));
  return out;
}

std::string gpus(const Examination& e) {
  std::vector<std::string> parts;
  for (const auto& gpu : e.identity.gpus) {
    parts.push_back(gpu.memory_bytes ? fmt::format("{} {}", gpu.name, format_bytes(*gpu.memory_bytes)) : gpu.name);
  }
  if (e.about.gpu_driver) parts.push_back("driver " + *e.about.gpu_driver);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

void add_finding(const Finding& finding, Document& out) {
  const bool warning = finding.severity == Severity::warning;
  out.term(warning ? "warning" : "note", finding.code + ": " + finding.seen, warning ? Tone::warning : Tone::notice);
  if (finding.why) out.term("", sentence(*finding.why));
  if (finding.mend) out.term("", "-> " + *finding.mend);
}

}  // namespace

Document doctor_document(const Examination& e) {
  Document out;
  out.term("platform", e.platform, Tone::strong);
  out.term("", hardware(e));
  if (const auto text = around(e); !text.empty()) out.term("", text);
  if (!e.identity.gpus.empty()) out.term("GPUs", gpus(e), Tone::strong);
  out.term("workers", workers(e), Tone::strong);
  out.term("counters", counters(e), Tone::strong);
  out.gap();
  std::string well;
  for (const auto& finding : e.findings) {
    if (finding.severity != Severity::ok) {
      add_finding(finding, out);
      continue;
    }
    well += (well.empty() ? "" : ", ") + finding.code;
  }
  if (!well.empty()) out.term("ok", well, Tone::good);
  return out;
}

Document findings_document(const platform::FindingReference& reference) {
  Document out;
  for (const auto& text : reference.findings) {
    out.heading(text.code);
    if (text.note) out.term("note", *text.note, Tone::notice);
    if (text.warning) out.term("warning", *text.warning, Tone::warning);
    out.term("", sentence(text.why));
    out.term("", "-> " + text.mend);
  }
  out.heading("counters");
  for (const auto& text : reference.counters) out.term(text.name, fmt::format("{} ({})", text.means, text.source));
  return out;
}

}  // namespace assay::report
