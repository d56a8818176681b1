#include <algorithm>
#include <memory>

#include "assay/core/clock.hpp"
#include "assay/core/text/units.hpp"
#include "assay/load/server/null_server.hpp"
#include "assay/report/subjects/load/load.hpp"
#include "cli/command.hpp"
#include "cli/commands/load/load_flags.hpp"
#include "cli/commands/load/load_runs.hpp"
#include "cli/output.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

/// Of the verdicts on all limits at all rates.
int gate_of(const load::LoadResult& result) {
  int code = 0;
  for (const auto& point : result.points) {
    for (const auto& limit : point.limits) {
      if (limit.verdict == load::LimitVerdict::broken) return kExitGate;
      if (limit.verdict != load::LimitVerdict::holds) code = kExitUndecided;
    }
  }
  return code;
}

int serve_null(const LoadFlags& o) {
  const auto stop = stop_signals();
  const load::NullServer server(load::parse_null_service(o.null_server));
  print(server.url() + "\n");
  while (!asked_to_stop(stop.get(), 3600)) {
  }
  return 0;
}

void add_price(load::LoadResult& result, double price) {
  const auto tokens = result.points.back().output_tokens_per_second;
  if (!tokens || *tokens <= 0) {
    fail(ErrorKind::usage, "--price-per-hour: the server counts no output tokens, so there is no price of them.");
  }
  result.price_per_hour = price;
  result.price_per_million_output_tokens = price / (*tokens * 3600) * 1e6;
}

/// Refuses what contradicts itself, before anything is opened or started.
void check(const LoadFlags& o) {
  if (o.url.empty())
    fail(ErrorKind::usage, "which server? Such as assay load http://127.0.0.1:8000/v1/completions --rate 5.");
  if (o.gate && o.limits.empty()) fail(ErrorKind::usage, "--gate needs a limit, such as --slo 'ttft p90<500ms'.");
  if (o.gate && o.find_rate) fail(ErrorKind::usage, "--gate is for one rate; --find-rate looks for one.");
  const bool several = o.find_rate || o.rates.size() > 1 || o.runs.runs > 1;
  if (several && !o.stamps.empty()) {
    fail(ErrorKind::usage, "--stamps is for one run, and there are several; `assay export` has those of all.");
  }
  if (o.find_rate && o.rates.size() > 1)
    fail(ErrorKind::usage, "--find-rate begins at one rate; --rate has {}.", o.rates.size());
  if (o.find_rate && o.runs.runs > 1) fail(ErrorKind::usage, "--find-rate repeats runs by itself. Leave out --runs.");
  if (o.runs.start.empty() && o.runs.start_limit != LoadRunFlags{}.start_limit) {
    fail(ErrorKind::usage, "--start-limit is for a server that --start starts. Leave it out, or give --start.");
  }
}

int load_server(const LoadFlags& o) {
  if (!o.null_server.empty()) {
    if (!o.url.empty()) fail(ErrorKind::usage, "--null-server takes no URL: it is the server.");
    return serve_null(o);
  }
  check(o);
  const auto stop = stop_signals();
  const auto question = question_of(o, stop.get());
  load::LoadResult result;
  result.began_utc = utc_now();
  result.server = o.url.substr(0, o.url.find_first_of("?#"));
  result.api = question.sending.form.api;
  if (!o.model.empty()) result.model = o.model;
  result.stream = question.sending.form.stream;
  auto flags = o.runs;
  flags.certify = !o.no_certification;
  std::optional<load::RateQuestion> rates;
  if (o.find_rate) rates = rates_of(o, question);
  const bool several = o.find_rate || o.rates.size() > 1 || flags.runs > 1;
  LoadRuns runs(flags, question, result.server, !several || flags.work.quiet);
  if (rates) {
    runs.search(*rates, parse_seconds(o.most_time, "--most-time"), result);
  } else {
    runs.measure_rates(o.rates, result);
  }
  if (o.price > 0 && !result.points.empty()) add_price(result, o.price);
  if (!o.stamps.empty()) write_output(o.stamps, load::requests_csv(runs.last_requests()));
  answer(o.answer, report::load_document(result), [&] { return to_json(result); });
  if (runs.stopped()) return kExitStopped;
  if (result.points.empty()) return kExitUndecided;
  const auto unanswered = [](const load::LoadPoint& point) {
    return point.outcomes.count(load::RequestOutcome::ok) == 0;
  };
  if (std::any_of(result.points.begin(), result.points.end(), unanswered)) {
    std::fprintf(stderr, "assay: no request was answered; check the URL and what the server logs\n");
    return kExitFailedRuns;
  }
  return o.gate ? gate_of(result) : 0;
}

void add_load(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<LoadFlags>();
  add_load_flags(command, *o);
  command.footer(
      "Times count from the schedule, which is drawn first; docs/load.md says how.\n"
      "assay load http://127.0.0.1:8000/v1/completions --rate 5 --slo 'ttft p90<500ms'");
  command.callback([o, &invocation] { invocation.exit_code = load_server(*o); });
}

}  // namespace

const Command commands::load{
    "load", "Send requests to a server by a schedule: latencies, limits, and the rate it holds", add_load};

}  // namespace assay::cli
