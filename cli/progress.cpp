#include "cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "assay/core/clock.hpp"
#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::cli {
namespace {

constexpr std::int64_t kTerminalNs = 100'000'000;
constexpr std::int64_t kLogNs = 5'000'000'000;

/// The reason of a failure, with the last line that the program wrote about it: of a traceback, the error itself.
std::string reason_of(const Outcome& outcome) {
  auto tail = outcome.stderr_tail.value_or("");
  tail.erase(tail.find_last_not_of(" \t\r\n") + 1);
  const auto line = tail.substr(tail.rfind('\n') + 1);  // npos + 1 is 0
  const bool known = line.empty() || outcome.message.find(line) != std::string::npos;
  return known ? outcome.message : outcome.message + ": " + line;
}

/// "resnet50 infer b1 on pytorch 2.13.0, default, run 3"
std::string title_of(const store::Lease& lease) {
  std::string now = title(lease.runs[0].trial);
  if (lease.runs.size() == 2) now += " against " + title(lease.runs[1].trial);
  if (lease.runs.size() > 2) now += fmt::format(" and {} more in lock-step", lease.runs.size() - 1);
  return fmt::format("{}, run {}", now, lease.runs[0].index);
}

}  // namespace

std::string for_person(std::int64_t seconds) {
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

std::string time_ago(const std::string& utc) {
  std::tm parts{};
  if (strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return "at " + utc;
  const auto seconds = std::max<std::int64_t>(0, std::time(nullptr) - timegm(&parts));
  if (seconds < 120) return fmt::format("{} s ago", seconds);
  if (seconds < 7200) return fmt::format("{} min ago", seconds / 60);
  return seconds < 172800 ? fmt::format("{} h ago", seconds / 3600) : fmt::format("{} days ago", seconds / 86400);
}

std::size_t stderr_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79U;
}

ProgressLine::ProgressLine(store::RunQueue& store, const std::string& campaign, bool quiet, Heard heard)
    : heard_(std::move(heard)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), begin_ns_(monotonic_ns()) {
  const auto progress = store.progress(campaign);
  total_ = progress.runs;
  done_ = progress.done;
  failed_ = progress.failed;
}

ProgressLine::~ProgressLine() {
  clear_line();
}

void ProgressLine::started(const store::Lease& lease) {
  waited_for_.clear();
  show(medians_so_far(lease) + title_of(lease), false);
}

void ProgressLine::measuring(const store::Lease& lease, std::int64_t median_ns) {
  const auto now = format_duration(static_cast<double>(median_ns));
  const auto before = medians_so_far(lease);
  show(before.empty() ? fmt::format("{} so far, {}", now, title_of(lease))
                      : fmt::format("{}now {}, {}", before, now, title_of(lease)),
       false);
}

void ProgressLine::note_median(const store::Finished& finished) {
  const auto& median = finished.record.summary.median_ns;
  if (!median) return;
  auto& medians = finished.again ? disturbed_ns_ : medians_ns_;
  medians[finished.record.trial].push_back(static_cast<double>(*median));
}

void ProgressLine::finished(const store::Lease& lease, const std::vector<store::Finished>& finished) {
  for (const auto& one : finished) {
    if (one.again) {
      ++again_;
      note_median(one);
      continue;
    }
    ++done_;
    ++done_here_;
    const auto& outcome = one.record.outcome;
    const bool said = heard_ && heard_(one.record);
    if (outcome.kind == OutcomeKind::ok) {
      note_median(one);
      continue;
    }
    ++failed_;
    // The first failures are worth a line each; a campaign full of them is summed up in the table.
    if (failed_ <= 5 && !said) {
      warning(fmt::format("run {} of {} {}: {}", one.record.index, lease.runs[0].trial_id.substr(0, 8),
                          name_of(outcome.kind), reason_of(outcome)));
    }
  }
  if (done_ == total_) show("done", true);
}

void ProgressLine::waiting(const std::string& why) {
  if (why == waited_for_) return;
  waited_for_ = why;
  show("waiting: " + why, true);
}

void ProgressLine::warning(const std::string& what) {
  clear_line();
  std::fprintf(stderr, "assay: %s\n", report::fit(what, 400).c_str());
}

std::string ProgressLine::medians_so_far(const store::Lease& lease) const {
  std::string out;
  bool disturbed = false;
  for (const auto& run : lease.runs) {
    auto found = medians_ns_.find(run.trial_id);
    if (found == medians_ns_.end()) {
      found = disturbed_ns_.find(run.trial_id);
      if (found == disturbed_ns_.end()) return "";
      disturbed = true;
    }
    out += (out.empty() ? "median " : " and ") + format_duration(stats::median(found->second));
  }
  return out + (disturbed ? " so far (disturbed), " : " so far, ");
}

std::string ProgressLine::time_left() const {
  if (done_here_ < 2 || done_ >= total_) return "";
  const double each = static_cast<double>(monotonic_ns() - begin_ns_) / static_cast<double>(done_here_) / 1e9;
  return ", about " + for_person(static_cast<std::int64_t>(each * static_cast<double>(total_ - done_)) + 1) + " left";
}

void ProgressLine::show(const std::string& now, bool at_once) {
  const std::int64_t time = monotonic_ns();
  if (quiet_ || (!at_once && time - shown_ns_ < (terminal_ ? kTerminalNs : kLogNs))) return;
  shown_ns_ = time;
  std::string line = fmt::format("[{}/{}]", done_, total_);
  if (failed_ > 0) line += fmt::format(" {} failed", failed_);
  if (again_ > 0) line += fmt::format(" {} again", again_);
  line += fmt::format("{}: {}", time_left(), now);
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", report::fit(line, stderr_width()).c_str());
    line_shown_ = true;
  } else {
    std::fprintf(stderr, "%s\n", report::fit(line, 400).c_str());
  }
}

void ProgressLine::clear_line() {
  if (line_shown_) std::fputs("\r\033[K", stderr);
  line_shown_ = false;
}

}  // namespace assay::cli
