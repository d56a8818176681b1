#include "assay/predict/layer_sources/chakra_nodes.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/json.hpp"
#include "assay/core/text/number.hpp"
#include "assay/core/text/protobuf.hpp"
#include "assay/predict/layer_source.hpp"
#include "assay/predict/layer_sources/json_members.hpp"

namespace assay::predict {
namespace {

using protobuf::Fields;

constexpr JsonLimits kChakraLimits{1u << 30, 64, 200'000'000};
constexpr std::size_t kMostChakraNodes = 4'000'000;
constexpr std::size_t kMostDependencies = 100'000;  // of one node
constexpr double kMicrosecondSeconds = 1e-6;

// NodeType and CollectiveCommType of et_def.proto.
constexpr std::int64_t kCollectiveNode = 7;
constexpr std::int64_t kAllReduceType = 0;
constexpr std::int64_t kReduceScatterType = 7;

/// Bytes of the first tensor in "[[id, storage, offset, values, bytes of one, device], …]"; 0 where it is none.
double first_tensor_bytes(std::string_view text) {
  constexpr std::size_t kValues = 3;
  if (!text.starts_with("[[")) return 0;
  text.remove_prefix(2);
  double product = 1;
  for (std::size_t i = 0; i < kValues + 2; ++i) {
    const auto number = take_number<std::int64_t>(text);
    if (!number || *number < 0) return 0;
    if (i >= kValues) product *= static_cast<double>(*number);
    if (!text.starts_with(", ")) return 0;
    text.remove_prefix(2);
  }
  return product;
}

/// What PyTorch writes beside a node, in both encodings.
void take_attribute(const std::string& name, std::int64_t value, ChakraNode& node) {
  if (name == "seq_id") node.sequence = value;
  if (name == "scope") node.scope = value;
  if (name == "is_cpu_op") node.on_device = value == 0;
  if (name == "comm_type") node.adds_up = value == kAllReduceType || value == kReduceScatterType;
  if (name == "comm_size") node.collective_bytes = static_cast<double>(std::max<std::int64_t>(value, 0));
}

void read_attribute(std::string_view message, ChakraNode& node) {
  std::string name;
  std::optional<std::int64_t> value;
  Fields fields(message);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        name = text_of(*field);
        break;
      case 7:   // int32
      case 9:   // int64
      case 11:  // uint32
      case 13:  // uint64
      case 27:  // bool
        value = integer_of(*field);
        break;
      default:
        break;
    }
  }
  if (value) take_attribute(name, *value, node);
}

double bytes_of_inputs(std::string_view message) {
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1) return first_tensor_bytes(message_of(*field));
  }
  return 0;
}

ChakraNode node_of_message(std::string_view message) {
  ChakraNode node;
  std::vector<std::int64_t> callers;
  Fields fields(message);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        node.id = integer_of(*field);
        break;
      case 2:
        node.name = text_of(*field);
        break;
      case 3:
        node.is_collective = integer_of(*field) == kCollectiveNode;
        node.adds_up = node.is_collective;  // where no type is told, 0 is meant, which is an all-reduce
        break;
      case 4:
        add_integers(*field, kMostDependencies, callers);
        break;
      case 5:
        add_integers(*field, kMostDependencies, node.dependencies);
        break;
      case 7:
        node.seconds = kMicrosecondSeconds * static_cast<double>(static_cast<std::uint64_t>(integer_of(*field)));
        break;
      case 8:
        node.first_input_bytes = bytes_of_inputs(message_of(*field));
        break;
      case 10:
        read_attribute(message_of(*field), node);
        break;
      default:
        break;
    }
  }
  if (!callers.empty()) node.parent = callers.front();
  return node;
}

void need_room(const std::vector<ChakraNode>& nodes) {
  if (nodes.size() >= kMostChakraNodes) {
    fail(ErrorKind::bad_input, "there are more than {} nodes in it. Trace fewer steps.", kMostChakraNodes);
  }
}

std::vector<ChakraNode> nodes_of_protobuf(std::string_view trace) {
  std::vector<ChakraNode> nodes;
  try {
    protobuf::Messages messages(trace);
    static_cast<void>(messages.next());  // GlobalMetadata
    while (const auto message = messages.next()) {
      need_room(nodes);
      nodes.push_back(node_of_message(*message));
    }
  } catch (const protobuf::NoMessage& error) {
    fail(ErrorKind::bad_input,
         "this is neither JSON nor a Chakra trace in protobuf: {}. Write it with chakra_converter, or give the JSON of "
         "PyTorch's profiler.",
         error.what());
  }
  return nodes;
}

std::optional<std::int64_t> json_integer(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{1} << 62) return std::nullopt;
  return found->get<std::int64_t>();
}

/// In microseconds, as the profile has it that it was joined with.
double json_duration(const json& written) {
  const auto found = written.find("exclusive_dur");
  if (found == written.end() || !found->is_number()) return 0;
  return kMicrosecondSeconds * std::max(found->get<double>(), 0.0);
}

double json_first_input(const json& written) {
  const auto inputs = written.find("inputs");
  if (inputs == written.end() || !inputs->is_object()) return 0;
  const auto values = inputs->find("values");
  if (values == inputs->end() || !values->is_array() || values->empty()) return 0;
  const auto& tensor = values->front();
  if (!tensor.is_array() || tensor.size() < 5 || !tensor[3].is_number() || !tensor[4].is_number()) return 0;
  const double bytes = tensor[3].get<double>() * tensor[4].get<double>();
  return std::isfinite(bytes) ? std::max(bytes, 0.0) : 0;
}

ChakraNode node_of_json(const json& written) {
  ChakraNode node;
  node.id = json_integer(written, "id").value_or(0);
  node.name = member_text(written, "name");
  node.parent = json_integer(written, "ctrl_deps");
  node.seconds = json_duration(written);
  node.on_device = member_text(written, "cat") == "kernel";
  node.first_input_bytes = json_first_input(written);
  const auto attributes = written.find("attrs");
  if (attributes == written.end() || !attributes->is_array()) return node;
  for (const auto& one : *attributes) {
    if (!one.is_object()) continue;
    if (const auto value = json_integer(one, "value")) take_attribute(member_text(one, "name"), *value, node);
  }
  return node;
}

std::vector<ChakraNode> nodes_of_json(std::string_view trace) {
  const auto parsed = parse_json(trace, kChakraLimits);
  const auto written = parsed.is_object() ? parsed.find("nodes") : parsed.end();
  if (written == parsed.end() || !written->is_array()) {
    fail(ErrorKind::bad_input,
         "there are neither traceEvents nor nodes in it. Write it with PyTorch's profiler "
         "(export_chrome_trace), or its ExecutionTraceObserver.");
  }
  std::vector<ChakraNode> nodes;
  for (const auto& one : *written) {
    need_room(nodes);
    if (one.is_object()) nodes.push_back(node_of_json(one));
  }
  return nodes;
}

}  // namespace

std::vector<ChakraNode> chakra_nodes(std::string_view trace) {
  auto nodes = is_json_object(trace) ? nodes_of_json(trace) : nodes_of_protobuf(trace);
  if (nodes.empty()) fail(ErrorKind::bad_input, "it has no nodes.");
  std::stable_sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return nodes;
}

}  // namespace assay::predict
