#include "assay/predict/step/step_work.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr double kFlashShare = .5;   // of the peak, for long sequences
constexpr double kFlashStart = 700;  // tokens: shorter sequences pay for starting
constexpr double kScoreShare = .5;
constexpr double kPassShare = .8;   // of the memory's rate
constexpr double kNodeOfHosts = 8;  // devices of a host, which rails are counted by
constexpr double kValue = 2;        // bytes

struct BothWays {
  double forward = 0;
  double backward = 0;
  BothWays& operator+=(const BothWays& o) {
    forward += o.forward;
    backward += o.backward;
    return *this;
  }
};

BothWays operator*(double times, const BothWays& w) {
  return {times * w.forward, times * w.backward};
}

/// Sizes of a job as formulas name them.
class LayerWork {
 public:
  explicit LayerWork(const StepJob& job)
      : m_(job.model),
        p_(job.plan),
        d_(job.device),
        products_(job.device.sheet, job.device.product, ProductType::bf16),
        counts_(layer_counts(job.model)),
        h_(static_cast<double>(m_.hidden)),
        a_(static_cast<double>(m_.heads)),
        kv_(static_cast<double>(m_.kv_heads)),
        t_(static_cast<double>(p_.tensor)),
        c_(static_cast<double>(p_.context)),
        s_(static_cast<double>(p_.sequence)),
        tokens_(p_.microbatch * s_ / c_),
        into_(m_.gated ? 2 : 1),
        query_dim_(static_cast<double>(m_.latent.kv_rank > 0 ? m_.latent.nope_dim + m_.latent.rope_dim : m_.head_dim)),
        value_dim_(static_cast<double>(m_.latent.kv_rank > 0 ? m_.latent.value_dim : m_.head_dim)) {
    attention_ = static_cast<double>(counts_.attention);
    dense_ = static_cast<double>(counts_.dense);
    experts_ = static_cast<double>(counts_.experts);
    states_ = static_cast<double>(counts_.states);
    layers_ = counts_.states > 0 ? attention_ + dense_ + experts_ + states_ : std::max(attention_, 1.0);
  }

  double layers() const { return layers_; }
  double tokens() const { return tokens_; }

  void add(StepWork& w) const {
    BothWays products = attention_ * attention_products();
    BothWays routed;
    if (dense_ > 0) {
      const auto last = linear(tokens_, h_, static_cast<double>(m_.feedforward) / t_);
      products += dense_ * feedforward(tokens_, static_cast<double>(m_.feedforward) / t_, h_);
      w.last_product = dense_ * last.forward / layers_;
    }
    if (experts_ > 0) {
      products += experts_ * shared_products();
      routed = experts_ * routed_products();
      add_exchange(w);
      w.has_experts = true;
    }
    if (states_ > 0) products += states_ * state_products();
    w.product_forward = products.forward / layers_;
    w.product_backward = products.backward / layers_;
    w.expert_forward = routed.forward / layers_;
    w.expert_backward = routed.backward / layers_;
    if (p_.flash_attention) {
      w.flash = flash_seconds();
    } else {
      const double pairs = p_.microbatch * s_ * s_ / c_;
      w.score_products =
          attention_ / layers_ * 4 * pairs * a_ * query_dim_ / t_ / (d_.sheet.bf16_flops_per_second * kScoreShare);
      w.score_passes = attention_ / layers_ * 13 * pairs * a_ / t_ / pass_rate();
    }
    w.passes = pass_bytes() / layers_ / pass_rate();
    add_sums(w);
    add_ring(w);
  }

  double pass_rate() const { return d_.sheet.memory_bytes_per_second * kPassShare; }

  BothWays linear(double m, double n, double k) const {
    return {products_.seconds(m, n, k), products_.seconds(m, k, n) + weight_gradient(n, k, m)};
  }

 private:
  double weight_gradient(double n, double k, double m) const {
    return p_.adapters_only ? 0 : products_.seconds(n, k, m);
  }

  BothWays feedforward(double m, double inside, double hidden) const {
    auto both = linear(m, into_ * inside, hidden);
    both += linear(m, hidden, inside);
    return both;
  }

  BothWays attention_products() const {
    if (m_.latent.kv_rank > 0) return latent_products();
    auto both = linear(tokens_, (a_ + 2 * kv_) * query_dim_ / t_, h_);
    both += linear(tokens_, h_, a_ * query_dim_ / t_);
    return both;
  }

