#include "assay/predict/layer_source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "assay/core/text/naming.hpp"
#include "assay/predict/layer_sources/json_members.hpp"

namespace assay::predict {
namespace {

constexpr JsonLimits kTraceLimits{1u << 30, 64, 100'000'000};
constexpr const char* kEvaluate = "autograd::engine::evaluate_function: ";
constexpr const char* kAccumulate = "torch::autograd::AccumulateGrad";
constexpr double kMicrosecond = 1e-6;

/// One event of the trace, times in seconds.
struct TraceEvent {
  std::string name;
  std::string category;
  std::int64_t thread = 0;
  double begin = 0;
  double end = 0;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> external;
  double gradient_bytes = 0;  // of AccumulateGrad
  std::size_t top = 0;        // the operator that nobody called, in which this one ran

  double seconds() const { return end - begin; }
  bool holds(const TraceEvent& other) const { return begin <= other.begin && other.end <= end; }
};

using Events = std::vector<TraceEvent>;

std::optional<std::int64_t> integer_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  // Nodes without a number have the largest there is.
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{1} << 53) return std::nullopt;
  return found->get<std::int64_t>();
}

/// 0 where there is none.
double number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

double bytes_of_type(const std::string& type) {
  if (type == "double" || type == "long int") return 8;
  if (type == "c10::BFloat16" || type == "c10::Half") return 2;
  return 4;
}

/// Of the first input: dimensions by the size of a value.
double bytes_of_first_input(const json& args) {
  const auto shapes = args.find("Input Dims");
  if (shapes == args.end() || !shapes->is_array() || shapes->empty() || !shapes->front().is_array()) return 0;
  double values = 1;
  for (const auto& size : shapes->front()) values *= size.is_number() ? size.get<double>() : 1;
  if (!(values > 0) || !std::isfinite(values)) return 0;
  const auto types = args.find("Input type");
  const bool typed = types != args.end() && types->is_array() && !types->empty() && types->front().is_string();
  return values * bytes_of_type(typed ? types->front().get<std::string>() : "float");
}

TraceEvent event_of(const json& written) {
  TraceEvent event;
  event.name = member_text(written, "name");
  event.category = member_text(written, "cat");
  event.thread = integer_of(written, "tid").value_or(0);
  event.begin = kMicrosecond * number_of(written, "ts");
  event.end = event.begin + kMicrosecond * std::max(number_of(written, "dur"), 0.0);
  const auto args = written.find("args");
  if (args == written.end() || !args->is_object()) return event;
  event.sequence = integer_of(*args, "Sequence number");
  event.external = integer_of(*args, "External id");
  if (event.name == kAccumulate) event.gradient_bytes = bytes_of_first_input(*args);
  return event;
}

Events events_of(std::string_view text, const std::string& name) {
  const auto trace = naming(name, [&] { return parse_json(text, kTraceLimits); });
  const auto written = trace.is_object() ? trace.find("traceEvents") : trace.end();
  if (written == trace.end() || !written->is_array()) {
    fail(ErrorKind::bad_input, "{}: it has no traceEvents. Write it with profiler.export_chrome_trace().", name);
  }
  Events events;
  for (const auto& one : *written) {
    if (one.is_object() && member_text(one, "ph") == "X") events.push_back(event_of(one));
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  return events;
}

/// The step of median length, or all of the trace where steps were not marked.
TraceEvent chosen_step(const Events& events) {
  Events steps;
  for (const auto& event : events) {
    if (event.name.starts_with("ProfilerStep#") && event.category == "user_annotation") steps.push_back(event);
  }
  if (steps.empty()) {
    TraceEvent all;
    all.begin = -std::numeric_limits<double>::infinity();
    all.end = std::numeric_limits<double>::infinity();
    return all;
  }
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.seconds() < b.seconds(); });
  return steps[steps.size() / 2];
}

/// Operators of a step, each with the one that nobody called around it.
Events operators_in(const Events& events, const TraceEvent& step) {
  Events operators;
  std::map<std::int64_t, std::size_t> open;  // the top of each thread
  for (auto event : events) {
    if (event.category != "cpu_op" || !step.holds(event)) continue;
    const auto found = open.find(event.thread);
    const bool inside = found != open.end() && operators[found->second].holds(event);
    event.top = inside ? found->second : operators.size();
    open[event.thread] = event.top;
    operators.push_back(std::move(event));
  }
  return operators;
}

/// What an operator took on a device, by the number that kernels carry; 0 where there were none.
std::map<std::int64_t, double> kernel_seconds(const Events& events) {
  std::map<std::int64_t, double> seconds;
  for (const auto& event : events) {
    if (event.category == "kernel" && event.external) seconds[*event.external] += event.seconds();
  }
  return seconds;
}

