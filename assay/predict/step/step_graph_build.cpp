#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "assay/core/error.hpp"
#include "assay/predict/step/pipeline_order.hpp"
#include "assay/predict/step/step_graph.hpp"

namespace assay::predict {
namespace {

constexpr std::size_t kNotYet = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kPassKinds = 3;
constexpr double kNodesOfABlock = 4;  // computing, sums, gathers and an exchange, at most

PassSeconds pass_times(const PassSeconds& pass, double factor) {
  return {factor * pass.compute,  factor * pass.sums,     factor * pass.gathers,
          factor * pass.together, factor * pass.exchange, factor * pass.hand_on};
}

const char* compute_name(PassKind kind) {
  switch (kind) {
    case PassKind::forward:
      return "forward";
    case PassKind::backward:
      return "backward";
    case PassKind::weights:
      return "gradients of weights";
  }
  return "";
}

/// Adds passes to a graph, stage by stage.
class GraphOfPasses {
 public:
  GraphOfPasses(const StepWork& work, const StepPlan& plan, const StepConstants& constants, std::size_t most_nodes)
      : seconds_(step_seconds(work, plan, constants)),
        bubble_(plan.pipeline > 1 ? constants.bubble : 1),
        stages_(plan.pipeline),
        microbatches_(std::max<std::int64_t>(1, std::llround(work.microbatches))),
        parts_(plan.pipeline > 1 && plan.schedule != PipelineSchedule::zero_bubble ? plan.interleaving : 1),
        layers_(work.layers / static_cast<double>(parts_)),
        tails_(static_cast<std::size_t>(stages_)) {
    graph_.stages = stages_;
    const bool apart = plan.pipeline > 1 && plan.schedule == PipelineSchedule::zero_bubble;
    const double third = seconds_.stage() / 3;  // as the law has it, the three passes are equally long
    const double part = 1 / static_cast<double>(parts_);
    passes_ = {pass_times(seconds_.forward, apart ? third / seconds_.forward.total() : part),
               pass_times(seconds_.backward, apart ? third / seconds_.backward.total() : part),
               pass_times(seconds_.backward, apart ? third / seconds_.backward.total() : 0)};
    if (parts_ > 1 && microbatches_ % stages_ != 0) {
      fail(ErrorKind::usage,
           "{} microbatches cannot be interleaved over {} stages, which have to divide them. Change --global-batch or "
           "--microbatch, or leave out --interleave.",
           microbatches_, stages_);
    }
    const double count = static_cast<double>(stages_ * parts_) * static_cast<double>(microbatches_) * (apart ? 3 : 2);
    const auto most = static_cast<double>(most_nodes);
    if (count > most) {
      fail(ErrorKind::usage,
           "the step has {:.0f} passes of stages; at most {} are drawn or simulated. Take fewer "
           "sequences in --global-batch, a larger --microbatch or more devices.",
           count, most_nodes);
    }
    const double blocks = std::ceil(layers_ - 1e-9);
    blocks_ = count * blocks * kNodesOfABlock <= most ? static_cast<std::int64_t>(blocks) : 1;
    begun_.assign(static_cast<std::size_t>(stages_ * parts_ * microbatches_) * kPassKinds, kNotYet);
    over_ = begun_;
  }

  /// Every pass of every stage, each after those that it waits for.
  void add_all(PipelineSchedule how) {
    std::vector<std::vector<Pass>> orders;
    for (std::int64_t stage = 0; stage < stages_; ++stage) {
      orders.push_back(pipeline_order(how, stage, stages_, microbatches_, parts_));
    }
    std::vector<std::size_t> next(orders.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t stage = 0; stage < orders.size(); ++stage) {
        while (next[stage] < orders[stage].size() &&
               add(static_cast<std::int64_t>(stage), orders[stage][next[stage]])) {
          ++next[stage];
          moved = true;
        }
      }
    }
    for (std::size_t stage = 0; stage < orders.size(); ++stage) ASSAY_CHECK(next[stage] == orders[stage].size());
  }

