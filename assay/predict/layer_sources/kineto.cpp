#include "assay/predict/layer_sources/kineto_ranks.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "assay/core/text/naming.hpp"
#include "assay/predict/traces/gpu_trace.hpp"
#include "assay/predict/traces/intervals.hpp"

namespace assay::predict {
namespace {

constexpr const char* kEvaluate = "autograd::engine::evaluate_function: ";
constexpr const char* kAccumulate = "torch::autograd::AccumulateGrad";

double seconds_between(std::int64_t begin_ns, std::int64_t end_ns) {
  return 1e-9 * static_cast<double>(end_ns - begin_ns);
}

template <typename Outer, typename Inner>
bool holds(const Outer& outer, const Inner& inner) {
  return outer.begin_ns <= inner.begin_ns && inner.end_ns <= outer.end_ns;
}

struct MarkedStep {
  std::string name;
  TimeSpan span;

  std::int64_t length_ns() const { return span.end_ns - span.begin_ns; }
};

/// All of the trace where steps were not marked.
std::vector<MarkedStep> marked_steps(const GpuTrace& trace) {
  std::vector<MarkedStep> steps;
  for (const auto& mark : trace.marks) {
    const auto& name = trace.name_of(mark.name);
    if (name.starts_with("ProfilerStep#")) steps.push_back({name, {mark.begin_ns, mark.end_ns}});
  }
  if (steps.empty()) steps.push_back({"the whole profile", {0, std::numeric_limits<std::int64_t>::max()}});
  return steps;
}

/// The step of median length.
TimeSpan chosen_step(const GpuTrace& trace) {
  auto steps = marked_steps(trace);
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.length_ns() < b.length_ns(); });
  return steps[steps.size() / 2].span;
}

/// An operator of the step, with the one that nobody called around it.
struct StepOperator {
  const HostOperator* written = nullptr;
  std::size_t top = 0;
};

using StepOperators = std::vector<StepOperator>;

StepOperators operators_in(const GpuTrace& trace, const TimeSpan& step) {
  StepOperators operators;
  std::map<std::int64_t, std::size_t> open;  // the top of each thread
  for (const auto& one : trace.operators) {
    if (!holds(step, one)) continue;
    const auto found = open.find(one.thread);
    const bool inside = found != open.end() && holds(*operators[found->second].written, one);
    const auto top = inside ? found->second : operators.size();
    open[one.thread] = top;
    operators.push_back({&one, top});
  }
  return operators;
}

/// What each operator that nobody called took on the device, and the rest of a step there. A work belongs to the
/// operator in which it was launched; where the launch is not in the trace, to the one whose number it carries.
struct DeviceSeconds {
  std::vector<double> of_top;
  double update = 0;     ///< launched by an optimizer
  double to_device = 0;  ///< copies from the host
};

class ProfiledKernels {
 public:
  ProfiledKernels(const GpuTrace& trace, const TimeSpan& step, const StepOperators& operators)
      : trace_(trace), step_(step), operators_(operators) {
    for (const auto& call : trace.calls) {
      if (call.correlation >= 0 && call.kind == RuntimeCallKind::launch) calls_.emplace(call.correlation, &call);
    }
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const auto& one = *operators[i].written;
      if (one.external >= 0) by_external_.emplace(one.external, operators[i].top);
      if (operators[i].top == i) tops_[one.thread].push_back(i);
    }
    for (const auto& mark : trace.marks) {
      if (trace.name_of(mark.name).starts_with("Optimizer.step")) updates_.push_back({mark.begin_ns, mark.end_ns});
    }
    updates_ = united(std::move(updates_));
  }

  DeviceSeconds sum() const {
    DeviceSeconds out;
    out.of_top.resize(operators_.size(), 0);
    for (const auto& work : trace_.works) {
      if (work.kind == GpuWorkKind::communication) continue;
      const double seconds = seconds_between(work.begin_ns, work.end_ns);
      const auto call = calls_.find(work.correlation);
      const bool in_step =
          call != calls_.end() && holds(step_, TimeSpan{call->second->begin_ns, call->second->begin_ns});
      if (work.kind == GpuWorkKind::copy && trace_.name_of(work.name).find("HtoD") != std::string::npos) {
        if (in_step) out.to_device += seconds;
      } else if (in_step && is_update(call->second->begin_ns)) {
        out.update += seconds;
      } else if (const auto top = call == calls_.end() ? by_number(work) : top_around(*call->second)) {
        out.of_top[*top] += seconds;
      }
    }
    return out;
  }

 private:
  bool is_update(std::int64_t at_ns) const {
    const auto after = std::partition_point(updates_.begin(), updates_.end(),
                                            [&](const TimeSpan& span) { return span.end_ns <= at_ns; });
    return after != updates_.end() && after->begin_ns <= at_ns;
  }

  std::optional<std::size_t> by_number(const GpuWork& work) const {
    const auto found = by_external_.find(work.external);
    return found == by_external_.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<std::size_t> top_around(const RuntimeCall& call) const {
    const auto thread = tops_.find(call.thread);
    if (thread == tops_.end()) return std::nullopt;
    const auto& tops = thread->second;
    const auto after = std::partition_point(
        tops.begin(), tops.end(), [&](std::size_t one) { return operators_[one].written->begin_ns <= call.begin_ns; });
    if (after == tops.begin() || operators_[*(after - 1)].written->end_ns < call.begin_ns) return std::nullopt;
    return *(after - 1);
  }

  const GpuTrace& trace_;
  const TimeSpan& step_;
  const StepOperators& operators_;
  std::unordered_map<std::int64_t, const RuntimeCall*> calls_;
  std::unordered_map<std::int64_t, std::size_t> by_external_;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> tops_;  // of each thread, in the order of time
  TimeSpans updates_;
};

