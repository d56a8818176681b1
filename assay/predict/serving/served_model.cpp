#include "assay/predict/serving/served_model.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr double kReservedBytes = 2e9;     // of each device: what the driver and the server's libraries take
constexpr double kElementwiseShare = 0.8;  // of the memory's bandwidth
constexpr double kResultBytes = 2;
constexpr double kHiddenPasses = 10;  // reads and writes of the hidden values a layer: norms, residuals
constexpr double kInnerPasses = 3;    // of the values inside: activations, rotations

double embedding_elements(const ModelShape& shape) {
  return static_cast<double>(shape.vocabulary) * static_cast<double>(shape.hidden) * (shape.tied ? 1 : 2);
}

double block_elements(const ModelShape& shape) {
  return std::max(0.0, static_cast<double>(parameters_of(shape)) - embedding_elements(shape));
}

/// Values of keys and values of one token in one layer.
double cached_elements(const ModelShape& shape) {
  if (shape.latent.kv_rank > 0) return static_cast<double>(shape.latent.kv_rank + shape.latent.rope_dim);
  return 2.0 * static_cast<double>(shape.kv_heads * shape.head_dim);
}

/// Work of one layer on one device of the tensor split.
class ServedLayer {
 public:
  ServedLayer(const ServedModel& model, const KernelTimes& times, double tokens)
      : shape_(model.shape),
        times_(times),
        type_(model.weights),
        tokens_(tokens),
        split_(static_cast<double>(model.tensor)),
        heads_(std::max(1.0, static_cast<double>(shape_.heads) / split_)),
        kv_heads_(std::max(1.0, static_cast<double>(shape_.kv_heads) / split_)) {}

  double attention_products() const {
    const auto hidden = static_cast<double>(shape_.hidden);
    const auto& latent = shape_.latent;
    if (latent.kv_rank == 0) {
      const auto size = static_cast<double>(shape_.head_dim);
      return product((heads_ + 2 * kv_heads_) * size, hidden) + product(hidden, heads_ * size);
    }
    const auto rank = static_cast<double>(latent.kv_rank);
    const auto query = static_cast<double>(latent.query_rank);
    const double query_out = heads_ * static_cast<double>(latent.nope_dim + latent.rope_dim);
    const double queries = query > 0 ? product(query, hidden) + product(query_out, query) : product(query_out, hidden);
    return queries + product(rank + static_cast<double>(latent.rope_dim), hidden) +
           product(heads_ * static_cast<double>(latent.nope_dim + latent.value_dim), rank) +
           product(hidden, heads_ * static_cast<double>(latent.value_dim));
  }

  double dense_products() const { return feedforward(tokens_, static_cast<double>(shape_.feedforward) / split_); }

  /// Experts that any of the tokens uses are read; the tokens spread evenly over them. Side by side they are one wide
  /// product of few rows.
  double expert_products() const {
    const auto& experts = shape_.experts;
    const auto count = static_cast<double>(experts.count);
    const double share = static_cast<double>(experts.per_token) / count;
    const double used = std::max(1.0, count * (1 - std::pow(1 - share, tokens_)));
    const double rows = std::max(1.0, tokens_ * static_cast<double>(experts.per_token) / used);
    const double inner = static_cast<double>(experts.feedforward) * used / split_;
    const auto hidden = static_cast<double>(experts.latent > 0 ? experts.latent : shape_.hidden);
    double seconds = times_.product({rows, (shape_.gated ? 2 : 1) * inner, hidden, type_}) +
                     times_.product({rows, hidden, inner, type_}) + product(count, static_cast<double>(shape_.hidden));
    if (experts.shared_feedforward > 0) {
      seconds += feedforward(tokens_, static_cast<double>(experts.shared_feedforward) / split_);
    }
    return seconds;
  }

  double decode_attention(const StepLoad& load, double element_bytes) const {
    if (!(load.decoding > 0)) return 0;
    return windowed(load.context, [&](double context) {
      return times_.decode({load.decoding, 1, std::max(1.0, context), heads_, kv_heads_, head_size(), element_bytes});
    });
  }

  double prefill_attention(const StepLoad& load, double element_bytes) const {
    if (!(load.prompts > 0) || !(load.prompt_tokens > 0)) return 0;
    return times_.prefill({load.prompts, load.prompt_tokens, load.prompt_context, heads_, kv_heads_,
                           static_cast<double>(shape_.head_dim), element_bytes});
  }

  double elementwise() const {
    const double hidden = kHiddenPasses * static_cast<double>(shape_.hidden);
    const double inner = kInnerPasses * (inner_values() / split_ + heads_ * static_cast<double>(shape_.head_dim));
    return tokens_ * kResultBytes * (hidden + inner) / (times_.sheet().memory_bytes_per_second * kElementwiseShare);
  }

 private:
  double product(double n, double k) const { return times_.product({tokens_, n, k, type_}); }

  double feedforward(double rows, double inner) const {
    const auto hidden = static_cast<double>(shape_.hidden);
    return times_.product({rows, (shape_.gated ? 2 : 1) * inner, hidden, type_}) +
           times_.product({rows, hidden, inner, type_});
  }

