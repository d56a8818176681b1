#include "cli/commands/fit_link.hpp"

#include <fmt/ranges.h>

#include "assay/core/text/file.hpp"
#include "assay/core/text/units.hpp"
#include "assay/model/link_source.hpp"
#include "assay/model/link_sources/lines.hpp"
#include "assay/model/links/link.hpp"
#include "assay/report/table.hpp"
#include "assay/store/selection.hpp"
#include "cli/command.hpp"
#include "cli/flags/choice.hpp"

namespace assay::cli {
namespace {

using report::Table;

template <typename E>
std::vector<std::string> all_names() {
  return {EnumNames<E>::names.begin(), EnumNames<E>::names.end()};
}

model::LinkPoints points_of_files(const LinkFlags& flags) {
  model::LinkPoints found;
  found.source = fmt::format("{}", fmt::join(flags.collectives, ", "));
  if (flags.ranks.size() > 1 && flags.ranks.size() != flags.collectives.size()) {
    fail(ErrorKind::usage, "--ranks has {} numbers, and --collectives {} files. Give one for each, or one for all.",
         flags.ranks.size(), flags.collectives.size());
  }
  for (std::size_t i = 0; i < flags.collectives.size(); ++i) {
    const auto& path = flags.collectives[i];
    const auto text = read_file(path, model::kSourceBytes, "open");
    model::LinkRequest request{path, std::nullopt, std::nullopt};
    if (!flags.ranks.empty()) request.ranks = flags.ranks.size() > 1 ? flags.ranks[i] : flags.ranks[0];
    if (!flags.collective.empty()) request.collective = choice_of<model::Collective>(flags.collective, "--collective");
    const auto points = model::import_points(model::link_source_for(flags.format, text, path), text, request);
    found.points.insert(found.points.end(), points.begin(), points.end());
  }
  return found;
}

std::vector<model::LinkPoints> points_of_campaign(const std::string& store, const std::string& campaign) {
  const auto opened = store::open_store(store, store::Access::read);
  const auto chosen = store::choose_campaign(opened->campaigns(), campaign, store);
  const store::Filter filter{.campaign = chosen.id};
  auto found = model::link_points(opened->trials(filter), opened->runs(filter));
  if (found.empty()) {
    fail(ErrorKind::usage,
         "campaign {} has no run of {} with 2 ranks or more that gave a time. Measure some: assay run all_reduce "
         "--worker mpi --ranks 2,4 --option bytes=1024,65536,4194304",
         shown(chosen.name), fmt::join(all_names<model::Collective>(), ", "));
  }
  return found;
}

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

std::string percent(double share) {
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
                 percent(c.inside_error), percent(one.held_out_error)});
    }
  }
}

/// A sentence for each constant.
std::string sentences(const model::LinkConstants& link) {
  const auto with = [](const std::string& interval) { return interval.empty() ? "" : " (" + interval + ")"; };
  const auto& alpha = link.alpha_seconds;
  const auto& beta = link.beta_seconds_per_byte;
  auto text = fmt::format("alpha {}{}: what each message costs, however small.\n", duration_of(alpha.value),
                          with(alpha_interval(alpha)));
  text += fmt::format("beta {:.4g} ns a byte, that is {} GB/s{}: what its bytes cost on the way.\n", 1e9 * beta.value,
                      bandwidth(beta.value), with(bandwidth_interval(beta)));
  if (const auto& gamma = link.gamma_seconds_per_byte) {
    text += fmt::format("gamma {:.4g} ns a byte{}: what adding it up costs.\n", 1e9 * gamma->value,
                        gamma->low ? fmt::format(" ({:.4g} to {:.4g})", 1e9 * *gamma->low, 1e9 * *gamma->high) : "");
  }
  return text;
}

std::string link_text(const model::LinkFit& link, std::size_t width) {
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
  auto text = link.source + "\n" + table.text(width) + "* recognised: nearest to what was held out\n";
  if (link.together) {
    text += fmt::format("\nOne link for all of them, {} off inside:\n", percent(link.together->inside_error)) +
            sentences(*link.together);
  } else {
    text += "\n" + sentences(link.collectives.front().pieces.back().algorithms.front().constants);
  }
  for (const auto& note : link.notes) text += "note: " + note + "\n";
  return text;
}

std::vector<std::string> names_of_link_sources() {
  std::vector<std::string> names;
  for (const auto* source : model::all_link_sources()) names.emplace_back(source->name);
  return names;
}

}  // namespace

void add_link_flags(CLI::App& command, LinkFlags& flags) {
  command
      .add_option("--collectives", flags.collectives,
                  "Fit a link to what benchmarks of collectives printed, or to CSV; --format lists them")
      ->type_name("FILE");
  command.add_option("--format", flags.format, "Read --collectives in this format [seen from the text]")
      ->check(CLI::IsMember(names_of_link_sources()));
  command
      .add_option("--ranks", flags.ranks,
                  "Give the ranks of each of --collectives, or one number for all, where the text does not say")
      ->delimiter(',')
      ->check(CLI::Range(2, 1'000'000));
  command.add_option("--collective", flags.collective, "Say what --collectives measured, where the text does not")
      ->check(CLI::IsMember(all_names<model::Collective>()));
}

int fit_link(const LinkFlags& flags, const std::string& store, const std::string& campaign, bool json) {
  const auto sources = flags.collectives.empty() ? points_of_campaign(store, campaign)
                                                 : std::vector<model::LinkPoints>{points_of_files(flags)};
  std::vector<model::LinkFit> links;
  for (const auto& source : sources) links.push_back(model::fit_link(source));
  if (json) {
    print(to_json(links).dump(2) + "\n");
    return 0;
  }
  std::string text;
  for (const auto& link : links) text += (text.empty() ? "" : "\n") + link_text(link, terminal_width());
  print(text);
  return 0;
}

}  // namespace assay::cli
