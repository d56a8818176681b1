#include "assay/report/subjects/link.hpp"

#include "assay/core/text/units.hpp"

namespace assay::report {
namespace {

std::string duration_of(double seconds) {
  return format_duration(seconds * 1e9);
}

/// "11.8 to 12.6 us", or nothing.
std::string alpha_interval(const model::Estimate& alpha) {
  return alpha.low ? fmt::format("{} to {}", duration_of(*alpha.low), duration_of(*alpha.high)) : "";
}

/// Bytes per second, as links are known; - where a byte costs nothing.
std::string bandwidth(double seconds_per_byte) {
  return seconds_per_byte > 0 ? fmt::format("{:.4g}", 1e-9 / seconds_per_byte) : "-";
}

std::string bandwidth_interval(const model::Estimate& beta) {
  return beta.low ? fmt::format("{} to {}", bandwidth(*beta.high), bandwidth(*beta.low)) : "";
}

std::string error_text(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// "below 64 KiB" of the first of two pieces.
std::string sizes_of(const model::CollectiveFit& fit, const model::LinkPiece& piece) {
  if (fit.pieces.size() == 1) return "all";
  const auto change = format_bytes(static_cast<std::int64_t>(*fit.pieces.back().from_bytes));
  return (piece.from_bytes ? "from " : "below ") + change;
}

void add_rows(Table& table, const model::CollectiveFit& fit) {
  for (const auto& piece : fit.pieces) {
    for (const auto& one : piece.algorithms) {
      const bool first = &one == &piece.algorithms.front();
      const auto& c = one.constants;
      table.add({first ? name_of(fit.collective) : "", first ? sizes_of(fit, piece) : "",
                 std::string(first && piece.told_apart ? "* " : "  ") + name_of(one.algorithm),
                 duration_of(c.alpha_seconds.value), alpha_interval(c.alpha_seconds),
                 bandwidth(c.beta_seconds_per_byte.value), bandwidth_interval(c.beta_seconds_per_byte),
                 error_text(c.inside_error), error_text(one.held_out_error)});
    }
  }
}

/// A sentence for each constant.
void add_sentences(const model::LinkConstants& link, Document& out) {
  const auto with = [](const std::string& interval) { return interval.empty() ? "" : " (" + interval + ")"; };
  const auto& alpha = link.alpha_seconds;
  const auto& beta = link.beta_seconds_per_byte;
  out.paragraph(fmt::format("alpha {}{}: what each message costs, however small.", duration_of(alpha.value),
                            with(alpha_interval(alpha))));
  out.paragraph(fmt::format("beta {:.4g} ns a byte, that is {} GB/s{}: what its bytes cost on the way.",
                            1e9 * beta.value, bandwidth(beta.value), with(bandwidth_interval(beta))));
  if (const auto& gamma = link.gamma_seconds_per_byte) {
    out.paragraph(
        fmt::format("gamma {:.4g} ns a byte{}: what adding it up costs.", 1e9 * gamma->value,
                    gamma->low ? fmt::format(" ({:.4g} to {:.4g})", 1e9 * *gamma->low, 1e9 * *gamma->high) : ""));
  }
}

}  // namespace

Document link_document(const model::LinkFit& link) {
  using Align = Table::Align;
  Table table({{"collective", Align::left},
               {"sizes", Align::left},
               {"  algorithm", Align::left},
               {"alpha", Align::right},
               {"90 % interval", Align::right},
               {"GB/s", Align::right},
               {"90 % interval", Align::right},
               {"inside", Align::right},
               {"held out", Align::right}});
  for (const auto& fit : link.collectives) add_rows(table, fit);
  Document out;
  out.paragraph(link.source);
  out.add(std::move(table));
  out.paragraph("* recognised: nearest to what was held out");
  out.gap();
  if (link.together) {
    out.paragraph(fmt::format("One link for all of them, {} off inside:", error_text(link.together->inside_error)));
    add_sentences(*link.together, out);
  } else {
    add_sentences(link.collectives.front().pieces.back().algorithms.front().constants, out);
  }
  for (const auto& note : link.notes) out.paragraph("note: " + note);
  return out;
}

}  // namespace assay::report
