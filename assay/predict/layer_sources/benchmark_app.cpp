#include "assay/core/text/number.hpp"
#include "assay/predict/layer_source.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "assay/core/text/naming.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/predict/layer_sources/json_members.hpp"

namespace assay::predict {
namespace {

constexpr JsonLimits kReportLimits{256u << 20, 64, 20'000'000};
constexpr std::size_t kMostReportBytes = 256u << 20;
constexpr std::size_t kMostReportedLayers = 2'000'000;
constexpr std::size_t kMostNameBytes = 400;
constexpr const char* kAskCounters =
    "Have benchmark_app write -report_type detailed_counters or average_counters to a -report_folder.";

/// One request: its executed nodes in order.
using Request = std::vector<LayerTime>;

double request_seconds(const Request& request) {
  return std::accumulate(request.begin(), request.end(), 0.0,
                         [](double sum, const auto& layer) { return sum + layer.forward_seconds; });
}

/// Milliseconds as both releases write them; null where it is no number from 0 on.
std::optional<double> milliseconds_of(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

/// The tool in C++ writes EXECUTED, the one in Python Status.EXECUTED.
bool was_executed(std::string_view status) {
  return status == "EXECUTED" || status == "Status.EXECUTED";
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const auto end = std::min(line.find(';', at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  if (cells.size() > 1 && cells.back().empty()) cells.pop_back();
  return cells;
}

/// A row of the CSV is name, status, type, kernel, real time, CPU time; the name itself may have semicolons.
void add_row(std::string_view line, std::size_t number, Request& request) {
  const auto cells = cells_of(line);
  if (cells.size() < 6) fail(ErrorKind::bad_input, "line {}: a layer has six cells, with semicolons between.", number);
  const auto from_end = [&](std::size_t i) { return cells[cells.size() - i]; };
  const auto real = milliseconds_of(from_end(2));
  if (!real) fail(ErrorKind::bad_input, "line {}: {} is not a time.", number, printable(from_end(2), 60));
  if (!was_executed(from_end(5))) return;
  const auto name = line.substr(0, static_cast<std::size_t>(from_end(5).data() - line.data()) - 1);
  request.push_back({printable(name, kMostNameBytes) + " " + printable(from_end(4), 60), 1e-3 * *real, 0, {}, 0});
}

std::vector<Request> requests_of_csv(std::string_view text) {
  if (text.size() > kMostReportBytes) fail(ErrorKind::bad_input, "it is larger than 256 MiB. Run fewer requests.");
  std::vector<Request> requests;
  std::size_t number = 0;
  std::size_t layers = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("layerName;execStatus;")) {
      requests.emplace_back();
      inside = true;
    } else if (line.starts_with("layerName")) {
      fail(ErrorKind::bad_input, "line {}: sorted layers have lost their order. {}", number, kAskCounters);
    } else if (line.empty() || line.starts_with("Total;")) {
      inside = false;
    } else if (inside) {
      add_row(line, number, requests.back());
      if (++layers > kMostReportedLayers) fail(ErrorKind::bad_input, "it has more than 2 million layers.");
    }
  }
  return requests;
}

/// Of a member that is text or a number.
std::optional<double> json_milliseconds(const json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end()) return std::nullopt;
  if (found->is_string()) return milliseconds_of(found->get_ref<const std::string&>());
  const bool good = found->is_number() && found->get<double>() >= 0 && std::isfinite(found->get<double>());
  return good ? std::optional(found->get<double>()) : std::nullopt;
}

Request request_of_json(const json& written) {
  const auto nodes = written.find("nodes");
  if (nodes == written.end() || !nodes->is_array()) {
    fail(ErrorKind::bad_input, "a request has no nodes. {}", kAskCounters);
  }
  Request request;
  for (const auto& node : *nodes) {
    if (!node.is_object()) fail(ErrorKind::bad_input, "a node is not an object.");
    if (!was_executed(member_text(node, "status"))) continue;
    const auto real = json_milliseconds(node, "real_time");
    if (!real) fail(ErrorKind::bad_input, "the node {} has no real_time.", printable(member_text(node, "name"), 60));
    request.push_back(
        {printable(member_text(node, "name"), kMostNameBytes) + " " + printable(member_text(node, "node_type"), 60),
         1e-3 * *real,
         0,
         {},
         0});
  }
  return request;
}

std::vector<Request> requests_of_json(std::string_view text) {
  const auto report = parse_json(text, kReportLimits);
  if (member_text(report, "report_type") == "sorted") {
    fail(ErrorKind::bad_input, "sorted layers have lost their order. {}", kAskCounters);
  }
  if (const auto all = report.find("detailed_performance"); all != report.end() && all->is_array()) {
    std::vector<Request> requests;
    for (const auto& one : *all) requests.push_back(request_of_json(one));
    return requests;
  }
  const auto average = report.find("avg_performance");
  if (average == report.end()) fail(ErrorKind::bad_input, "it has no layers. {}", kAskCounters);
  auto request = request_of_json(*average);
  if (average->at("nodes").size() == 1) {
    fail(ErrorKind::bad_input,
         "it has one layer only: benchmark_app in Python loses the others when it writes averages as JSON. Have it "
         "write -report_type detailed_counters, or averages as CSV.");
  }
  return {std::move(request)};
}

/// A layer table from what OpenVINO's benchmark_app writes with -report_type average_counters or detailed_counters, as
/// CSV or (-json_stats) JSON. A layer is a node that was executed, with its real time; of several requests the one of
/// median length is taken. Times are forward times: it has no gradients.
///
/// Throws Error{bad_input} for what is not such a report, is a summary without layers, or sorted and so without order.
LayerTable read_benchmark_app(std::string_view text, const std::string& name, std::int64_t batch) {
  auto requests = naming(name, [&] {
    const auto first = text.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string_view::npos && text[first] == '{';
    return is_json ? requests_of_json(text) : requests_of_csv(text);
  });
  requests.erase(std::remove_if(requests.begin(), requests.end(), [](const auto& one) { return one.empty(); }),
                 requests.end());
  if (requests.empty()) fail(ErrorKind::bad_input, "{}: it has no executed layers. {}", name, kAskCounters);
  std::stable_sort(requests.begin(), requests.end(),
                   [](const auto& a, const auto& b) { return request_seconds(a) < request_seconds(b); });
  LayerTable table = imported_table(name, batch);
  table.layers = std::move(requests[requests.size() / 2]);
  return table;
}

bool is_benchmark_app(std::string_view text) {
  const auto first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const auto has = [&](const char* key) { return text.find(key) != std::string_view::npos; };
  return text.substr(first, 9) == "layerName" ||
         (is_json_object(text) && (has("\"report_type\"") || has("\"execution_results\"")));
}

}  // namespace

const LayerSource layer_sources::benchmark_app{is_benchmark_app, read_benchmark_app};

}  // namespace assay::predict