/// Sizes of what was summed over ranks, and when: what operators of collectives show, else annotations of NCCL.
std::vector<std::pair<std::int64_t, double>> summed_bytes(const GpuTrace& trace, const TimeSpan& step) {
  std::vector<std::pair<std::int64_t, double>> found;
  for (const auto& one : trace.operators) {
    if (one.summed_bytes > 0 && holds(step, one)) found.emplace_back(one.begin_ns, one.summed_bytes);
  }
  if (!found.empty()) return found;
  for (const auto& mark : trace.marks) {
    const auto& name = trace.name_of(mark.name);
    const bool sums = name.find("all_reduce") != std::string::npos || name.find("reduce_scatter") != std::string::npos;
    if (sums && mark.first_input_bytes > 0 && holds(step, mark)) {
      found.emplace_back(mark.begin_ns, mark.first_input_bytes);
    }
  }
  return found;
}

/// Builds the table from the operators of a step.
class KinetoStep {
 public:
  KinetoStep(const GpuTrace& trace, const TimeSpan& step)
      : trace_(trace),
        operators_(operators_in(trace, step)),
        device_(ProfiledKernels(trace, step, operators_).sum()),
        summed_(summed_bytes(trace, step)) {
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      // An operator shows the number that the next node will get, so that the last to show it made the node.
      if (written(i).sequence >= 0 && !is_backward(name(i))) maker_[written(i).sequence] = operators_[i].top;
      accumulates_ = accumulates_ || (name(i) == kAccumulate && written(i).first_input_bytes > 0);
    }
  }

  const DeviceSeconds& device() const { return device_; }

  /// Autograd runs the backward pass on the thread that called it where there is no device: a node's own work counts
  /// as backward wherever it ran.
  std::vector<LayerTime> layers() {
    std::map<std::size_t, LayerTime> found;
    std::optional<std::size_t> last;
    auto summed = summed_.begin();
    const auto give_sums = [&](std::int64_t until_ns) {
      for (; summed != summed_.end() && summed->first < until_ns; ++summed) {
        if (last && !accumulates_) found[*last].gradient_bytes.push_back(summed->second);
      }
    };
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      give_sums(written(i).begin_ns);
      if (name(i).starts_with(kEvaluate) && operators_[i].top == i) {
        if (const auto layer = maker_of(i)) {
          last = layer;
          found[*layer].backward_seconds += seconds_of(i);
        } else if (last) {
          found[*last].backward_seconds += seconds_of(i);
        }
      }
      const bool gives = name(i) == kAccumulate && written(i).first_input_bytes > 0;
      if (gives && last) found[*last].gradient_bytes.push_back(written(i).first_input_bytes);
    }
    give_sums(std::numeric_limits<std::int64_t>::max());
    for (auto& [index, layer] : found) {
      layer.name = fmt::format("{} {}", index, name(index));
      layer.forward_seconds = seconds_of(index);
    }
    add_unjoined(found);
    std::vector<LayerTime> in_order;
    for (auto& [index, layer] : found) in_order.push_back(std::move(layer));
    return in_order;
  }

 private:
  const HostOperator& written(std::size_t index) const { return *operators_[index].written; }
  const std::string& name(std::size_t index) const { return trace_.name_of(written(index).name); }

  static bool is_backward(const std::string& name) {
    return name.starts_with(kEvaluate) || name.find("Backward") != std::string::npos || name == kAccumulate;
  }

  std::optional<std::size_t> maker_of(std::size_t node) const {
    const auto found = maker_.find(written(node).sequence);
    if (found == maker_.end() || name(found->second).starts_with(kEvaluate)) return std::nullopt;
    return found->second;
  }

  double seconds_of(std::size_t index) const {
    if (!trace_.works.empty()) return device_.of_top[index];
    return seconds_between(written(index).begin_ns, written(index).end_ns);
  }

  /// Operators before the backward pass without a node of their own go to the layer before them.
  void add_unjoined(std::map<std::size_t, LayerTime>& layers) const {
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      if (name(i).starts_with(kEvaluate)) return;
      if (operators_[i].top != i || layers.count(i) > 0) continue;
      const auto next = layers.upper_bound(i);
      if (next != layers.begin()) std::prev(next)->second.forward_seconds += seconds_of(i);
    }
  }

  const GpuTrace& trace_;
  StepOperators operators_;
  DeviceSeconds device_;
  std::vector<std::pair<std::int64_t, double>> summed_;
  std::map<std::int64_t, std::size_t> maker_;  // sequence number to operator
  bool accumulates_ = false;                   // autograd shows the sizes of gradients
};

