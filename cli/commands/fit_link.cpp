#include "cli/commands/fit_link.hpp"

#include <fmt/ranges.h>

#include "assay/core/text/file.hpp"
#include "assay/model/link_source.hpp"
#include "assay/model/link_sources/lines.hpp"
#include "assay/model/links/link.hpp"
#include "assay/report/subjects/link.hpp"
#include "assay/store/selection.hpp"
#include "cli/flags/choice.hpp"

namespace assay::cli {
namespace {

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

void fit_link(const LinkFlags& flags, const std::string& store, const std::string& campaign,
              const AnswerFlags& wanted) {
  const auto sources = flags.collectives.empty() ? points_of_campaign(store, campaign)
                                                 : std::vector<model::LinkPoints>{points_of_files(flags)};
  std::vector<model::LinkFit> links;
  report::Document document;
  for (const auto& source : sources) {
    links.push_back(model::fit_link(source));
    if (!document.empty()) document.gap();
    document.append(report::link_document(links.back()));
  }
  answer(wanted, document, [&] { return to_json(links); });
}

}  // namespace assay::cli
