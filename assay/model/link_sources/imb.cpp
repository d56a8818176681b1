#include <array>
#include <utility>

#include "assay/model/link_source.hpp"
#include "assay/model/link_sources/lines.hpp"

namespace assay::model {
namespace {

constexpr double kImbUnit = 1e-6;  // microseconds
constexpr std::string_view kImbTitle = "# Benchmarking ";

constexpr std::array<std::pair<std::string_view, Collective>, 6> kImbNames{{
    {"Allreduce", Collective::all_reduce},
    {"Allgather", Collective::all_gather},
    {"Reduce_scatter", Collective::reduce_scatter},
    {"Alltoall", Collective::all_to_all},
    {"Bcast", Collective::broadcast},
    {"PingPong", Collective::ping_pong},
}};

/// "# Benchmarking Allreduce" is all_reduce; null where it is a benchmark that says nothing of a link.
std::optional<Collective> imb_collective(const SourceLine& line) {
  for (const auto& [name, collective] : kImbNames) {
    if (line.words.size() > 2 && line.words[2] == name) return collective;
  }
  return std::nullopt;
}

/// Collectives have t_min, t_max and t_avg; what counts is when the last rank has its result. PingPong has one time.
double imb_seconds(const SourceLine& line, Collective collective) {
  return line.time(collective == Collective::ping_pong ? 2 : 3, kImbUnit);
}

std::vector<LinkPoint> read_imb(std::string_view text, const LinkRequest& request) {
  std::vector<LinkPoint> points;
  std::optional<Collective> collective;
  std::optional<std::int64_t> ranks;
  std::int64_t tables = 0;
  for (const auto& line : source_lines(text, request.name)) {
    if (line.text.starts_with(kImbTitle)) {
      collective = imb_collective(line);
      ranks.reset();
      ++tables;
    } else if (line.text.starts_with("# #processes = ")) {
      ranks = line.ranks(3);
      if (request.ranks && *request.ranks != *ranks) {
        fail(ErrorKind::usage, "{}: --ranks {}, and it names {} ranks. Leave --ranks out.", request.name,
             *request.ranks, *ranks);
      }
    } else if (collective && !line.words.empty() && is_digits(line.words[0]) && line.words[0] != "0") {
      if (!ranks) line.reject("a size before any line '# #processes = …'");
      points.push_back(whole_point({*collective, *ranks, line.size(0), imb_seconds(line, *collective),
                                    fmt::format("{}#{}", request.name, tables)}));
    }
  }
  return points;
}

bool is_imb(std::string_view text) {
  return text.find(kImbTitle) != std::string_view::npos && text.find("#repetitions") != std::string_view::npos;
}

}  // namespace

const LinkSource link_sources::imb{"imb", "'# Benchmarking' of Intel MPI Benchmarks", is_imb, read_imb};

}  // namespace assay::model
