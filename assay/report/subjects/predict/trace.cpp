#include "assay/report/subjects/predict/trace.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"

namespace assay::report {
namespace {

using predict::SlowRank;
using predict::TraceCause;
using predict::TraceCauseKind;
using predict::TraceExplanation;
using Align = Table::Align;

std::string share_text(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// A kernel's name without the arguments of its templates and its parameters.
std::string short_name(std::string name) {
  const std::string unnamed = "(anonymous namespace)::";
  for (auto at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed)) name.erase(at, unnamed.size());
  auto text = name.substr(0, name.find_first_of("<("));
  if (text.starts_with("void ")) text.erase(0, 5);
  return text.empty() ? name : text;
}

std::string slow_rank_text(const SlowRank& slow, double saved) {
  auto text = fmt::format("Rank {} is slow: the others wait for it, and the step would be {} shorter were it as fast.",
                          slow.rank, share_text(saved));
  if (!slow.where.empty()) {
    text += fmt::format(" It spends {} more of a step on {} than the others", format_seconds(slow.more_seconds),
                        slow.where == "host" ? "a host that launches late" : slow.where);
    if (!slow.kernel.empty()) {
      text += fmt::format(", {} of it in {}", format_seconds(slow.kernel_seconds), short_name(slow.kernel));
    }
    text += ".";
  }
  return text;
}

std::string advice_on_slow_rank(const SlowRank& slow) {
  if (slow.where == "compute")
    return "Look at that device: its clock, its heat, who else uses it, and its share of the work.";
  if (slow.where == "input") return "Look at that rank's loaders, its disk and its share of the data.";
  return "Look at that rank's host: who else uses its CPUs, and what its process does between launches.";
}

std::string cause_text(const TraceCause& cause, const TraceExplanation& e) {
  const auto saved = share_text(cause.saved);
  switch (cause.kind) {
    case TraceCauseKind::slow_rank:
      return slow_rank_text(*e.slow_rank, cause.saved);
    case TraceCauseKind::input:
      return fmt::format("Input: the step waits for the loader; it would be {} shorter if batches were always there.",
                         saved);
    case TraceCauseKind::communication:
      return fmt::format("Communication: collectives that nothing hides; without them the step would be {} shorter.",
                         saved);
    case TraceCauseKind::host:
      return fmt::format("Host: the program launches work too late; with an instant host the step would be {} shorter.",
                         saved);
    case TraceCauseKind::copies:
      return fmt::format("Copies: without copies of memory the step would be {} shorter.", saved);
    case TraceCauseKind::waiting:
      return fmt::format(
          "Waiting: the device waits for what the trace does not show; without it the step would be {} "
          "shorter.",
          saved);
    case TraceCauseKind::compute:
      return fmt::format("Compute: the device computes; with kernels twice as fast the step would be {} shorter.",
                         saved);
  }
  return "";
}

std::string advice_on(const TraceCause& cause, const TraceExplanation& e) {
  switch (cause.kind) {
    case TraceCauseKind::slow_rank:
      return advice_on_slow_rank(*e.slow_rank);
    case TraceCauseKind::input:
      return "Try more loader processes, prefetching, or data that is decoded already.";
    case TraceCauseKind::communication:
      return e.ranks.size() > 1 && e.why_not_joined.empty()
                 ? "Try larger buckets, overlap, fewer bytes, or a faster network; `assay predict` prices them."
                 : "It may be waiting for a slower rank: give the traces of all ranks to see which.";
    case TraceCauseKind::host:
      return "Try CUDA graphs, torch.compile, larger batches, or fewer synchronisations.";
    case TraceCauseKind::copies:
      return "Try pinned memory, copies that do not block, and fewer copies.";
    case TraceCauseKind::waiting:
      return "Profile with CUDA synchronisation events (enable_cuda_sync_events) to see for what.";
    case TraceCauseKind::compute:
      return "Look at the longest kernels below; lower precision, fused kernels or a faster device would help.";
  }
  return "";
}

void add_causes(Document& out, const TraceExplanation& e) {
  constexpr double kWorthALine = 0.02;
  for (std::size_t i = 0; i < e.causes.size(); ++i) {
    const auto& cause = e.causes[i];
    if (i > 0 && cause.saved < kWorthALine) continue;
    out.term(i == 0 ? "first cause" : "then", cause_text(cause, e), i == 0 ? Tone::strong : Tone::plain);
    if (i == 0) out.term("", advice_on(cause, e));
  }
}

void add_ranks(Document& out, const TraceExplanation& e) {
  out.heading("Where the time of each device goes");
  Table table({{"rank", Align::right},
               {"step", Align::right},
               {"compute", Align::right},
               {"exposed comm.", Align::right},
               {"overlapped comm.", Align::right, 1},
               {"copies", Align::right, 1},
               {"idle", Align::right},
               {"of it host", Align::right},
               {"input", Align::right},
               {"waiting", Align::right}});
  for (const auto& rank : e.ranks) {
    table.add({std::to_string(rank.rank), format_seconds(rank.step_seconds), share_text(rank.compute),
               share_text(rank.exposed_communication), share_text(rank.overlapped_communication),
               share_text(rank.copies), share_text(rank.idle), share_text(rank.host_bound), share_text(rank.input),
               share_text(rank.waiting)});
  }
  out.add(std::move(table));
  if (e.ranks.size() > 1 && !e.why_not_joined.empty()) {
    out.paragraph(fmt::format("The ranks are not held beside each other: {}.", e.why_not_joined));
  }
}

void add_path(Document& out, const TraceExplanation& e) {
  std::vector<std::pair<std::string, double>> parts(e.path.begin(), e.path.end());
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [kind, share] : parts) {
    if (share < 0.0005) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, share_text(share));
  }
  out.gap();
  out.paragraph(fmt::format("Critical path of {} a step: {}.", format_seconds(e.path_step_seconds), text));
}

