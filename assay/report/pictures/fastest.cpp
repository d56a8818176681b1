#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "assay/core/text/units.hpp"
#include "assay/report/pictures/group_verdicts.hpp"
#include "assay/report/pictures/naming.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostSubjects = 40;
constexpr std::size_t kMostRuntimes = 16;

/// A contest with its name, and what lock-step groups say of it.
struct Judged {
  std::string name;
  Contest contest;
  GroupVerdict by_groups;
};

/// The contests of a store, at most so many; those with one runtime have nothing to compare.
std::vector<Judged> contests_of(const Evidence& evidence, std::size_t most) {
  std::map<std::string, std::size_t> known;
  std::vector<Contest> contests;
  for (const auto* result : good_results(evidence)) {
    Trial alike = result->trial;
    alike.worker = {};
    const auto [it, is_new] = known.try_emplace(key_without(alike, result->platform, {}), contests.size());
    if (is_new) contests.emplace_back();
    contests[it->second][runtime_of(result->trial)] = result;
  }
  std::erase_if(contests, [](const Contest& contest) { return contest.size() < 2; });
  if (contests.size() > most) contests.resize(most);
  std::vector<Trial> trials;  // without their runtime, so that names say nothing of it
  trials.reserve(contests.size());
  std::vector<Named> named;
  for (const auto& contest : contests) {
    const auto& first = *contest.begin()->second;
    trials.push_back(first.trial);
    trials.back().worker = {};
    named.push_back({&trials.back(), first.platform});
  }
  const auto names = distinct_names(named);
  auto verdicts = group_verdicts(evidence, contests);
  std::vector<Judged> out;
  for (std::size_t i = 0; i < contests.size(); ++i) {
    const bool alone = contests.size() == 1;
    out.push_back({alone ? title(trials[i].workload) : names[i], std::move(contests[i]), std::move(verdicts[i])});
  }
  return out;
}

/// By groups where the contest was measured in them, else by medians.
const Result& quickest(const Judged& judged) {
  const auto& contest = judged.contest;
  if (!judged.by_groups.standings.empty()) return *contest.at(judged.by_groups.fastest);
  return *std::min_element(contest.begin(), contest.end(), [](const auto& a, const auto& b) {
            return *a.second->median_ns < *b.second->median_ns;
          })->second;
}

/// Whether every run that counts was disturbed: then nothing is claimed.
bool only_disturbed(const Result& result) {
  return result.untrusted > 0 && result.untrusted == result.ok;
}

/// Where their 95 % intervals do not meet, one takes longer.
bool surely_longer(const Result& slow, const Result& fast) {
  return slow.median_interval && fast.median_interval && !only_disturbed(slow) && !only_disturbed(fast) &&
         slow.median_interval->low > fast.median_interval->high;
}

/// Whether the quickest is proved to be: every other one surely takes longer.
bool is_proved(const Judged& judged) {
  const auto& standings = judged.by_groups.standings;
  const Result& best = quickest(judged);
  return std::all_of(judged.contest.begin(), judged.contest.end(), [&](const auto& one) {
    if (one.second == &best) return true;
    return standings.empty() ? surely_longer(*one.second, best) : standings.at(one.first).longer;
  });
}

/// What a runtime takes over the quickest of its contest.
struct Standing {
  double ratio = 1;
  std::optional<stats::Interval> interval;  ///< none of the quickest itself, and of too few runs
  std::int64_t groups = 0;                  ///< lock-step groups that say so; 0: independent runs
};

Standing standing_of(const Result& result, const Judged& judged) {
  const Result& best = quickest(judged);
  if (!judged.by_groups.standings.empty()) {
    const auto& by_groups = judged.by_groups.standings.at(runtime_of(result.trial));
    return {by_groups.ratio, &result == &best ? std::nullopt : by_groups.interval, by_groups.groups};
  }
  Standing out{*result.median_ns / *best.median_ns, {}, 0};
  if (&result != &best && result.median_interval && best.median_interval) {
    out.interval = {result.median_interval->low / best.median_interval->high,
                    result.median_interval->high / best.median_interval->low};
  }
  return out;
}

Mark cell_of(const Result& result, const Judged& judged, bool proved) {
  const auto standing = standing_of(result, judged);
  auto mark = ratio_cell(standing.ratio);
  mark.note = format_duration(*result.median_ns);
  if (standing.interval) {
    mark.note += fmt::format(", {:.2f} to {:.2f} times", standing.interval->low, standing.interval->high);
    if (standing.groups > 0) mark.note += fmt::format(" in {} groups", standing.groups);
  }
  if (only_disturbed(result)) mark.note += ", every run was disturbed";
  mark.hatched = only_disturbed(result);
  mark.ringed = proved && &result == &quickest(judged);
  return mark;
}