  BothWays latent_products() const {
    const auto rank = static_cast<double>(m_.latent.kv_rank);
    const auto queries = static_cast<double>(m_.latent.query_rank);
    const auto rope = static_cast<double>(m_.latent.rope_dim);
    const auto nope = static_cast<double>(m_.latent.nope_dim);
    BothWays both;
    if (queries > 0) both += linear(tokens_, queries, h_);
    both += linear(tokens_, a_ * query_dim_ / t_, queries > 0 ? queries : h_);
    both += linear(tokens_, rank + rope, h_);
    both += linear(tokens_, a_ * (nope + value_dim_) / t_, rank);
    both += linear(tokens_, h_, a_ * value_dim_ / t_);
    return both;
  }

  double expert_hidden() const { return m_.experts.latent > 0 ? static_cast<double>(m_.experts.latent) : h_; }
  /// That a device computes: the devices of a tensor group share them, whether by tokens or by the experts' products.
  double routed_tokens() const { return tokens_ * static_cast<double>(m_.experts.per_token) / t_; }
  double group() const { return static_cast<double>(std::max<std::int64_t>(1, p_.experts)); }

  /// All experts of a device in one grouped product, whose weights are read whole.
  BothWays routed_products() const {
    const auto inside = static_cast<double>(m_.experts.feedforward);
    auto both = feedforward(routed_tokens(), inside, expert_hidden());
    const double here = std::max(1.0, static_cast<double>(m_.experts.count) / group());
    const double weights = here * (into_ + 1) * expert_hidden() * inside * kValue / pass_rate();
    both += {weights, 2 * weights};
    return both;
  }

  BothWays shared_products() const {
    BothWays both;
    if (m_.experts.shared_feedforward > 0) {
      both += feedforward(tokens_, static_cast<double>(m_.experts.shared_feedforward) / t_, h_);
    }
    if (m_.experts.latent > 0) {
      both += linear(tokens_, expert_hidden(), h_);
      both += linear(tokens_, h_, expert_hidden());
    }
    return both;
  }

  BothWays state_products() const {
    const auto& s = m_.states;
    const auto inner = static_cast<double>(s.heads * s.head_dim);
    const auto mixed = static_cast<double>(2 * s.groups * s.state + s.heads);
    auto both = linear(tokens_, (2 * inner + mixed) / t_, h_);
    both += linear(tokens_, h_, inner / t_);
    return both;
  }

  /// Tokens to their experts and back, each copy of a token on its own.
  void add_exchange(StepWork& w) const {
    const double g = group();
    if (g <= 1) return;
    const double bytes = 2 * kValue * routed_tokens() * expert_hidden() * (g - 1) / g;
    const auto node = static_cast<double>(d_.node_devices);
    const double inside = bytes / d_.inside_bytes_per_second;
    const double parts = experts_ / layers_;
    if (g <= node) {
      w.exchange = parts * (inside + 60e-6);
    } else {
      const double across = bytes * (1 - node / g) / d_.rail_bytes_per_second;
      w.exchange_across = parts * (std::max(inside, across) + 100e-6);
    }
  }

  double flash_seconds() const {
    const double pairs = p_.microbatch * s_ * s_ / c_ * (m_.causal ? .5 : 1);
    const double width = 2 * a_ * (query_dim_ + value_dim_) / t_;
    const auto windowed = static_cast<double>(m_.windowed_layers);
    const double seen = std::min(pairs, p_.microbatch * s_ / c_ * static_cast<double>(m_.window));
    const double flops = width * ((attention_ - windowed) * pairs + windowed * seen);
    return flops / layers_ / (d_.sheet.bf16_flops_per_second * kFlashShare) * (1 + kFlashStart / s_);
  }

  /// Norms, shortcuts and activations read and write their values; explicit scores are counted apart.
  double pass_bytes() const {
    const double spread = p_.sequence_parallel ? t_ : 1;
    const double around = 11 * tokens_ * h_ / spread;
    const double active = m_.gated ? 6 : 4;
    const double heads = m_.latent.kv_rank > 0 ? 4 * tokens_ * a_ * (3 * query_dim_ + value_dim_) / t_
                                               : 4 * tokens_ * (2 * a_ + 2 * kv_) * query_dim_ / t_;
    const double inside = active * tokens_ * static_cast<double>(m_.feedforward) / t_;
    const double routed = active * routed_tokens() * static_cast<double>(m_.experts.feedforward) +
                          8 * routed_tokens() * expert_hidden() +
                          4 * tokens_ * static_cast<double>(m_.experts.shared_feedforward) / t_;
    const auto& s = m_.states;
    const double state = tokens_ * static_cast<double>(40 * s.heads * s.head_dim + 16 * s.groups * s.state) / t_;
    return attention_ * (around + heads) + dense_ * (around + inside) + experts_ * (around + routed) +
           states_ * (around + state);
  }

