#include <array>
#include <utility>

#include "assay/model/link_source.hpp"
#include "assay/model/link_sources/lines.hpp"

namespace assay::model {
namespace {

constexpr double kMicrosecond = 1e-6;

/// Titles of the benchmarks that are read, without "# OSU MPI" before them and "Latency Test v…" after them.
constexpr std::array<std::pair<std::string_view, Collective>, 6> kTitles{{
    {"Allreduce", Collective::all_reduce},
    {"Allgather", Collective::all_gather},
    {"Reduce_scatter", Collective::reduce_scatter},
    {"All-to-All Personalized Exchange", Collective::all_to_all},
    {"Broadcast", Collective::broadcast},
    {"", Collective::ping_pong},
}};

/// "# OSU MPI-CUDA Allreduce Latency Test v5.9" is all_reduce.
Collective collective_of_title(const SourceLine& line) {
  std::string title;
  for (std::size_t i = 3; i < line.words.size() && line.words[i] != "Latency"; ++i) {
    title += (title.empty() ? "" : " ") + std::string(line.words[i]);
  }
  const bool is_latency = line.text.find(" Latency Test") != std::string_view::npos;
  for (const auto& [known, collective] : kTitles) {
    if (is_latency && title == known) return collective;
  }
  line.reject(
      "{} is not read. Give the output of osu_allreduce, osu_allgather, osu_reduce_scatter, osu_alltoall, osu_bcast or "
      "osu_latency.",
      shown(std::string(line.text)));
}

std::int64_t ranks_of(Collective collective, const LinkRequest& request) {
  if (collective == Collective::ping_pong) return 2;
  if (!request.ranks) {
    fail(ErrorKind::usage, "{}: OSU benchmarks do not print how many ranks there were. Give it with --ranks.",
         request.name);
  }
  return *request.ranks;
}

std::vector<LinkPoint> read_osu(std::string_view text, const LinkRequest& request) {
  std::vector<LinkPoint> points;
  std::optional<Collective> collective = request.collective;
  std::int64_t tables = 0;
  for (const auto& line : source_lines(text, request.name)) {
    if (line.text.starts_with("# OSU ")) {
      collective = collective_of_title(line);
      ++tables;
    } else if (!line.words.empty() && is_digits(line.words[0])) {
      // Launchers and modules print lines of their own between; a line that begins with a size is OSU's.
      if (!collective) line.reject("a size before any line '# OSU … Latency Test' that says of what");
      points.push_back(whole_point({*collective, ranks_of(*collective, request), line.size(0),
                                    line.time(1, kMicrosecond), fmt::format("{}#{}", request.name, tables)}));
    }
  }
  return points;
}

bool is_osu(std::string_view text) {
  return text.find("# OSU ") != std::string_view::npos;
}

}  // namespace

const LinkSource link_sources::osu{"osu", "'# OSU'", is_osu, read_osu};

}  // namespace assay::model
