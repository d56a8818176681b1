#include "assay/predict/layer_source.hpp"

#include <algorithm>

#include "assay/core/text/naming.hpp"
#include "assay/predict/layer_sources/json_members.hpp"

namespace assay::predict {
namespace {

constexpr JsonLimits kProfileLimits{1u << 30, 64, 100'000'000};
constexpr std::string_view kKernel = "_kernel_time";

/// Of a run of the model, or of one node in it; microseconds.
struct ProfiledSpan {
  std::string name;
  double begin = 0;
  double length = 0;
};

double member_number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::max(found->get<double>(), 0.0) : 0;
}

ProfiledSpan span_of(const json& event) {
  return {member_text(event, "name"), member_number(event, "ts"), member_number(event, "dur")};
}

/// "conv1 Conv"; the name without its ending.
std::string node_name(const json& event) {
  auto name = member_text(event, "name");
  name.resize(name.size() - kKernel.size());
  const auto args = event.find("args");
  const auto type = args != event.end() && args->is_object() ? member_text(*args, "op_name") : "";
  return type.empty() ? name : name + " " + type;
}

struct Profiled {
  std::vector<ProfiledSpan> runs;
  std::vector<ProfiledSpan> nodes;
};

Profiled profiled_in(const json& events) {
  Profiled found;
  for (const auto& event : events) {
    if (!event.is_object()) continue;
    const auto category = member_text(event, "cat");
    auto span = span_of(event);
    if (category == "Session" && span.name == "model_run") {
      found.runs.push_back(std::move(span));
    } else if (category == "Node" && span.name.ends_with(kKernel)) {
      span.name = node_name(event);
      found.nodes.push_back(std::move(span));
    }
  }
  return found;
}

/// A layer table from the profile of ONNX Runtime (`enable_profiling`): an array of events in Chrome's format.
///
/// A layer is a node that was run; of several runs (model_run) the one of median length is taken. Times are forward
/// times: such a profile is of inference, and it has no gradients.
///
/// Throws Error{bad_input} for what is not such a profile, or larger than 1 GiB, and where no node ran.
LayerTable read_onnxruntime(std::string_view text, const std::string& name, std::int64_t batch) {
  const auto events = naming(name, [&] { return parse_json(text, kProfileLimits); });
  if (!events.is_array()) {
    fail(ErrorKind::bad_input, "{}: this is not a profile of ONNX Runtime, which is an array of events.", name);
  }
  auto found = profiled_in(events);
  if (found.runs.empty() || found.nodes.empty()) {
    fail(ErrorKind::bad_input,
         "{}: {} runs of a model and {} nodes are in it. Profile at least one run (enable_profiling, then run and "
         "end_profiling).",
         name, found.runs.size(), found.nodes.size());
  }
  std::sort(found.runs.begin(), found.runs.end(), [](const auto& a, const auto& b) { return a.length < b.length; });
  const auto& run = found.runs[found.runs.size() / 2];
  LayerTable table;
  table.name = name;
  table.origin = Origin::imported;
  table.batch = batch;
  for (auto& node : found.nodes) {
    if (node.begin < run.begin || node.begin + node.length > run.begin + run.length) continue;
    table.layers.push_back({std::move(node.name), 1e-6 * node.length, 0, {}, 0});
  }
  if (table.layers.empty()) fail(ErrorKind::bad_input, "{}: no node is within the run of median length.", name);
  return table;
}

bool is_onnxruntime(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

}  // namespace

const LayerSource layer_sources::onnxruntime{is_onnxruntime, read_onnxruntime};

}  // namespace assay::predict