/// "1 (9.12 ms), proved" of the quickest, "1.23 (1.20 to 1.27)" of another; "(?)" where every run was disturbed.
std::string words_of_cell(const Result& result, const Judged& judged, bool proved) {
  const auto standing = standing_of(result, judged);
  std::string out;
  if (&result == &quickest(judged)) {
    out = fmt::format("1 ({}){}", format_duration(*result.median_ns), proved ? ", proved" : "");
  } else {
    out = fmt::format("{:.2f}", standing.ratio);
    if (standing.interval) out += fmt::format(" ({:.2f} to {:.2f})", standing.interval->low, standing.interval->high);
  }
  return out + (only_disturbed(result) ? " (?)" : "");
}

std::set<std::string> runtimes_of(const std::vector<Judged>& contests) {
  std::set<std::string> runtimes;
  for (const auto& judged : contests) {
    for (const auto& [runtime, result] : judged.contest) runtimes.insert(runtime);
  }
  return runtimes;
}

std::string answer_of(const std::vector<Judged>& contests) {
  struct Wins {
    std::int64_t count = 0;
    std::set<std::string> over;
  };
  std::map<std::string, Wins> wins;
  std::int64_t open = 0;
  for (const auto& judged : contests) {
    if (!is_proved(judged)) {
      ++open;
      continue;
    }
    const auto winner = runtime_of(quickest(judged).trial);
    auto& won = wins[winner];
    ++won.count;
    for (const auto& [runtime, result] : judged.contest) {
      if (runtime != winner) won.over.insert(runtime);
    }
  }
  std::string text;
  for (const auto& [runtime, won] : wins) {
    text += fmt::format("{} is fastest in {} of {} workloads, proved against {}. ", runtime, won.count, contests.size(),
                        fmt::join(won.over, ", "));
  }
  if (open > 0) text += fmt::format("In {} of {} no runtime is proved to be the fastest. ", open, contests.size());
  text.pop_back();
  return text;
}

}  // namespace

Document fastest_document(const Evidence& evidence) {
  Document out;
  const auto contests = contests_of(evidence, SIZE_MAX);
  if (contests.empty()) {
    out.paragraph(
        "No workload here has results of two workers or releases. `assay run NETWORK --worker A,B` measures it.");
    return out;
  }
  const auto runtimes = runtimes_of(contests);
  std::vector<Table::Column> columns{{"workload", Table::Align::left}};
  for (const auto& runtime : runtimes) columns.push_back({runtime, Table::Align::left});
  Table table(std::move(columns));
  for (const auto& judged : contests) {
    const bool proved = is_proved(judged);
    std::vector<std::string> row{judged.name};
    for (const auto& runtime : runtimes) {
      const auto found = judged.contest.find(runtime);
      row.push_back(found == judged.contest.end() ? "-" : words_of_cell(*found->second, judged, proved));
    }
    table.add(std::move(row));
  }
  out.paragraph(answer_of(contests));
  out.add(Matrix{std::move(table)});
  out.paragraph(
      "1: the fastest, with its time. Others: how many times as long, with the 95 % interval where runs are enough. "
      "(?): every run was disturbed.");
  return out;
}

std::vector<Picture> fastest_pictures(const Evidence& evidence) {
  const auto contests = contests_of(evidence, kMostSubjects);
  const auto runtimes = runtimes_of(contests);
  if (contests.empty() || runtimes.size() > kMostRuntimes) return {};
  Picture picture;
  picture.id = "fastest";
  picture.question = "Which is fastest?";
  picture.title =
      "Time of a step against the fastest runtime. Ringed: proved, by the verdicts of lock-step groups where there are "
      "any, else since no interval of another meets its own; hatched: every run was disturbed";
  picture.answer = answer_of(contests);
  picture.command = command_of("assay show --all --fastest", evidence);
  picture.x = {.title = "runtime", .kind = PictureAxisKind::category, .categories = {runtimes.begin(), runtimes.end()}};
  picture.y = {.title = "workload", .kind = PictureAxisKind::category};
  Series series{.name = "time against the fastest", .kind = SeriesKind::cells, .colour = 0};
  for (const auto& judged : contests) {
    const bool proved = is_proved(judged);
    for (const auto& [runtime, result] : judged.contest) {
      auto mark = cell_of(*result, judged, proved);
      mark.x = static_cast<double>(std::distance(runtimes.begin(), runtimes.find(runtime)));
      mark.y = static_cast<double>(picture.y.categories.size());
      series.marks.push_back(std::move(mark));
    }
    picture.y.categories.push_back(judged.name);
  }
  picture.series.push_back(std::move(series));
  return {picture};
}

}  // namespace assay::report
