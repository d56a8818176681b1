#include "assay/measure/rank/steps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "assay/core/clock.hpp"
#include "assay/load/queries/stamps.hpp"
#include "assay/measure/generated.hpp"
#include "assay/measure/rank/query_server.hpp"
#include "assay/stats/steady.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kProbeEveryNs = 50'000'000;
constexpr std::int64_t kDetailSamples = 50;  // enough for a median of every phase or layer
// Phases are timed in every run that can, so they must not make runs noticeably longer; layers only on request.
constexpr double kPhasesShare = 0.1;
constexpr double kLayersShare = 0.5;

double seconds_of(const std::vector<std::int64_t>& samples_ns) {
  return static_cast<double>(std::accumulate(samples_ns.begin(), samples_ns.end(), std::int64_t{0})) / 1e9;
}

/// A worker that generates tells of every token it was asked for, in order and within the step.
void check_tokens(const Workload& workload, const Measured& measured) {
  if (!workload.generate) return;
  const auto& asked = *workload.generate;
  const auto each = static_cast<std::size_t>(asked.sequences * asked.output_tokens);
  if (measured.tokens_ns.size() != each * measured.samples_ns.size()) {
    worker_failed(OutcomeKind::bad_output,
                  fmt::format("{} tokens in {} steps where each has {} of {} sequences", measured.tokens_ns.size(),
                              measured.samples_ns.size(), asked.output_tokens, asked.sequences));
  }
  for (std::size_t i = 0; i < measured.tokens_ns.size(); ++i) {
    const bool first = i % static_cast<std::size_t>(asked.output_tokens) == 0;
    const bool in_order = first || measured.tokens_ns[i] >= measured.tokens_ns[i - 1];
    if (in_order && measured.tokens_ns[i] <= measured.samples_ns[i / each]) continue;
    worker_failed(OutcomeKind::bad_output, fmt::format("token {} of step {}: at {} ns, out of order or after its step",
                                                       i % each, i / each, measured.tokens_ns[i]));
  }
}

}  // namespace

Steps::Steps(const Measure& measure, const Part& part, Session& session, std::optional<HostEnergy>& energy,
             RankResult& result)
    : measure_(measure),
      part_(part),
      session_(session),
      energy_(energy),
      result_(result),
      probed_ns_(monotonic_ns() - kProbeEveryNs) {}

void Steps::begin(const std::vector<std::int64_t>& cpus) {
  cpus_ = cpus;
  before_ = read_counters();
}

void Steps::probe() {
  // Often enough to see the host slow down, seldom enough not to outweigh slices of a few short steps.
  if (probed_ || monotonic_ns() - probed_ns_ < kProbeEveryNs) return;
  probed_ = probe_.run();
  probed_ns_ = monotonic_ns();
}

double Steps::take_slice(std::int64_t turn, const Amount& amount, bool warmup) {
  Slice slice;
  slice.turn = turn;
  slice.warmup = warmup;
  probe();
  slice.probe_ns = std::exchange(probed_, std::nullopt);
  const bool counts = energy_ && !warmup;
  if (counts) energy_->begin();
  const auto asked_ns = monotonic_ns();
  const auto measured = measure("step", amount);
  in_virtual_time_ |= measured.begin_ns < asked_ns || measured.end_ns > monotonic_ns();
  if (counts) energy_->end();
  slice.begin_ns = measured.begin_ns;
  slice.end_ns = measured.end_ns;
  slice.samples = static_cast<std::int64_t>(measured.samples_ns.size());
  result_.slices.push_back(slice);
  result_.samples_ns.insert(result_.samples_ns.end(), measured.samples_ns.begin(), measured.samples_ns.end());
  check_tokens(part_.trial.workload, measured);
  result_.tokens_ns.insert(result_.tokens_ns.end(), measured.tokens_ns.begin(), measured.tokens_ns.end());
  return seconds_of(measured.samples_ns);
}

load::FoundQueries Steps::serve(const Scenario& scenario, load::StepServer& server) {
  const auto batch = part_.trial.workload.batch;
  if (seeks_rate(scenario)) {
    const auto pace =
        static_cast<double>(batch) * 1e9 / static_cast<double>(std::max<std::int64_t>(1, median_so_far()));
    return load::seek_rate(scenario, batch, {pace, measure_.seconds, measure_.max_samples}, part_.seed, server);
  }
  const auto most_steps = std::max<std::int64_t>(1, measure_.max_samples / batch);
  const load::QueryCount count{measure_.seconds, measure_.max_samples, fitting(measure_.seconds, most_steps) * batch};
  const auto arrivals = load::arrivals_of(scenario, count, part_.seed);
  return {{}, arrivals, load::serve_queries(scenario, batch, arrivals, server)};
}

void Steps::take_queries(std::int64_t turn, const Scenario& scenario, const std::function<void()>& attend) {
  Slice slice;
  slice.turn = turn;
  probe();
  slice.probe_ns = std::exchange(probed_, std::nullopt);
  const AskedWorker worker{[this] { return measure("step", {kForever, 1}); }, attend};
  slice.begin_ns = std::max(monotonic_ns(), result_.slices.back().end_ns);
  const auto server = in_virtual_time_ ? virtual_server(worker) : clocked_server(worker);
  if (energy_) energy_->begin();
  const auto [found, arrivals, sent] = serve(scenario, *server);
  if (energy_) energy_->end();
  slice.end_ns = slice.begin_ns + server->now_ns();
  slice.samples = std::ssize(sent.requests);
  result_.slices.push_back(slice);
  for (const auto& request : sent.requests) {
    result_.samples_ns.push_back(std::llround(load::time_ns(request, load::Metric::latency).value()));
  }
  const auto point = load::summarise_queries(scenario, arrivals, sent);
  result_.load = LoadRun{arrivals.seed, to_json(point), std::nullopt, std::nullopt};
  if (seeks_rate(scenario)) result_.load->point[load::kFoundKey] = to_json(found);
  if (sent.requests.size() <= load::kMostStamps) result_.load->stamps = load::requests_csv(sent.requests);
  result_.notes.push_back(seeks_rate(scenario) ? load::search_line(scenario, found)
                                               : load::verdict_line(scenario, point));
}

