#include "assay/report/subjects/load/load.hpp"

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

void add_volume(const LoadPoint& point, Document& document) {
  document.paragraph(fmt::format("{} requests: {}", point.requests, outcomes_text(point)));
  auto text = fmt::format("offered {}, answered {}", format_rate(point.offered_per_second),
                          format_rate(point.answered_per_second));
  if (point.goodput_per_second) text += fmt::format(", within all limits {}", format_rate(*point.goodput_per_second));
  if (point.output_tokens_per_second) {
    text += fmt::format(", tokens out {} by the server's count", format_rate(*point.output_tokens_per_second));
  }
  document.paragraph(text);
  if (point.chunks && !point.output_tokens) {
    document.paragraph(fmt::format(
        "{} pieces of text, and no `usage`: the server does not report tokens, so tpot is not known", *point.chunks));
  }
  if (point.cached_tokens.value_or(0) > 0 && point.input_tokens.value_or(0) > 0) {
    document.paragraph(
        fmt::format("{} of {} input tokens came from the server's cache", *point.cached_tokens, *point.input_tokens));
  }
  if (point.joules_per_output_token) {
    document.paragraph(
        fmt::format("energy of the machine: {:.3g} J for each token out", *point.joules_per_output_token));
  }
  if (point.growth > 0.05) {
    document.paragraph(fmt::format("latency grew by {} for each second of the schedule: the server did not keep up",
                                   format_duration(point.growth * 1e9)));
  }
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

Table times_table(const LoadPoint& point) {
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
  return table;
}

std::string verdict_text(const load::JudgedLimit& limit) {
  const auto name =
      fmt::format("{} p{:g} < {}", name_of(limit.metric), 100 * limit.quantile, format_duration(limit.limit_ns));
  const auto counts = fmt::format("{} of {} requests over it", limit.over, limit.requests);
  switch (limit.verdict) {
    case LimitVerdict::holds:
      return fmt::format("{}: HOLDS ({})", name, counts);
    case LimitVerdict::broken:
      return fmt::format("{}: BROKEN ({})", name, counts);
    case LimitVerdict::undecided:
      return fmt::format("{}: undecided ({}; about {:.0f} in a row count as one). Measure longer.", name, counts,
                         limit.design_effect);
    case LimitVerdict::too_few:
      return fmt::format("{}: no verdict: {} requests, and at least {} are needed", name, limit.requests, limit.needed);
    case LimitVerdict::generator_starved:
      return fmt::format("{}: no verdict: generator starved", name);
    case LimitVerdict::no_times:
      return fmt::format("{}: no verdict: no request has such a time", name);
  }
  return "";
}

void add_health(const load::ClientHealth& client, Document& document) {
  auto text = fmt::format("client: p99 {} late, {} of {} windows starved (budget {}), {:.0f} us of CPU a request",
                          format_duration(client.lateness_p99_ns), client.starved_windows, client.windows,
                          format_duration(client.lateness_budget_ns), client.cpu_per_request_ns * 1e-3);
  if (client.steal_ns) text += fmt::format(", steal {}", format_duration(static_cast<double>(*client.steal_ns)));
  document.paragraph(text);
  text = fmt::format("{} connections, at most {} requests at once", client.connections, client.most_under_way);
  if (client.waited_for_connection > 0) {
    text += fmt::format("; {} waited for one of {} connections, which counts (--connections)",
                        client.waited_for_connection, client.connection_cap);
  }
  document.item(text);
}

/// Of a client whose windows nobody watched.
std::string foreign_health_text(const std::string& client, const load::ClientHealth& health) {
  return fmt::format(
      "{}: p99 {} late by its own stamps; it does not say whether it was starved, so that limits have no verdict",
      client, format_duration(health.lateness_p99_ns));
}

std::string certification_text(const LoadPoint& point) {
  const auto& client = point.client;
  return fmt::format(
      "client alone, same schedule to the built-in server: p99 {} late, {} of {} windows starved, {:.0f} us of CPU a "
      "request, {:.1f} % of one CPU",
      format_duration(client.lateness_p99_ns), client.starved_windows, client.windows, client.cpu_per_request_ns * 1e-3,
      100 * client.cpu_share);
}

/// One line for each run: what was offered, what came, and how long it took.
Table curve_table(const std::vector<LoadPoint>& points) {
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
  return table;
}

void add_highest_rate(const load::FoundRate& found, const LoadPoint& last, const std::string& spent,
                      Document& document) {
  document.paragraph(fmt::format("highest rate within the limits: {}, 95 % interval {} to {} ({})",
                                 format_rate(*found.rate_per_second), format_rate(*found.low_per_second),
                                 format_rate(*found.high_per_second), spent));
  if (found.by_growth) {
    document.paragraph(
        "the queue grows beyond it before any limit is met: the interval is between runs that grow and do not");
  } else if (last.limits.size() > 1) {
    const auto& limit = last.limits[static_cast<std::size_t>(found.limit)];
    document.paragraph(
        fmt::format("the first limit that it meets is {} p{:g}", name_of(limit.metric), 100 * limit.quantile));
  }
  if (found.end == load::SearchEnd::spent)
    document.paragraph("the time or the requests were spent before the interval was as narrow as asked");
}

std::string no_rate_text(load::SearchEnd end, const std::string& spent) {
  using load::SearchEnd;
  switch (end) {
    case SearchEnd::above:
      return fmt::format("every rate that was tried holds, the highest included ({}). Raise --most-rate.", spent);
    case SearchEnd::below:
      return fmt::format("no rate that was tried holds, not even the lowest ({}).", spent);
    case SearchEnd::starved:
      return fmt::format("no rate: generator starved in too many runs ({}). Use an idle machine.", spent);
    default:
      return fmt::format("no rate: the search ended early ({}).", spent);
  }
}

void add_found(const load::LoadResult& result, Document& document) {
  const auto& found = *result.found;
  for (const auto& point : result.points) document.paragraph(load_progress(point));
  document.gap();
  const auto spent = fmt::format("{} requests in {} runs", found.requests, found.points.size());
  if (found.rate_per_second) return add_highest_rate(found, result.points.back(), spent, document);
  document.paragraph(no_rate_text(found.end, spent));
}

void add_curve(const load::LoadResult& result, Document& document) {
  document.paragraph(fmt::format("{} runs; times count from the schedule", result.points.size()));
  document.gap();
  document.add(curve_table(result.points));
  document.gap();
}

void add_point(const LoadPoint& point, Document& document) {
  document.paragraph(arrivals_text(point.arrivals));
  document.gap();
  add_volume(point, document);
  document.gap();
  if (!point.times.empty()) document.add(times_table(point));
  document.gap();
  for (const auto& limit : point.limits) document.paragraph(verdict_text(limit));
}

}  // namespace