void add_what_ifs(Document& out, const TraceExplanation& e) {
  out.heading("What if, by a replay of this trace");
  Table table({{"change"}, {"step", Align::right}, {"shorter by", Align::right}});
  const auto row = [&](const std::string& change, double seconds) {
    table.add({change, format_seconds(seconds), share_text(std::max(0.0, 1 - seconds / e.replayed_step_seconds))});
  };
  row("as it is", e.replayed_step_seconds);
  for (const auto& one : e.what_ifs) row(one.change, one.step_seconds);
  out.add(std::move(table));
  out.paragraph(fmt::format("The replay of the step as it is takes {} ({:+.2f} % of the trace's own).",
                            format_seconds(e.replayed_step_seconds),
                            100 * (e.replayed_step_seconds / e.step_seconds - 1)));
}

void add_kernels(Document& out, const TraceExplanation& e) {
  out.heading("Longest kernels and copies of a step");
  Table table({{"name"}, {"calls", Align::right}, {"time", Align::right}});
  for (const auto& kernel : e.kernels) {
    table.add({short_name(kernel.name), fmt::format("{:.4g}", kernel.count), format_seconds(kernel.seconds)});
  }
  out.add(std::move(table));
}

}  // namespace

Document trace_document(const TraceExplanation& explanation) {
  Document out;
  const auto& e = explanation;
  out.paragraph(
      fmt::format("{} of {}: {} a step", e.ranks.size() == 1 ? "1 rank" : fmt::format("{} ranks", e.ranks.size()),
                  e.steps_are_marked ? fmt::format("{} steps", e.steps) : std::string("a trace without marked steps"),
                  format_seconds(e.step_seconds)));
  out.gap();
  add_causes(out, e);
  add_ranks(out, e);
  add_path(out, e);
  add_what_ifs(out, e);
  add_kernels(out, e);
  return out;
}

}  // namespace assay::report
