#include "assay/report/subjects/load.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using load::LimitVerdict;
using load::LoadPoint;

std::string arrivals_text(const load::Arrivals& a) {
  std::string text;
  if (a.kind == load::ArrivalKind::closed) {
    text = fmt::format("closed loop of {} clients", a.clients.value_or(1));
  } else if (a.kind == load::ArrivalKind::trace) {
    text = "the times of a trace";
  } else {
    text = fmt::format("{} at {}", name_of(a.kind), format_rate(a.rate_per_second));
  }
  if (a.requests) {
    text += fmt::format(", {} requests", *a.requests);
  } else {
    text += fmt::format(" for {}", format_duration(a.duration_seconds * 1e9));
  }
  if (a.warm_up_seconds > 0) text += fmt::format(" after {} of warm-up", format_duration(a.warm_up_seconds * 1e9));
  return fmt::format("{}, seed {}", text, a.seed);
}

std::string outcomes_text(const LoadPoint& point) {
  std::string text;
  for (const auto& [outcome, count] : point.outcomes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, words_of(name_of(outcome)));
  }
  return text;
}

std::string volume_text(const LoadPoint& point) {
  auto text = fmt::format("{} requests: {}\n", point.requests, outcomes_text(point));
  text += fmt::format("offered {}, answered {}", format_rate(point.offered_per_second),
                      format_rate(point.answered_per_second));
  if (point.goodput_per_second) text += fmt::format(", within all limits {}", format_rate(*point.goodput_per_second));
  if (point.output_tokens_per_second) {
    text += fmt::format(", tokens out {} by the server's count", format_rate(*point.output_tokens_per_second));
  }
  text += '\n';
  if (point.chunks && !point.output_tokens) {
    text += fmt::format("{} pieces of text, and no `usage`: the server counts no tokens, so there is no tpot\n",
                        *point.chunks);
  }
  if (point.cached_tokens.value_or(0) > 0 && point.input_tokens.value_or(0) > 0) {
    text +=
        fmt::format("{} of {} input tokens came from the server's cache\n", *point.cached_tokens, *point.input_tokens);
  }
  if (point.joules_per_output_token) {
    text += fmt::format("energy of the machine: {:.3g} J for each token out\n", *point.joules_per_output_token);
  }
  if (point.growth > 0.05) {
    text += fmt::format("latency grew by {} for each second of the schedule: the server did not keep up\n",
                        format_duration(point.growth * 1e9));
  }
  return text;
}

std::string quantile_cell(const std::vector<load::TimeQuantile>& quantiles, double quantile) {
  for (const auto& one : quantiles) {
    if (one.quantile == quantile) return one.ns ? format_duration(*one.ns) : "not answered";
  }
  return "-";
}

/// Of the highest quantile that has enough requests.
std::string interval_cell(const std::vector<load::TimeQuantile>& quantiles) {
  if (quantiles.empty()) return "";
  const auto& last = quantiles.back();
  const auto end = [](const std::optional<double>& ns) { return ns ? format_duration(*ns) : std::string("?"); };
  return fmt::format("p{:g}: {} to {}", 100 * last.quantile, end(last.low_ns), end(last.high_ns));
}

std::string times_text(const LoadPoint& point, const Look& look) {
  using Align = Table::Align;
  Table table({{"time"},
               {"counted from"},
               {"p50", Align::right},
               {"p90", Align::right},
               {"p95", Align::right},
               {"p99", Align::right},
               {"95 % interval", Align::right, 1}});
  const auto add = [&](const load::TimeSummary& times, const std::vector<load::TimeQuantile>& quantiles,
                       const char* since) {
    table.add({name_of(times.metric), since, quantile_cell(quantiles, 0.5), quantile_cell(quantiles, 0.9),
               quantile_cell(quantiles, 0.95), quantile_cell(quantiles, 0.99), interval_cell(quantiles)});
  };
  for (const auto& times : point.times) {
    const bool per_token = times.metric == load::Metric::tpot;
    add(times, times.from_schedule, per_token ? "first token" : "schedule");
    if (!per_token) add(times, times.from_send, "send");
  }
  return point.times.empty() ? "" : table.text(look.width) + table.room_note(look.width);
}