std::string load_progress(const LoadPoint& point) {
  auto text = fmt::format("{}: {} requests", format_rate(point.arrivals.rate_per_second), point.requests);
  for (const auto& limit : point.limits) {
    text += fmt::format(", {} p{:g} {}", name_of(limit.metric), 100 * limit.quantile, words_of(name_of(limit.verdict)));
  }
  return text;
}

Document load_document(const load::LoadResult& result) {
  Document document;
  document.heading(fmt::format("{} ({}{}{})", fit(result.server, 200), name_of(result.api),
                               result.stream ? ", streamed" : "",
                               result.model ? ", model " + fit(*result.model, 60) : ""));
  if (result.points.empty()) {
    document.paragraph("nothing was sent");
    return document;
  }
  const auto& last = result.points.back();
  if (result.found) {
    add_found(result, document);
  } else if (result.points.size() > 1) {
    add_curve(result, document);
  } else {
    add_point(last, document);
  }
  if (result.client) {
    document.paragraph(foreign_health_text(*result.client, last.client));
  } else {
    add_health(last.client, document);
  }
  if (last.arrivals.kind == load::ArrivalKind::closed) {
    document.paragraph(
        "a closed loop sends less while a server is slow: its times say nothing of what users would wait");
  }
  if (result.certification) document.paragraph(certification_text(*result.certification));
  if (result.price_per_million_output_tokens) {
    document.paragraph(fmt::format("{:.4g} per million output tokens at {:.4g} an hour",
                                   *result.price_per_million_output_tokens, *result.price_per_hour));
  }
  if (result.campaign) document.paragraph(fmt::format("kept as campaign {}", result.campaign->substr(0, 8)));
  if (last.stopped) document.paragraph("stopped early: what was due by then is shown and not kept");
  return document;
}

}  // namespace assay::report