/// What the profiler annotates itself: DataLoader, Optimizer.
double annotated_seconds(const GpuTrace& trace, const TimeSpan& step, const std::string& beginning) {
  double seconds = 0;
  for (const auto& mark : trace.marks) {
    if (trace.name_of(mark.name).starts_with(beginning) && holds(step, mark)) {
      seconds += seconds_between(mark.begin_ns, mark.end_ns);
    }
  }
  return seconds;
}

LayerTable table_of_step(const GpuTrace& trace, const TimeSpan& step, const std::string& name, std::int64_t batch) {
  KinetoStep profiled(trace, step);
  LayerTable table = imported_table(name, batch);
  table.layers = profiled.layers();
  table.load_seconds = annotated_seconds(trace, step, "enumerate(DataLoader)");
  table.transfer_seconds = profiled.device().to_device;
  table.update_seconds =
      profiled.device().update > 0 ? profiled.device().update : annotated_seconds(trace, step, "Optimizer.step");
  return table;
}

/// A layer table from what PyTorch's profiler wrote (`export_chrome_trace`) of training steps, packed by gzip or not.
///
/// A layer is an operator that no other operator called. Its backward time is that of the autograd nodes that it made,
/// which the profiler joins by their sequence number; its gradients are those that autograd accumulated right after
/// them (record_shapes=True), else what was summed over ranks there. Where kernels ran on a device, their times count
/// in place of the operators'; those of collectives count nowhere, for predict has laws for them. Of several steps
/// (ProfilerStep) the one of median length is taken. Loading is what DataLoader annotates; the update is the kernels
/// that an Optimizer launched, or what it annotates where there are none.
///
/// Throws Error{bad_input} for what is not such a trace, or larger than 1 GiB, and where it has no backward pass or no
/// sizes of gradients.
LayerTable read_kineto(std::string_view text, const std::string& name, std::int64_t batch) {
  const auto trace = read_gpu_trace(text, name);
  auto table = table_of_step(trace, chosen_step(trace), name, batch);
  need_training(table, name);
  return table;
}

bool is_kineto(std::string_view text) {
  const auto has = [&](const char* key) { return text.find(key) != std::string_view::npos; };
  return is_json_object(text) && (has("\"traceEvents\"") || !has("\"nodes\""));
}

}  // namespace

void need_training(const LayerTable& table, const std::string& name) {
  if (!(table.backward_seconds() > 0)) {
    fail(ErrorKind::bad_input, "{}: it has no backward pass. Profile whole training steps.", name);
  }
  if (table.gradient_bytes() > 0) return;
  fail(ErrorKind::bad_input,
       "{}: it has no shapes of gradients, and no all-reduce or reduce-scatter shows its size. Profile with "
       "record_shapes=True.",
       name);
}

RankSteps rank_steps(std::string_view text, const std::string& name, std::int64_t batch) {
  const auto trace = read_gpu_trace(text, name);
  RankSteps out;
  out.file = {name, trace.rank, trace.job_ranks};
  const auto steps = marked_steps(trace);
  if (steps.size() > kMostRankSteps) {
    fail(ErrorKind::bad_input, "{}: it has {} steps; of ranks that are read together at most {} are. Profile fewer.",
         name, steps.size(), kMostRankSteps);
  }
  for (const auto& step : steps) {
    out.steps.push_back(
        {step.name, 1e-9 * static_cast<double>(step.length_ns()), table_of_step(trace, step.span, name, batch)});
  }
  return out;
}

const LayerSource layer_sources::kineto{is_kineto, read_kineto};

}  // namespace assay::predict
