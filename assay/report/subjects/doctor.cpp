#include "assay/report/subjects/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "assay/core/text/units.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using platform::Examination;
using platform::Finding;
using platform::Severity;

constexpr std::size_t kUsualWidth = 100;
constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kLabel = 10;  // "platform  "

/// Text from outside may hold anything, so that each word is made fit for a terminal.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(printable(word, 200));
  return words;
}

class Page {
 public:
  Page(std::size_t width, bool colour)
      : width_(std::max(width == 0 ? kUsualWidth : width, kNarrowest)), colour_(colour) {}

  /// `label` padded to `indent`, then `text`, its further lines below its first.
  void add(const std::string& label, const std::string& text, std::size_t indent, const char* code = "") {
    std::string line = painted(label, code) + std::string(indent - std::min(indent, display_width(label)), ' ');
    std::size_t columns = indent;
    bool fresh = true;
    for (const auto& word : words_of(text)) {
      const std::size_t more = display_width(word) + (fresh ? 0 : 1);
      if (!fresh && columns + more > width_) {
        out_ += line + "\n";
        line = std::string(indent, ' ');
        columns = indent;
        fresh = true;
      }
      line += (fresh ? "" : " ") + word;
      columns += display_width(word) + (fresh ? 0 : 1);
      fresh = false;
    }
    out_ += line + "\n";
  }

  void blank() { out_ += "\n"; }
  std::string take() { return std::move(out_); }

 private:
  std::string painted(const std::string& text, const char* code) const {
    return colour_ && *code != '\0' ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }

  std::size_t width_;
  bool colour_;
  std::string out_;
};

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

void add_finding(const Finding& finding, Page& page) {
  const bool warning = finding.severity == Severity::warning;
  page.add(warning ? "warning" : "note", finding.code + ": " + finding.seen, kLabel, warning ? "1;33" : "36");
  if (finding.why) page.add("", sentence(*finding.why), kLabel);
  if (finding.mend) page.add("", "-> " + *finding.mend, kLabel);
}

}  // namespace

std::string doctor_report(const Examination& e, std::size_t width, bool colour) {
  Page page(width, colour);
  page.add("platform", e.platform, kLabel, "1");
  page.add("", hardware(e), kLabel);
  if (const auto text = around(e); !text.empty()) page.add("", text, kLabel);
  if (!e.identity.gpus.empty()) page.add("GPUs", gpus(e), kLabel, "1");
  page.add("workers", workers(e), kLabel, "1");
  page.add("counters", counters(e), kLabel, "1");
  page.blank();
  std::string well;
  for (const auto& finding : e.findings) {
    if (finding.severity != Severity::ok) {
      add_finding(finding, page);
      continue;
    }
    well += (well.empty() ? "" : ", ") + finding.code;
  }
  if (!well.empty()) page.add("ok", well, kLabel, "32");
  return page.take();
}

}  // namespace assay::report
