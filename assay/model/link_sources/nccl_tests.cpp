#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "assay/model/link_source.hpp"
#include "assay/model/link_sources/lines.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kOutOfPlaceTime = 8;  // columns from the right: time algbw busbw #wrong, twice
constexpr std::size_t kOutOfPlaceWrong = 5;
constexpr std::size_t kFewestColumns = 11;  // size, count, type and those; redop and root are left blank by some

constexpr std::array<std::pair<std::string_view, Collective>, 5> kPrograms{{
    {"all_reduce_perf", Collective::all_reduce},
    {"all_gather_perf", Collective::all_gather},
    {"reduce_scatter_perf", Collective::reduce_scatter},
    {"alltoall_perf", Collective::all_to_all},
    {"broadcast_perf", Collective::broadcast},
}};

/// What the lines around the tables tell.
struct NcclJob {
  std::optional<Collective> collective;
  std::set<std::int64_t> ranks;

  void read(const SourceLine& line) {
    for (const auto& [program, found] : kPrograms) {
      if (line.text.find(program) != std::string_view::npos) collective = found;
    }
    const auto& words = line.words;
    if (words.size() > 2 && words[0] == "#" && words[1] == "Rank" && is_digits(words[2])) {
      std::int64_t rank = 0;
      std::from_chars(words[2].data(), words[2].data() + words[2].size(), rank);
      ranks.insert(rank);
    }
  }
};

std::int64_t ranks_of_job(const NcclJob& job, const LinkRequest& request) {
  const auto told = static_cast<std::int64_t>(job.ranks.size());
  if (told == 0 && !request.ranks) {
    fail(ErrorKind::usage, "{}: it has no lines '# Rank 0 …' that give the number of ranks. Give it with --ranks.",
         request.name);
  }
  if (told > 0 && request.ranks && *request.ranks != told) {
    fail(ErrorKind::usage, "{}: it names {} ranks, and --ranks says {}. Leave --ranks out.", request.name, told,
         *request.ranks);
  }
  const auto ranks = request.ranks.value_or(told);
  if (ranks < 2) fail(ErrorKind::usage, "{}: with 1 rank nothing is sent over a link.", request.name);
  return ranks;
}

Collective collective_of_job(const NcclJob& job, const LinkRequest& request) {
  if (job.collective) return *job.collective;
  if (request.collective) return *request.collective;
  fail(ErrorKind::usage,
       "{}: it does not name its program (all_reduce_perf, …), as releases before 2.17 do not. Say it with "
       "--collective.",
       request.name);
}

/// Whether it begins with a size and a count, as no line of a log does.
bool is_row(const SourceLine& line) {
  return line.words.size() > 2 && is_digits(line.words[0]) && is_digits(line.words[1]);
}

LinkPoint point_of_table(const SourceLine& line) {
  const auto columns = line.words.size();
  if (columns < kFewestColumns) line.reject("{} columns, and nccl-tests prints {} or more", columns, kFewestColumns);
  const auto wrong = line.words[columns - kOutOfPlaceWrong];
  if (wrong != "0" && wrong != "N/A" && wrong != "0e+00") {
    line.reject("{} wrong results: the time of a wrong result means nothing", shown(std::string(wrong)));
  }
  return {Collective::all_reduce, 2, line.size(0), line.time(columns - kOutOfPlaceTime, 1e-6), ""};
}

std::vector<LinkPoint> read_nccl_tests(std::string_view text, const LinkRequest& request) {
  std::vector<LinkPoint> points;
  NcclJob job;
  for (const auto& line : source_lines(text, request.name)) {
    if (is_row(line)) {
      if (line.size(0) > 0) points.push_back(point_of_table(line));  // some ask for sizes below one element
    } else {
      job.read(line);
    }
  }
  if (points.empty()) return points;
  const auto ranks = ranks_of_job(job, request);
  const auto collective = collective_of_job(job, request);
  for (auto& point : points) {
    point.collective = collective;
    point.ranks = ranks;
    point.run = request.name;
  }
  return points;
}

bool is_nccl_tests(std::string_view text) {
  return text.find("busbw") != std::string_view::npos;
}

}  // namespace

const LinkSource link_sources::nccl_tests{"nccl-tests", "'busbw' of nccl-tests", is_nccl_tests, read_nccl_tests};

}  // namespace assay::model
