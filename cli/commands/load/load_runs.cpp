#include "cli/commands/load/load_runs.hpp"

#include <algorithm>

#include "assay/core/clock.hpp"
#include "assay/core/text/units.hpp"
#include "assay/measure/agent/agent.hpp"
#include "assay/report/subjects/load/load.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

constexpr double kLongestLease = 86400;
constexpr double kAround = 120;  // what a run takes besides its schedule: starting, certification, summing up

double lease_seconds(const load::LoadQuestion& question, double start_limit) {
  const auto& a = question.arrivals;
  double schedule = a.duration_seconds;
  if (a.requests && a.rate_per_second > 0) schedule = static_cast<double>(*a.requests) / a.rate_per_second;
  const double all = a.warm_up_seconds + 1.5 * schedule + static_cast<double>(question.sending.timeout_ns) * 1e-9;
  return std::min(kLongestLease, all + start_limit + kAround);
}

/// Runs are taken as by an agent in this process.
store::LeaseRequest as_agent() {
  return {"", measure::this_owner(), 0, std::nullopt, measure::owner_is_dead};
}

}  // namespace

LoadRuns::LoadRuns(const LoadRunFlags& flags, const load::LoadQuestion& question, const std::string& url, bool quiet)
    : flags_(flags),
      question_(question),
      server_{url, load::named_worker(flags.server), std::nullopt},
      quiet_(quiet),
      lock_(flags.work.host_lock) {
  if (!flags.start.empty()) server_.start = load::words_of_command(flags.start);
  store_ = store::open_store(flags.work.store, store::Access::create);
  queue_ = std::make_unique<store::SpooledQueue>(*store_, spool_of(flags.work));
}

plan::Campaign LoadRuns::campaign_of(std::vector<Trial> trials, std::optional<std::string> grows) const {
  plan::Campaign campaign;
  campaign.name = flags_.name.empty() ? "load" : flags_.name;
  campaign.seed = question_.arrivals.seed;
  campaign.runs = flags_.runs;
  campaign.grows = std::move(grows);
  campaign.trials = std::move(trials);
  return campaign;
}

std::unique_ptr<load::StartedServer> LoadRuns::started() const {
  if (!server_.start) return nullptr;
  return std::make_unique<load::StartedServer>(*server_.start, question_.target, question_.sending,
                                               parse_seconds(flags_.start_limit, "--start-limit"));
}

std::optional<load::LoadPoint> LoadRuns::measure(load::Recorder& recorder, const store::Lease& lease,
                                                 load::LoadQuestion question, bool certify, load::LoadResult& result) {
  const int stop_fd = question.sending.stop_fd;
  const auto patient = [&] { return !asked_to_stop(stop_fd, 0); };
  const auto stop = [&] {
    recorder.release(lease);
    stopped_ = true;
    return std::nullopt;
  };
  if (!flags_.work.no_host_lock && !lock_.take(patient)) return stop();
  const auto started_utc = utc_now();
  const auto began_ns = monotonic_ns();
  load::MeasuredLoad measured;
  measured.seed = question.arrivals.seed;
  std::unique_ptr<load::StartedServer> fresh;
  try {
    if (!kept_) fresh = started();
  } catch (const Error& error) {
    measured.outcome.kind = OutcomeKind::not_started;
    measured.outcome.message = error.what();
    measured.outcome.stage = "start";
    recorder.complete(lease, load::record_of(measured), started_utc, began_ns);
    throw;
  }
  if (fresh && !fresh->is_ready()) return stop();
  question.sending.form.point = recorder.fresh_prompts(lease);
  measured.point = load::measure_point(question, &measured.requests);
  const auto* server = kept_ ? kept_.get() : fresh.get();
  measured.outcome = load::outcome_of(measured.point);
  if (server != nullptr && server->has_ended()) {
    measured.outcome = {OutcomeKind::crashed, "the server ended during the run", "measure", {}, {}, server->tail()};
  }
  fresh.reset();
  if (certify && !measured.point.stopped) measured.certification = load::certify_client(question);
  lock_.give_back();
  result.points.push_back(measured.point);
  if (measured.certification) result.certification = measured.certification;
  if (measured.point.stopped) {
    stop();
  } else {
    recorder.complete(lease, load::record_of(measured), started_utc, began_ns);
  }
  requests_ = std::move(measured.requests);
  if (!quiet_) std::fprintf(stderr, "%s\n", report::load_progress(measured.point).c_str());
  return stopped_ ? std::nullopt : std::optional(measured.point);
}

void LoadRuns::measure_rates(const std::vector<double>& rates, load::LoadResult& result) {
  std::vector<Trial> trials;
  auto one = question_;
  for (const auto rate : rates.empty() ? std::vector{question_.arrivals.rate_per_second} : rates) {
    one.arrivals.rate_per_second = rate;
    trials.push_back(trial_of(one, server_));
  }
  load::Recorder recorder(*store_, *queue_, campaign_of(std::move(trials), std::nullopt), as_agent());
  result.campaign = recorder.campaign();
  const auto start_limit = server_.start ? parse_seconds(flags_.start_limit, "--start-limit") : 0;
  work_with(*queue_, [&] {
    while (!stopped_) {
      const auto lease = recorder.take(lease_seconds(question_, start_limit));
      if (!lease) break;
      const auto& run = lease->runs.front();
      one.arrivals.rate_per_second = run.trial.workload.load ? run.trial.workload.load->rate_per_second.value_or(0) : 0;
      one.arrivals.seed = question_.arrivals.seed + run.index;
      measure(recorder, *lease, one, flags_.certify, result);
    }
    return measure::AgentEnd::nothing_left;
  });
  std::stable_sort(result.points.begin(), result.points.end(), [](const auto& a, const auto& b) {
    return a.arrivals.rate_per_second < b.arrivals.rate_per_second;
  });
}

void LoadRuns::search(const load::RateQuestion& rates, double most_seconds, load::LoadResult& result) {
  std::string asked = "rate within";
  for (const auto& limit : question_.limits) {
    asked += fmt::format(" {} p{:g}<{:g}ns", name_of(limit.metric), 100 * limit.quantile, limit.limit_ns);
  }
  auto without_rate = question_;
  without_rate.arrivals.rate_per_second = 0;
  asked += " of " + trial_id(trial_of(without_rate, server_));
  load::Recorder recorder(*store_, *queue_, campaign_of({}, asked), as_agent());
  work_with(*queue_, [&] {
    kept_ = started();
    if (kept_ && !kept_->is_ready()) {
      stopped_ = true;
      return measure::AgentEnd::stopped;
    }
    result.found = load::search_rate(question_, rates, most_seconds, [&](const load::LoadQuestion& one) {
      recorder.add(trial_of(one, server_));
      const auto lease = recorder.take(lease_seconds(one, 0));
      ASSAY_CHECK(lease);
      return measure(recorder, *lease, one, false, result);
    });
    kept_.reset();
    return measure::AgentEnd::nothing_left;
  });
  if (!recorder.campaign().empty()) result.campaign = recorder.campaign();
  if (!flags_.certify || stopped_ || result.points.empty()) return;
  auto same = question_;
  same.arrivals = result.points.back().arrivals;
  result.certification = load::certify_client(same);
}

}  // namespace assay::cli