  void add_sums(StepWork& w) const {
    if (p_.tensor <= 1) return;
    const double sums = (attention_ + dense_ + experts_ + states_) / layers_;
    const double bytes = kValue * tokens_ * h_;
    const double near = std::min(t_, static_cast<double>(d_.node_devices));
    w.sum_latency = sums * (20e-6 + 9e-6 * std::min(near, kNodeOfHosts));
    w.sum_inside = sums * 2 * (near - 1) / near * bytes / d_.inside_bytes_per_second;
    if (p_.tensor > d_.node_devices) {
      const double links = d_.rail_bytes_per_second * static_cast<double>(d_.node_devices);
      w.sum_across = sums * 2 * (t_ - 1) / t_ * bytes / links;
    }
  }

  void add_ring(StepWork& w) const {
    if (p_.context <= 1) return;
    const bool near = p_.tensor * p_.context <= d_.node_devices;
    const double rate = near ? d_.inside_bytes_per_second : d_.rail_bytes_per_second;
    w.ring = attention_ / layers_ * 2 * kValue * tokens_ * kv_ * query_dim_ * (c_ - 1) / rate;
  }

  const ModelShape& m_;
  const StepPlan& p_;
  const StepDevice& d_;
  ProductTimes products_;
  LayerCounts counts_;
  double h_, a_, kv_, t_, c_, s_, tokens_, into_, query_dim_, value_dim_;
  double attention_ = 0, dense_ = 0, experts_ = 0, states_ = 0, layers_ = 1;
};

struct ParametersHere {
  double dense = 0;   ///< of all layers
  double routed = 0;  ///< of all experts
  double embedding = 0;
};

ParametersHere parameters_by_kind(const ModelShape& m) {
  const auto counts = layer_counts(m);
  ParametersHere all;
  all.routed = counts.experts > 0 ? static_cast<double>(counts.experts * m.experts.count * expert_parameters(m)) : 0;
  all.embedding = static_cast<double>((m.tied ? 1 : 2) * m.vocabulary * m.hidden);
  all.dense = static_cast<double>(parameters_of(m)) - all.routed - all.embedding;
  return all;
}

/// FSDP gathers a layer before each pass and scatters its gradients; the embedding's part is not hidden.
void add_shards(const StepJob& job, double layer_parameters, StepWork& w) {
  const auto& p = job.plan;
  if (p.shard <= 1) return;
  const auto f = static_cast<double>(p.shard);
  const auto t = static_cast<double>(p.tensor);
  const double share = (f - 1) / f;
  w.gather_bytes = kValue * layer_parameters * share;
  w.scatter_bytes = p.gradient_bytes * layer_parameters * share;
  w.edge_bytes =
      (kValue + .5 * p.gradient_bytes) * static_cast<double>(job.model.vocabulary * job.model.hidden) / t * share;
  w.gather_latency = 30e-6 + 4e-6 * std::max(1.0, f * t / kNodeOfHosts);
  w.shard_bytes_per_second = job.device.inside_bytes_per_second;
  if (p.shard * p.tensor > job.device.node_devices) {
    w.across = true;
    w.shard_rail_bytes_per_second = job.device.rail_bytes_per_second *
                                    std::min(kNodeOfHosts, static_cast<double>(job.device.node_devices)) /
                                    std::min(kNodeOfHosts, t);
  }
}

void add_gradients(const StepJob& job, double parameters, StepWork& w) {
  const auto& p = job.plan;
  const double replicas = p.data() * static_cast<double>(p.context);
  if (p.shard > 1 || replicas <= 1 || p.adapters_only) return;
  const double bytes = 2 * (replicas - 1) / replicas * p.gradient_bytes * parameters;
  const auto node = static_cast<double>(job.device.node_devices);
  const auto t = static_cast<double>(p.tensor);
  w.gradients_across = replicas * t > node;
  const double rings = std::min(t, kNodeOfHosts);  // of the tensor group's devices, which share a node's links
  const double rate = !w.gradients_across   ? job.device.inside_bytes_per_second
                      : node > kNodeOfHosts ? job.device.rail_bytes_per_second
                                            : job.device.rail_bytes_per_second * kNodeOfHosts / rings;
  w.gradients = bytes / rate;
}