std::string verdict_text(const load::JudgedLimit& limit) {
  const auto name =
      fmt::format("{} p{:g} < {}", name_of(limit.metric), 100 * limit.quantile, format_duration(limit.limit_ns));
  const auto counts = fmt::format("{} of {} requests over it", limit.over, limit.requests);
  switch (limit.verdict) {
    case LimitVerdict::holds:
      return fmt::format("{}: HOLDS ({})\n", name, counts);
    case LimitVerdict::broken:
      return fmt::format("{}: BROKEN ({})\n", name, counts);
    case LimitVerdict::undecided:
      return fmt::format("{}: undecided ({}; about {:.0f} in a row count as one). Measure longer.\n", name, counts,
                         limit.design_effect);
    case LimitVerdict::too_few:
      return fmt::format("{}: no verdict: {} requests, and at least {} are needed\n", name, limit.requests,
                         limit.needed);
    case LimitVerdict::generator_starved:
      return fmt::format("{}: no verdict: generator starved\n", name);
    case LimitVerdict::no_times:
      return fmt::format("{}: no verdict: no request has such a time\n", name);
  }
  return "";
}

std::string health_text(const load::ClientHealth& client) {
  auto text = fmt::format("client: p99 {} late, {} of {} windows starved (budget {}), {:.0f} us of CPU a request",
                          format_duration(client.lateness_p99_ns), client.starved_windows, client.windows,
                          format_duration(client.lateness_budget_ns), client.cpu_per_request_ns * 1e-3);
  if (client.steal_ns) text += fmt::format(", steal {}", format_duration(static_cast<double>(*client.steal_ns)));
  text +=
      fmt::format("\n        {} connections, at most {} requests at once", client.connections, client.most_under_way);
  if (client.waited_for_connection > 0) {
    text += fmt::format("; {} waited for one of {} connections, which counts (--connections)",
                        client.waited_for_connection, client.connection_cap);
  }
  return text + "\n";
}

/// Of a client whose windows nobody watched.
std::string foreign_health_text(const std::string& client, const load::ClientHealth& health) {
  return fmt::format(
      "{}: p99 {} late by its own stamps; it does not say whether it was starved, so that limits have no verdict\n",
      client, format_duration(health.lateness_p99_ns));
}

std::string certification_text(const LoadPoint& point) {
  const auto& client = point.client;
  return fmt::format(
      "client alone, same schedule to the built-in server: p99 {} late, {} of {} windows starved, {:.0f} us of CPU a "
      "request, {:.1f} % of one CPU\n",
      format_duration(client.lateness_p99_ns), client.starved_windows, client.windows, client.cpu_per_request_ns * 1e-3,
      100 * client.cpu_share);
}

/// One line for each run: what was offered, what came, and how long it took.
std::string curve_text(const std::vector<LoadPoint>& points, const Look& look) {
  using Align = Table::Align;
  Table table({{"rate", Align::right},
               {"offered", Align::right},
               {"answered", Align::right},
               {"tokens out", Align::right},
               {"ttft p50", Align::right},
               {"p90", Align::right},
               {"latency p50", Align::right},
               {"p90", Align::right},
               {"p99", Align::right},
               {"limits"}});
  for (const auto& point : points) {
    const auto cell = [&](load::Metric metric, double quantile) -> std::string {
      for (const auto& times : point.times) {
        if (times.metric == metric) return quantile_cell(times.from_schedule, quantile);
      }
      return "-";
    };
    std::string limits;
    for (const auto& limit : point.limits) limits += (limits.empty() ? "" : ", ") + words_of(name_of(limit.verdict));
    if (point.limits.empty()) limits = is_client_starved(point.client) ? "generator starved" : "-";
    table.add({format_rate(point.arrivals.rate_per_second), format_rate(point.offered_per_second),
               format_rate(point.answered_per_second),
               point.output_tokens_per_second ? format_rate(*point.output_tokens_per_second) : "-",
               cell(load::Metric::ttft, 0.5), cell(load::Metric::ttft, 0.9), cell(load::Metric::latency, 0.5),
               cell(load::Metric::latency, 0.9), cell(load::Metric::latency, 0.99), limits});
  }
  return table.text(look.width) + table.room_note(look.width);
}

