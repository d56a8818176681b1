#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/load/queries/request.hpp"
#include "assay/load/queries/schedule.hpp"

namespace assay::load {

/// Requests that another program has sent, as its result file says.
struct ImportedRun {
  std::string client;  ///< "GuideLLM 0.8.1"
  Arrivals arrivals;   ///< as far as the file says
  std::vector<Request> requests;
};

/// Whether a text begins like a result file that import_load() reads.
bool is_load_result(std::string_view text);

/// Reads what AIPerf writes as profile_export.jsonl, or GuideLLM as benchmarks.json, within limits: 1 GiB, a million
/// requests. A request is due when the file says that it was scheduled: `targeted_start` of GuideLLM, the moment at
/// which AIPerf's rate limiter let it go; where it says nothing, when it was sent. Throws Error{bad_input} that names
/// the place, also where a file keeps only a sample of its requests.
std::vector<ImportedRun> import_load(std::string_view text);

namespace result_sources {

bool is_aiperf(std::string_view text);
bool is_guidellm(std::string_view text);
std::vector<ImportedRun> read_aiperf(std::string_view text);
std::vector<ImportedRun> read_guidellm(std::string_view text);

constexpr std::size_t kMostRequests = 1'000'000;

/// Puts requests in order and makes their times count from the first that was due. They have nanoseconds of the epoch
/// until then.
void from_first_due(std::vector<Request>& requests);

}  // namespace result_sources
}  // namespace assay::load