/// Builds the table from the operators of a step.
class KinetoStep {
 public:
  KinetoStep(const Events& operators, const std::map<std::int64_t, double>& kernels) : operators_(operators) {
    on_device_.resize(operators.size(), 0);
    for (const auto& one : operators) {
      const auto found = one.external ? kernels.find(*one.external) : kernels.end();
      if (found != kernels.end()) on_device_[one.top] += found->second;
    }
    has_kernels_ = !kernels.empty();
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const auto& one = operators[i];
      // An operator shows the number that the next node will get, so that the last to show it made the node.
      if (one.sequence && !is_backward(one)) maker_[*one.sequence] = one.top;
    }
  }

  /// Autograd runs the backward pass on the thread that called it where there is no device: a node's own work counts
  /// as backward wherever it ran.
  std::vector<LayerTime> layers() {
    std::map<std::size_t, LayerTime> found;
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      const auto& one = operators_[i];
      if (one.name.starts_with(kEvaluate) && one.top == i) {
        if (const auto layer = maker_of(one)) {
          last = layer;
          found[*layer].backward_seconds += seconds_of(i);
        } else if (last) {
          found[*last].backward_seconds += seconds_of(i);
        }
      }
      if (one.gradient_bytes > 0 && last) found[*last].gradient_bytes.push_back(one.gradient_bytes);
    }
    for (auto& [index, layer] : found) {
      layer.name = fmt::format("{} {}", index, operators_[index].name);
      layer.forward_seconds = seconds_of(index);
    }
    add_unjoined(found);
    std::vector<LayerTime> in_order;
    for (auto& [index, layer] : found) in_order.push_back(std::move(layer));
    return in_order;
  }

 private:
  static bool is_backward(const TraceEvent& one) {
    return one.name.starts_with(kEvaluate) || one.name.find("Backward") != std::string::npos || one.name == kAccumulate;
  }

  std::optional<std::size_t> maker_of(const TraceEvent& node) const {
    if (!node.sequence) return std::nullopt;
    const auto found = maker_.find(*node.sequence);
    if (found == maker_.end()) return std::nullopt;
    return operators_[found->second].name.starts_with(kEvaluate) ? std::nullopt : std::optional(found->second);
  }

  double seconds_of(std::size_t index) const { return has_kernels_ ? on_device_[index] : operators_[index].seconds(); }

  /// Operators before the backward pass without a node of their own go to the layer before them.
  void add_unjoined(std::map<std::size_t, LayerTime>& layers) const {
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      if (operators_[i].name.starts_with(kEvaluate)) return;
      if (operators_[i].top != i || layers.count(i) > 0) continue;
      const auto next = layers.upper_bound(i);
      if (next != layers.begin()) std::prev(next)->second.forward_seconds += seconds_of(i);
    }
  }

  const Events& operators_;
  std::vector<double> on_device_;              // of operators that nobody called
  std::map<std::int64_t, std::size_t> maker_;  // sequence number to operator
  bool has_kernels_ = false;
};

/// What the profiler annotates itself: DataLoader, Optimizer.
double annotated_seconds(const Events& events, const TraceEvent& step, const std::string& beginning) {
  double seconds = 0;
  for (const auto& event : events) {
    if (event.category == "user_annotation" && event.name.starts_with(beginning) && step.holds(event)) {
      seconds += event.seconds();
    }
  }
  return seconds;
}

/// A layer table from what PyTorch's profiler wrote (`export_chrome_trace`, with record_shapes=True) of training steps.
///
/// A layer is an operator that no other operator called. Its backward time is that of the autograd nodes that it made,
/// which the profiler joins by their sequence number; its gradients are those that autograd accumulated right after
/// them. Where kernels ran on a device, their times count in place of the operators'. Of several steps
/// (ProfilerStep) the one of median length is taken. Loading and update are what DataLoader and Optimizer annotate.
///
/// Throws Error{bad_input} for what is not such a trace, or larger than 1 GiB, and where it has no backward pass or no
/// shapes.
LayerTable read_kineto(std::string_view text, const std::string& name, std::int64_t batch) {
  const auto events = events_of(text, name);
  const auto step = chosen_step(events);
  const auto operators = operators_in(events, step);
  LayerTable table = imported_table(name, batch);
  table.layers = KinetoStep(operators, kernel_seconds(events)).layers();
  if (!(table.backward_seconds() > 0)) {
    fail(ErrorKind::bad_input, "{}: it has no backward pass. Profile whole training steps.", name);
  }
  if (!(table.gradient_bytes() > 0)) {
    fail(ErrorKind::bad_input, "{}: it has no shapes of gradients. Profile with record_shapes=True.", name);
  }
  table.load_seconds = annotated_seconds(events, step, "enumerate(DataLoader)");
  table.update_seconds = annotated_seconds(events, step, "Optimizer.step");
  return table;
}

bool is_kineto(std::string_view text) {
  const auto has = [&](const char* key) { return text.find(key) != std::string_view::npos; };
  return is_json_object(text) && (has("\"traceEvents\"") || !has("\"nodes\""));
}

}  // namespace

const LayerSource layer_sources::kineto{is_kineto, read_kineto};

}  // namespace assay::predict
