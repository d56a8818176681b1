#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/load/client/client.hpp"
#include "assay/load/queries/point.hpp"
#include "assay/load/queries/stamps.hpp"
#include "assay/load/rate_search.hpp"
#include "assay/platform/energy.hpp"

namespace assay::load {

constexpr std::int64_t kLoadVersion = 1;

/// What one `assay load` found.
struct LoadResult {
  std::int64_t version = kLoadVersion;
  std::string began_utc;
  std::string server;  ///< http://HOST[:PORT]/PATH, without what follows a ?
  Api api = Api::http;
  std::optional<std::string> model;
  bool stream = false;
  std::optional<std::string> client;    ///< another program that sent, as its file says; null: Assay
  std::optional<std::string> campaign;  ///< id, under which the store has the runs; null where nothing was kept
  std::vector<LoadPoint> points;        ///< one for each run, also those of a search
  std::optional<FoundRate> found;
  /// The first seconds of the same schedule, sent to the built-in server: what the client alone can do here.
  std::optional<LoadPoint> certification;
  std::optional<double> price_per_hour;                   ///< of the server, as it was given
  std::optional<double> price_per_million_output_tokens;  ///< at the rate of the last point, or of the rate found
};

template <typename V>
void describe(V& v, LoadResult& r) {
  required(v, "version", r.version);
  v("began_utc", r.began_utc);
  required(v, "server", r.server);
  required(v, "api", r.api);
  v("model", r.model);
  v("stream", r.stream);
  v("client", r.client);
  v("campaign", r.campaign);
  required(v, "points", r.points);
  v("found", r.found);
  v("certification", r.certification);
  v("price_per_hour", r.price_per_hour);
  v("price_per_million_output_tokens", r.price_per_million_output_tokens);
}

/// What is measured, and how.
struct LoadQuestion {
  Target target;
  Sending sending;
  Arrivals arrivals;
  std::vector<TraceRow> trace;
  std::vector<Limit> limits;
  double lateness_budget_ns = 1e6;
  std::vector<platform::EnergyCounter> energy;  ///< of the machine that serves, where they can be read from here
};

/// Sends one schedule. The raw requests are left in `requests` where it is given.
LoadPoint measure_point(const LoadQuestion& question, std::vector<Request>* requests = nullptr);

/// Sends at most three seconds of the schedule to a built-in server of this process.
LoadPoint certify_client(const LoadQuestion& question);

/// Measures what a search asks for; null where the user asked to stop.
using MeasurePoint = std::function<std::optional<LoadPoint>(const LoadQuestion& question)>;

/// Searches the highest rate within the limits of `question`, for at most `most_seconds`. Each run has a warm-up of a
/// tenth of its length, a schedule and prompts of its own, and begins with an idle server.
FoundRate search_rate(const LoadQuestion& question, RateQuestion rates, double most_seconds,
                      const MeasurePoint& measure);

}  // namespace assay::load