void Steps::take_epoch(std::int64_t turn, const Learning& learning, Learned& learned) {
  const auto batch = part_.trial.workload.batch;
  const auto wanted = steps_of_epoch(batch);
  take_slice(turn, {kForever, wanted}, false);
  const auto taken = result_.slices.back().samples;
  if (taken != wanted) {
    worker_failed(OutcomeKind::bad_output, fmt::format("{} steps in an epoch that has {}", taken, wanted));
  }
  const auto scored = session_.score(measure_.limit_seconds);
  if (scored.of != kDigitsHeldOut) {
    worker_failed(OutcomeKind::bad_output,
                  fmt::format("a score of {} samples where {} are held out", scored.of, kDigitsHeldOut));
  }
  add_score(learning, {result_.samples_ns.end() - taken, result_.samples_ns.end()}, batch, scored.correct, learned);
}

void Steps::finish() {
  if (energy_) {
    result_.energy = energy_->total();
    if (const auto problem = energy_->problem()) result_.notes.push_back("no energy: " + *problem);
  }
  result_.probe_after_ns = probe_.run();
  if (part_.trial.workload.generate) add_generation_phases(*part_.trial.workload.generate, result_);
  std::int64_t measured_ns = 0;
  for (const auto& slice : result_.slices) measured_ns += slice.end_ns - slice.begin_ns;
  result_.disturbance = platform::between(before_, read_counters(), cpus_, measured_ns);
}

bool Steps::needs_more_warmup() const {
  const double cap = measure_.warmup_cap_seconds.value_or(10 * measure_.warmup_seconds);
  return seconds_of(result_.samples_ns) + measure_.warmup_seconds <= cap &&
         stats::still_warming({result_.samples_ns.begin(), result_.samples_ns.end()});
}

double Steps::last_slice_seconds() const {
  const auto& slice = result_.slices.back();
  return std::max(1e-9, static_cast<double>(slice.end_ns - slice.begin_ns) / 1e9);
}

std::int64_t Steps::median_so_far() const {
  const auto& slices = result_.slices;
  std::int64_t samples = slices.back().samples;
  if (!slices.back().warmup) {
    samples = 0;
    for (const auto& slice : slices) samples += slice.warmup ? 0 : slice.samples;
  }
  std::vector<std::int64_t> values(result_.samples_ns.end() - samples, result_.samples_ns.end());
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t Steps::fitting(double seconds, std::int64_t most) const {
  if (result_.slices.empty()) return 1;
  const double pace = last_slice_seconds() / static_cast<double>(result_.slices.back().samples);
  return static_cast<std::int64_t>(std::clamp(seconds / pace, 1.0, static_cast<double>(most)));
}

std::vector<Detail> Steps::details() const {
  std::vector<Detail> details;
  if (measure_.layers) details.push_back({"layers", {measure_.seconds * kLayersShare, kDetailSamples}});
  const auto& offers = part_.details;
  if (part_.trial.workload.generate) return details;         // the times of tokens tell them
  if (part_.trial.workload.data == kDigits) return details;  // more steps would go on learning
  const bool offered = std::find(offers.begin(), offers.end(), "phases") != offers.end();
  // Last, since a worker that refuses them ends.
  if (measure_.phases.value_or(offered)) {
    details.push_back({"phases", {measure_.seconds * kPhasesShare, kDetailSamples}});
  }
  return details;
}

void Steps::take_detail(const std::string& name, const Amount& amount) {
  if (name == "phases") {
    take_phases(amount);
    return;
  }
  auto measured = measure(name, amount);
  result_.layer_step_ns = std::move(measured.samples_ns);
  result_.layers = std::move(measured.layers);
}

void Steps::take_phases(const Amount& amount) {
  try {
    auto measured = measure("phases", amount);
    result_.phase_step_ns = std::move(measured.samples_ns);
    result_.phases_ns = std::move(measured.phases_ns);
    result_.buckets = std::move(measured.buckets);
  } catch (const WorkerFailure& failure) {
    // Nobody asked for them, and the steps are there.
    if (measure_.phases || failure.outcome.kind != OutcomeKind::refused) throw;
    result_.notes.push_back("no phases: " + failure.outcome.message);
    refused_phases_ = true;
  }
}

/// Steps that are counted take what they take; those before tell how long that should be.
double Steps::patience(const Amount& amount) const {
  if (amount.seconds < kForever) return amount.seconds + measure_.limit_seconds;
  const auto steps = static_cast<double>(result_.samples_ns.size());
  const double step = steps > 0 ? seconds_of(result_.samples_ns) / steps : 0;
  return 3 * step * static_cast<double>(amount.max_samples) + measure_.limit_seconds;
}

Measured Steps::measure(const std::string& detail, const Amount& amount) {
  return session_.measure(detail, amount.seconds, amount.max_samples, patience(amount));
}

platform::Counters Steps::read_counters() const {
  return platform::read_counters(cpus_, worker_tree(energy_));
}

}  // namespace assay::measure
