#include "assay/load/queries/request.hpp"

namespace assay::load {

std::optional<double> time_ns(const Request& request, Metric metric, Since since) {
  if (request.outcome != RequestOutcome::ok) return std::nullopt;
  if (metric == Metric::tpot) {
    const auto tokens = request.output_tokens.value_or(0);
    if (tokens < 2 || !request.first_token_ns || !request.last_token_ns) return std::nullopt;
    return static_cast<double>(*request.last_token_ns - *request.first_token_ns) / static_cast<double>(tokens - 1);
  }
  const auto end = metric == Metric::ttft ? request.first_token_ns : request.finished_ns;
  const auto begin = since == Since::schedule ? std::optional(request.due_ns) : request.sent_ns;
  if (!end || !begin) return std::nullopt;
  return static_cast<double>(*end - *begin);
}

std::optional<std::int64_t> lateness_ns(const Request& request) {
  if (!request.noticed_ns) return std::nullopt;
  return *request.noticed_ns - request.due_ns;
}

}  // namespace assay::load