/// Of one microbatch in both directions: each part of a stage hands on what it computed.
double hand_on_seconds(const StepJob& job, double tokens) {
  const auto& p = job.plan;
  if (p.pipeline <= 1) return 0;
  const bool apart = p.schedule == PipelineSchedule::zero_bubble;  // its stages have one part
  const double crossings = apart ? 1 : static_cast<double>(p.interleaving);
  const double bytes = 2 * crossings * kValue * tokens * static_cast<double>(job.model.hidden) /
                       (p.sequence_parallel ? static_cast<double>(p.tensor) : 1);
  const bool near = p.tensor * p.pipeline <= job.device.node_devices &&
                    (job.device.node_devices > kNodeOfHosts || p.devices <= job.device.node_devices);
  return bytes / (near ? job.device.inside_bytes_per_second : job.device.rail_bytes_per_second);
}

void check_count(double value, const char* what) {
  if (value > 0 && value <= 1e9) return;
  fail(ErrorKind::usage, "{} is {}; give a number above zero and at most 1,000,000,000.", what, value);
}

}  // namespace

void check(const StepJob& job) {
  check(job.model);
  const auto& p = job.plan;
  check_count(static_cast<double>(p.devices), "devices");
  check_count(static_cast<double>(p.tensor), "tensor");
  check_count(static_cast<double>(p.pipeline), "pipeline");
  check_count(static_cast<double>(p.context), "context");
  check_count(static_cast<double>(p.experts), "experts");
  check_count(static_cast<double>(p.interleaving), "interleaving");
  check_count(static_cast<double>(p.sequence), "sequence");
  check_count(p.microbatch, "microbatch");
  check_count(p.microbatches, "microbatches");
  if (p.data() < 1) {
    fail(ErrorKind::usage, "tensor {} x pipeline {} x context {} are more than {} devices.", p.tensor, p.pipeline,
         p.context, p.devices);
  }
  check_count(job.device.sheet.bf16_flops_per_second / 1e12, "the device's peak in TFLOP/s");
}

StepWork step_work(const StepJob& job) {
  const auto& p = job.plan;
  const LayerWork layer(job);
  StepWork w;
  layer.add(w);
  const auto t = static_cast<double>(p.tensor);
  const auto stages = static_cast<double>(p.pipeline);
  w.stages = stages;
  w.layers = (layer.layers() + static_cast<double>(job.model.extra_predictions)) / stages;
  w.microbatches = p.microbatches;
  w.bubbles = (stages - 1) / static_cast<double>(p.interleaving);
  if (p.schedule == PipelineSchedule::zero_bubble) w.bubbles /= 3;  // gradients of weights fill what they can
  w.hand_on = hand_on_seconds(job, layer.tokens());
  const auto words = static_cast<double>(job.model.vocabulary);
  const double heads = 1 + static_cast<double>(job.model.extra_predictions);
  const auto head = layer.linear(layer.tokens(), words / t, static_cast<double>(job.model.hidden));
  w.head = heads * (head.forward + head.backward);
  w.head_passes = heads * layer.tokens() * words / t * kValue / layer.pass_rate();
  w.odd_head = p.tensor == 1 && job.model.vocabulary % 8 != 0;

  const auto all = parameters_by_kind(job.model);
  const double layers_here = (all.dense / t + all.routed / static_cast<double>(p.experts)) / stages;
  const double here = layers_here + all.embedding / t / stages;
  add_shards(job, layers_here / w.layers, w);
  add_gradients(job, here, w);
  const double owners = p.shard > 1 ? static_cast<double>(p.shard) : p.sharded_optimizer ? std::max(1.0, p.data()) : 1;
  w.update = (p.adapters_only ? 0 : here / owners) / job.device.sheet.memory_bytes_per_second;
  w.doublings = std::log2(std::max(1.0, static_cast<double>(p.devices) / kNodeOfHosts));
  return w;
}

double step_flops(const ModelShape& m, const StepPlan& plan) {
  const double tokens = plan.tokens();
  const auto embedding = static_cast<double>(m.vocabulary * m.hidden);
  const double met = static_cast<double>(active_parameters_of(m)) - (m.tied ? 0 : embedding) -
                     static_cast<double>(m.positions * m.hidden);
  const auto counts = layer_counts(m);
  const double dim = m.latent.kv_rank > 0
                         ? static_cast<double>(m.latent.nope_dim + m.latent.rope_dim + m.latent.value_dim) / 2
                         : static_cast<double>(m.head_dim);
  const double pairs = static_cast<double>(plan.sequence) * (m.causal ? .5 : 1);
  return tokens * (6 * met + 12 * static_cast<double>(counts.attention * m.heads) * dim * pairs);
}

}  // namespace assay::predict