  /// Gradients of replicas, as late under the last passes as the law lets them begin, and the update.
  StepGraph ended() {
    const auto so_far = schedule(graph_);
    for (std::int64_t stage = 0; stage < stages_; ++stage) {
      auto& tail = tails_[static_cast<std::size_t>(stage)];
      double end = 0;
      for (const auto node : tail) end = std::max(end, so_far.begin_seconds[node] + graph_.nodes[node].seconds);
      auto waits = ends(tail);
      if (seconds_.gradients > 0) {
        const double begin = end - seconds_.hidden_gradients;
        std::vector<StepEdge> after;
        if (const auto under = last_before(so_far, stage, begin)) {
          after.push_back({*under, begin - so_far.begin_seconds[*under]});
        }
        waits.push_back(push({"gradients", stage, StepStream::gradients, seconds_.gradients, 0, -1, after}));
      }
      if (seconds_.update > 0) {
        static_cast<void>(push({"update", stage, StepStream::compute, seconds_.update, 0, -1, waits}));
      }
    }
    return std::move(graph_);
  }

 private:
  struct Other {
    std::int64_t stage;
    Pass pass;
  };

  /// False where what the pass waits for is not there yet.
  bool add(std::int64_t stage, const Pass& pass) {
    auto edges = ends(tails_[static_cast<std::size_t>(stage)]);
    if (const auto other = before(stage, pass)) {
      const auto node = begun_[place(other->stage, other->pass)];
      if (node == kNotYet) return false;
      const double part = lag(stage, pass);
      edges.push_back(part == 1 ? end_of(over_[place(other->stage, other->pass)])
                                : StepEdge{node, part * of(pass.kind).total()});
    }
    begun_[place(stage, pass)] = graph_.nodes.size();
    add_blocks(stage, pass, std::move(edges));
    over_[place(stage, pass)] = tails_[static_cast<std::size_t>(stage)].back();  // of several stages: what hands on
    if (pass.kind == PassKind::forward && stage == stages_ - 1 && pass.part == parts_ - 1) add_output(stage, pass);
    return true;
  }

  const PassSeconds& of(PassKind kind) const { return passes_[static_cast<std::size_t>(kind)]; }

  std::size_t place(std::int64_t stage, const Pass& pass) const {
    const auto row = (stage * parts_ + pass.part) * microbatches_ + pass.microbatch;
    return static_cast<std::size_t>(row) * kPassKinds + static_cast<std::size_t>(pass.kind);
  }

  /// The pass of another stage that hands on what this one needs.
  std::optional<Other> before(std::int64_t stage, Pass pass) const {
    if (stages_ == 1 || pass.kind == PassKind::weights) return std::nullopt;
    const bool forward = pass.kind == PassKind::forward;
    const auto first = forward ? 0 : stages_ - 1;
    if (stage != first) return Other{forward ? stage - 1 : stage + 1, pass};
    pass.part += forward ? -1 : 1;
    if (pass.part < 0 || pass.part >= parts_) return std::nullopt;
    return Other{stages_ - 1 - first, pass};
  }

  /// A bubble that is shorter than the schedule's own: stages begin on what is there before all of it is. A longer one:
  /// the first microbatch is handed on later, and the last one back.
  double lag(std::int64_t stage, const Pass& pass) const {
    const bool fills = pass.kind == PassKind::forward ? pass.microbatch == 0 && stage > 0
                                                      : pass.microbatch == microbatches_ - 1 && stage < stages_ - 1;
    return bubble_ <= 1 || (fills && pass.part == 0) ? bubble_ : 1;
  }

  std::vector<StepEdge> ends(const std::vector<std::size_t>& nodes) const {
    std::vector<StepEdge> edges;
    for (const auto node : nodes) edges.push_back(end_of(node));
    return edges;
  }

  StepEdge end_of(std::size_t node) const { return {node, graph_.nodes[node].seconds}; }