  double inner_values() const {
    const auto& experts = shape_.experts;
    if (experts.count == 0) return static_cast<double>(shape_.feedforward);
    return static_cast<double>(experts.feedforward * experts.per_token + experts.shared_feedforward);
  }

  double head_size() const {
    return shape_.latent.kv_rank > 0 ? static_cast<double>(shape_.latent.kv_rank)
                                     : static_cast<double>(shape_.head_dim);
  }

  /// The mean over layers that see all tokens and those that see a window.
  template <typename Seconds>
  double windowed(double context, Seconds seconds) const {
    if (shape_.window == 0 || shape_.windowed_layers == 0 || shape_.layers == 0) return seconds(context);
    const double share = static_cast<double>(shape_.windowed_layers) / static_cast<double>(shape_.layers);
    const double window = std::min(context, static_cast<double>(shape_.window));
    return share * seconds(window) + (1 - share) * seconds(context);
  }

  const ModelShape& shape_;
  const KernelTimes& times_;
  ProductType type_;
  double tokens_;
  double split_;
  double heads_;
  double kv_heads_;
};

}  // namespace

double cache_token_bytes(const ServedModel& model) {
  return static_cast<double>(layer_counts(model.shape).attention) * cached_elements(model.shape) *
         model.cache_element_bytes;
}

double served_weight_bytes(const ServedModel& model) {
  return block_elements(model.shape) * weight_bytes(model.weights) + 2 * embedding_elements(model.shape);
}

double sequences_that_fit(const ServedModel& model, const DeviceSheet& sheet, double tokens, double share) {
  const auto split = static_cast<double>(model.tensor);
  const double room = split * (share * sheet.memory_bytes - kReservedBytes) - served_weight_bytes(model);
  // Heads of keys and values that are fewer than the devices are held more than once.
  const double copies = std::max(1.0, split / static_cast<double>(std::max<std::int64_t>(1, model.shape.kv_heads)));
  return room / (cache_token_bytes(model) * copies * tokens);
}

void check(const ServedModel& model) {
  check(model.shape);
  if (model.shape.states.count > 0) {
    fail(ErrorKind::usage,
         "{} has layers with a state, whose kernels have no law here. Serve a model of attention alone.",
         model.shape.name);
  }
  if (!model.shape.causal) {
    fail(ErrorKind::usage, "{} is not a decoder: it makes no tokens one after the other.", model.shape.name);
  }
  if (model.tensor < 1 || model.shape.heads % model.tensor != 0) {
    fail(ErrorKind::usage, "tensor {}: the {} heads of {} cannot be divided so.", model.tensor, model.shape.heads,
         model.shape.name);
  }
}

StepParts step_parts(const ServedModel& model, const KernelTimes& times, const StepLoad& load) {
  const double tokens = load.decoding + load.prompts * load.prompt_tokens;
  StepParts parts;
  if (!(tokens > 0)) return parts;
  const auto counts = layer_counts(model.shape);
  const ServedLayer layer(model, times, tokens);
  const auto attention = static_cast<double>(counts.attention);
  const auto dense = static_cast<double>(counts.dense);
  const auto experts = static_cast<double>(counts.experts);
  parts.products = attention * layer.attention_products();
  if (dense > 0) parts.products += dense * layer.dense_products();
  if (experts > 0) parts.products += experts * layer.expert_products();
  parts.attention = attention * (layer.decode_attention(load, model.cache_element_bytes) +
                                 layer.prefill_attention(load, model.cache_element_bytes));
  const auto hidden = static_cast<double>(model.shape.hidden);
  const auto split = static_cast<double>(model.tensor);
  if (model.tensor > 1) {
    const double sum = times.collective({model::Collective::all_reduce, split, tokens * hidden * kResultBytes});
    parts.collectives = (attention + dense + experts) * sum;
  }
  parts.elementwise = std::max(attention, dense + experts) * layer.elementwise();
  const double rows = std::max(1.0, load.decoding + load.prompts);
  parts.head = times.product({rows, static_cast<double>(model.shape.vocabulary) / split, hidden, ProductType::bf16});
  return parts;
}

double step_roofline(const ServedModel& model, const DeviceSheet& sheet, const StepLoad& load) {
  const double tokens = load.decoding + load.prompts * load.prompt_tokens;
  const auto split = static_cast<double>(model.tensor);
  const double cached = load.decoding * load.context * cache_token_bytes(model);
  const double memory = (served_weight_bytes(model) + cached) / (split * sheet.memory_bytes_per_second);
  const double active =
      std::max(0.0, static_cast<double>(active_parameters_of(model.shape)) - embedding_elements(model.shape));
  const double head =
      static_cast<double>(model.shape.vocabulary * model.shape.hidden) * std::max(1.0, load.decoding + load.prompts);
  return std::max(memory, 2 * (active * tokens + head) / (split * sheet.peak(model.weights)));
}

}  // namespace assay::predict