std::string found_text(const load::FoundRate& found, const LoadPoint& last) {
  using load::SearchEnd;
  const auto spent = fmt::format("{} requests in {} runs", found.requests, found.points.size());
  if (found.rate_per_second) {
    auto text = fmt::format("highest rate within the limits: {}, 95 % interval {} to {} ({})\n",
                            format_rate(*found.rate_per_second), format_rate(*found.low_per_second),
                            format_rate(*found.high_per_second), spent);
    if (found.by_growth) {
      text += "the queue grows beyond it before any limit is met: the interval is between runs that grow and do not\n";
    } else if (last.limits.size() > 1) {
      const auto& limit = last.limits[static_cast<std::size_t>(found.limit)];
      text += fmt::format("the first limit that it meets is {} p{:g}\n", name_of(limit.metric), 100 * limit.quantile);
    }
    if (found.end == SearchEnd::spent)
      text += "the time or the requests were spent before the interval was as narrow as asked\n";
    return text;
  }
  switch (found.end) {
    case SearchEnd::above:
      return fmt::format("every rate that was tried holds, the highest included ({}). Raise --most-rate.\n", spent);
    case SearchEnd::below:
      return fmt::format("no rate that was tried holds, not even the lowest ({}).\n", spent);
    case SearchEnd::starved:
      return fmt::format("no rate: generator starved in too many runs ({}). Use an idle machine.\n", spent);
    default:
      return fmt::format("no rate: the search ended early ({}).\n", spent);
  }
}

}  // namespace

std::string load_progress(const LoadPoint& point) {
  auto text = fmt::format("{}: {} requests", format_rate(point.arrivals.rate_per_second), point.requests);
  for (const auto& limit : point.limits) {
    text += fmt::format(", {} p{:g} {}", name_of(limit.metric), 100 * limit.quantile, words_of(name_of(limit.verdict)));
  }
  return text;
}

std::string load_report(const load::LoadResult& result, const Look& look) {
  auto text = fmt::format("{} ({}{}{})\n", fit(result.server, 200), name_of(result.api),
                          result.stream ? ", streamed" : "", result.model ? ", model " + fit(*result.model, 60) : "");
  if (result.points.empty()) return text + "nothing was sent\n";
  const auto& last = result.points.back();
  const auto health = result.client ? foreign_health_text(*result.client, last.client) : health_text(last.client);
  if (result.found) {
    for (const auto& point : result.points) text += load_progress(point) + "\n";
    text += "\n" + found_text(*result.found, last) + health;
  } else if (result.points.size() > 1) {
    text += fmt::format("{} runs; times count from the schedule\n\n", result.points.size());
    text += curve_text(result.points, look) + "\n" + health;
  } else {
    text += arrivals_text(last.arrivals) + "\n\n" + volume_text(last) + "\n" + times_text(last, look) + "\n";
    for (const auto& limit : last.limits) text += verdict_text(limit);
    text += health;
  }
  if (last.arrivals.kind == load::ArrivalKind::closed) {
    text += "a closed loop sends less while a server is slow: its times say nothing of what users would wait\n";
  }
  if (result.certification) text += certification_text(*result.certification);
  if (result.price_per_million_output_tokens) {
    text += fmt::format("{:.4g} per million output tokens at {:.4g} an hour\n", *result.price_per_million_output_tokens,
                        *result.price_per_hour);
  }
  if (result.campaign) text += fmt::format("kept as campaign {}\n", result.campaign->substr(0, 8));
  if (last.stopped) text += "stopped early: what was due by then is shown and not kept\n";
  return text;
}

}  // namespace assay::report