  StepEdge push(StepNode node) {
    const StepEdge end{graph_.nodes.size(), node.seconds};
    graph_.nodes.push_back(std::move(node));
    return end;
  }

  void add_blocks(std::int64_t stage, const Pass& pass, std::vector<StepEdge> edges) {
    const auto whole = of(pass.kind);
    const auto one = pass_times(whole, 1 / static_cast<double>(blocks_));
    const double layers = layers_ / static_cast<double>(blocks_);
    // The longer of computing and gathering is slowed by the other.
    const double slowed = one.together - std::max(one.compute + one.sums, one.gathers);
    const bool computes_longer = one.compute + one.sums >= one.gathers;
    const auto add = [&](const char* name, StepStream stream, double seconds, std::vector<StepEdge> after) {
      return push({name, stage, stream, seconds, layers, pass.microbatch, std::move(after)});
    };
    for (std::int64_t block = 0; block < blocks_; ++block) {
      auto last =
          add(compute_name(pass.kind), StepStream::compute, one.compute + (computes_longer ? slowed : 0), edges);
      if (one.sums > 0) last = add("sums", StepStream::sums, one.sums, {last});
      std::vector<StepEdge> done{last};
      if (one.gathers > 0) {
        const char* name = pass.kind == PassKind::forward ? "gathers" : "gathers and scatters";
        done.push_back(add(name, StepStream::shards, one.gathers + (computes_longer ? 0 : slowed), edges));
      }
      if (one.exchange > 0) done = {add("exchange", StepStream::exchange, one.exchange, done)};
      edges = std::move(done);
    }
    if (whole.hand_on > 0) {
      edges = {push({"hand on", stage, StepStream::copies, whole.hand_on, 0, pass.microbatch, edges})};
    }
    keep_tail(stage, edges);
  }

  void add_output(std::int64_t stage, const Pass& pass) {
    auto edges = ends(tails_[static_cast<std::size_t>(stage)]);
    if (seconds_.edge > 0) {
      edges = {push({"gathers of the embedding", stage, StepStream::shards, seconds_.edge, 0, pass.microbatch, edges})};
    }
    if (seconds_.head > 0) {
      edges = {push({"output layer", stage, StepStream::compute, seconds_.head, 0, pass.microbatch, edges})};
    }
    keep_tail(stage, edges);
  }

  void keep_tail(std::int64_t stage, const std::vector<StepEdge>& edges) {
    auto& tail = tails_[static_cast<std::size_t>(stage)];
    tail.clear();
    for (const auto& edge : edges) tail.push_back(edge.node);
  }

  std::optional<std::size_t> last_before(const StepSchedule& so_far, std::int64_t stage, double begin) const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < so_far.begin_seconds.size(); ++i) {
      const auto& node = graph_.nodes[i];
      if (node.stage == stage && node.stream == StepStream::compute && so_far.begin_seconds[i] <= begin) found = i;
    }
    return found;
  }

  StepSeconds seconds_;
  double bubble_;
  std::int64_t stages_;
  std::int64_t microbatches_;
  std::int64_t parts_;
  double layers_;  ///< of a part
  std::int64_t blocks_ = 1;
  std::array<PassSeconds, kPassKinds> passes_;
  std::vector<std::size_t> begun_;               ///< first node of each pass
  std::vector<std::size_t> over_;                ///< and its last one
  std::vector<std::vector<std::size_t>> tails_;  ///< of each stage: nodes that its next pass waits for
  StepGraph graph_;
};

}  // namespace

StepGraph step_graph(const StepWork& work, const StepPlan& plan, const StepConstants& constants,
                     std::size_t most_nodes) {
  GraphOfPasses passes(work, plan, constants, most_nodes);
  passes.add_all(plan.pipeline > 1 ? plan.schedule : PipelineSchedule::one_forward_one_backward);
  return passes.ended();
}

}  // namespace assay::predict
