#include "assay/load/result_source.hpp"

#include <algorithm>

#include "assay/core/error.hpp"

namespace assay::load {

namespace result_sources {

void from_first_due(std::vector<Request>& requests) {
  std::stable_sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) { return a.due_ns < b.due_ns; });
  if (requests.empty()) return;
  const auto origin = requests.front().due_ns;
  for (auto& request : requests) {
    request.due_ns -= origin;
    for (auto* stamp : {&request.noticed_ns, &request.connected_ns, &request.sent_ns, &request.first_byte_ns,
                        &request.first_token_ns, &request.last_token_ns, &request.finished_ns}) {
      if (*stamp) **stamp -= origin;
    }
  }
}

}  // namespace result_sources

bool is_load_result(std::string_view text) {
  return result_sources::is_aiperf(text) || result_sources::is_guidellm(text);
}

std::vector<ImportedRun> import_load(std::string_view text) {
  auto runs = result_sources::is_aiperf(text) ? result_sources::read_aiperf(text) : result_sources::read_guidellm(text);
  if (runs.empty()) fail(ErrorKind::bad_input, "the file has no requests.");
  return runs;
}

}  // namespace assay::load
