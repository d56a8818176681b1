#include "assay/load/recording.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/clock.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/core/version.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/machine/state.hpp"

namespace assay::load {
namespace {

constexpr std::int64_t kUsualConnections = 4096;

/// Latencies in the order of the schedule, as two slices: the warm-up, and what counts.
void add_samples(const std::vector<Request>& requests, RankResult& rank) {
  Slice warm_up;
  Slice counted;
  warm_up.warmup = true;
  counted.turn = 1;
  bool any_warm_up = false;
  for (const auto& request : requests) {
    auto& slice = request.warm_up ? warm_up : counted;
    any_warm_up |= request.warm_up;
    if (slice.samples == 0) slice.begin_ns = request.due_ns;
    const auto time = time_ns(request, Metric::latency);
    if (!time) continue;
    rank.samples_ns.push_back(std::llround(*time));
    ++slice.samples;
    slice.end_ns = std::max(slice.end_ns, request.finished_ns.value_or(0));
  }
  if (any_warm_up) rank.slices.push_back(warm_up);
  rank.slices.push_back(counted);
}

Validity validity_of(const LoadPoint& point) {
  Validity validity;
  const auto& client = point.client;
  if (!is_client_starved(client)) return validity;
  validity.trusted = false;
  validity.reasons.push_back(
      {"generator_starved",
       fmt::format("the client was more than {:.3g} ms late at p99 in {} of {} seconds; send from an idle machine",
                   client.lateness_budget_ns * 1e-6, client.starved_windows, client.windows),
       true});
  return validity;
}

}  // namespace

Worker named_worker(const std::string& text) {
  if (text.empty()) return {"server", ""};
  const auto at = text.find("==");
  Worker worker{text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 2)};
  if (worker.name.empty() || worker.name.size() > 100 || worker.release.size() > 100 || !is_utf8(text)) {
    fail(ErrorKind::usage, "--server: {} is not valid. Write it as llama.cpp or vllm==0.32.0.", shown(text));
  }
  return worker;
}

Trial trial_of(const LoadQuestion& question, const NamedServer& server) {
  const auto& arrivals = question.arrivals;
  const auto& form = question.sending.form;
  ServerLoad load;
  load.server = server.url;
  load.api = name_of(form.api);
  load.start = server.start;
  if (!form.model.empty()) load.model = form.model;
  load.stream = form.stream;
  load.ignore_eos = form.ignore_eos;
  if (!form.body.empty()) load.body_hash = hash_hex(form.body);
  load.arrivals = name_of(arrivals.kind);
  if (arrivals.rate_per_second > 0) load.rate_per_second = arrivals.rate_per_second;
  load.clients = arrivals.clients;
  load.burst = arrivals.burst;
  load.turns = arrivals.turns;
  load.turn_gap_seconds = arrivals.turn_gap_seconds;
  load.trace_hash = arrivals.trace_hash;
  if (arrivals.duration_seconds > 0) load.duration_seconds = arrivals.duration_seconds;
  load.requests = arrivals.requests;
  load.warm_up_seconds = arrivals.warm_up_seconds;
  load.input_words = arrivals.input_words;
  load.output_tokens = arrivals.output_tokens;
  load.prefix_words = arrivals.prefix_words;
  const auto connections = static_cast<std::int64_t>(question.sending.connections);
  if (connections != kUsualConnections) load.connections = connections;
  Trial trial;
  trial.workload.network = "server";
  trial.workload.load = std::move(load);
  trial.worker = server.worker;
  return trial;
}

Outcome outcome_of(const LoadPoint& point) {
  if (point.outcomes.count(RequestOutcome::ok) > 0) return {};
  std::string counts;
  for (const auto& [outcome, count] : point.outcomes) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name_of(outcome));
  }
  Outcome outcome;
  outcome.kind = OutcomeKind::failed;
  outcome.message = fmt::format("no request was answered: {}", counts.empty() ? "none was sent" : counts);
  outcome.stage = "measure";
  return outcome;
}

Record record_of(const MeasuredLoad& measured) {
  Record record;
  record.outcome = measured.outcome;
  record.assay_version = kVersion;
  RankResult rank;
  rank.outcome = measured.outcome;
  add_samples(measured.requests, rank);
  rank.disturbance.steal_ns = measured.point.client.steal_ns;
  LoadRun run;
  run.seed = measured.seed;
  run.point = to_json(measured.point);
  if (measured.certification) run.certification = to_json(*measured.certification);
  if (measured.requests.size() <= kMostStamps) {
    run.stamps = requests_csv(measured.requests);
  } else {
    rank.notes.push_back(fmt::format("stamps of {} requests are more than a record holds; --stamps writes them",
                                     measured.requests.size()));
  }
  rank.load = std::move(run);
  if (measured.outcome.kind == OutcomeKind::ok) {
    auto& summary = record.summary;
    summary.n = std::ssize(rank.samples_ns);
    for (const auto& slice : rank.slices) {
      if (slice.warmup) summary.steady_from = slice.samples;
    }
    summary.steady_samples = measured.point.requests;
    summary.samples_per_second = measured.point.answered_per_second;
    summarise_latency(measured.point, summary);
    record.validity = validity_of(measured.point);
  }
  record.ranks.push_back(std::move(rank));
  return record;
}

Recorder::Recorder(store::Store& store, store::RunQueue& queue, plan::Campaign campaign, store::LeaseRequest as)
    : store_(store),
      queue_(queue),
      campaign_(std::move(campaign)),
      as_(std::move(as)),
      machine_(platform::this_machine()) {
  queue_.put_platform(machine_.id, platform::description_of(machine_));
  if (!campaign_.grows) plan();
}

void Recorder::plan() {
  const auto planned = store_.plan(campaign_, false);
  const auto progress = store_.progress(planned.campaign);
  const bool finished = progress.ready + progress.leased == 0;
  id_ = finished ? store_.plan(campaign_, true).campaign : planned.campaign;
}

void Recorder::add(const Trial& trial) {
  auto& trials = campaign_.trials;
  const auto same = [id = trial_id(trial)](const Trial& one) { return trial_id(one) == id; };
  const auto at = std::find_if(trials.begin(), trials.end(), same) - trials.begin();
  if (at == std::ssize(trials)) {
    trials.push_back(trial);
    campaign_.runs_of_trial.push_back(0);
  }
  ++campaign_.runs_of_trial[static_cast<std::size_t>(at)];
  if (id_.empty()) return plan();
  store_.plan(campaign_, false);
}

std::optional<store::Lease> Recorder::take(double seconds) {
  as_.campaign = id_;
  as_.seconds = seconds;
  return queue_.lease(as_);
}

std::int64_t Recorder::fresh_prompts(const store::Lease& lease) const {
  const auto& run = lease.runs.front();
  return hash_int(fmt::format("prompts {} {} {} {}", id_, run.trial_id, run.index, run.attempt)) & 0x7fffff;
}

void Recorder::complete(const store::Lease& lease, Record record, const std::string& started_utc,
                        std::int64_t began_ns) {
  const auto& run = lease.runs.front();
  record.campaign = lease.campaign;
  record.trial = run.trial_id;
  record.index = run.index;
  record.attempt = run.attempt;
  record.platform = machine_.id;
  record.state = to_json(platform::read_state(platform::allowed_cpus()));
  record.started_utc = started_utc;
  record.duration_ns = monotonic_ns() - began_ns;
  const auto completion = queue_.complete(lease, {{std::move(record), false}});
  if (completion == store::Completion::stale) {
    fail(ErrorKind::failure, "the store gave this run to another process meanwhile; what was measured is not kept.");
  }
}

}  // namespace assay::load
