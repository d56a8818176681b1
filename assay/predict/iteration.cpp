#include "assay/predict/iteration.hpp"

#include <algorithm>

namespace assay::predict {
namespace {

/// ZeRO scatters gradients in place of adding them up everywhere, and gathers parameters: half of an all_reduce each.
CollectiveCost scaled(CollectiveCost cost, double factor) {
  for (auto& one : cost.choices) {
    one.call_seconds *= factor;
    one.byte_seconds *= factor;
  }
  return cost;
}

/// Of what an all_reduce costs, what travels behind the backward pass.
double share_in_backward(std::int64_t zero) {
  return zero == 1 || zero == 2 ? 0.5 : 1.0;
}

double storage_seconds(const LayerTable& table, const Cluster& cluster) {
  if (!cluster.storage) return 0;
  const auto readers = cluster.storage->per == Sharing::cluster ? cluster.devices() : cluster.devices_per_node;
  return table.stored_bytes * static_cast<double>(readers) / cluster.storage->bytes_per_second;
}

/// Computes layer after layer and sends buckets as they fill. Both go on at once, and compute is slower meanwhile.
class Backward {
 public:
  Backward(const std::vector<FusedBucket>& buckets, const CollectiveCost& cost, const Practice& practice, double begin,
           std::vector<Span>* spans)
      : buckets_(buckets), cost_(cost), practice_(practice), now_(begin), spans_(spans) {}

  void layer(const LayerTime& layer) {
    const double begin = now_;
    compute(layer.backward_seconds);
    if (spans_ != nullptr && now_ > begin) spans_->push_back({layer.name + " backward", "compute", begin, now_});
    for (std::size_t i = 0; i < layer.gradient_bytes.size(); ++i, ++gradient_) {
      if (bucket_ < buckets_.size() && gradient_ == buckets_[bucket_].last && overlaps()) send();
    }
  }

  /// What could not travel before.
  void finish() {
    computed_ = now_;
    while (bucket_ < buckets_.size()) send();
  }

  double computed() const { return computed_; }
  double free() const { return free_; }
  double sent_seconds() const { return sent_seconds_; }

 private:
  bool overlaps() const { return practice_.overlap == Overlap::wait_free; }

  void compute(double work) {
    if (now_ < free_) {
      const double beside = free_ - now_;
      if (work * practice_.slow_down <= beside) {
        now_ += work * practice_.slow_down;
        return;
      }
      work -= beside / practice_.slow_down;
      now_ = free_;
    }
    now_ += work;
  }

  void send() {
    const auto& bucket = buckets_[bucket_++];
    const double begin = std::max(free_, now_);
    const auto& algorithm = *cost_.cheapest(bucket.bytes);  // there are no buckets where there is none
    saved_ = std::min(algorithm.burst_seconds, saved_ + begin - free_);
    const double seconds = algorithm.on_saved(bucket.bytes, saved_);
    free_ = begin + seconds;
    sent_seconds_ += seconds;
    if (spans_ != nullptr) {
      spans_->push_back({fmt::format("{} gradients, {:.3g} MB", bucket.last - bucket.first + 1, 1e-6 * bucket.bytes),
                         "communicate", begin, free_});
    }
  }

  const std::vector<FusedBucket>& buckets_;
  const CollectiveCost& cost_;
  const Practice& practice_;
  double now_;
  double computed_ = 0;
  double free_ = 0;
  double sent_seconds_ = 0;
  double saved_ = 0;  ///< seconds of carrying, by links that were idle
  std::size_t gradient_ = 0;
  std::size_t bucket_ = 0;
  std::vector<Span>* spans_;
};

void add_input_spans(const Iteration& step, std::vector<Span>& spans) {
  if (step.load_seconds > 0) spans.push_back({"load the next batch", "input", 0, step.load_seconds});
  if (step.transfer_seconds > 0) {
    spans.push_back({"transfer the next batch", "input", step.load_seconds, step.load_seconds + step.transfer_seconds});
  }
}

void add_forward_spans(const LayerTable& table, std::int64_t times, std::vector<Span>& spans) {
  double now = 0;
  for (std::int64_t i = 0; i < times; ++i) {
    for (const auto& layer : table.layers) {
      if (layer.forward_seconds > 0) {
        spans.push_back({layer.name + " forward", "compute", now, now + layer.forward_seconds});
      }
      now += layer.forward_seconds;
    }
    if (i + 1 < times) {
      const double backward = table.backward_seconds();
      spans.push_back({"backward, gradients kept", "compute", now, now + backward});
      now += backward;
    }
  }
}

std::vector<AllReduce> algorithms_in(const std::vector<FusedBucket>& buckets, const CollectiveCost& cost) {
  std::vector<AllReduce> used;
  for (const auto& bucket : buckets) {
    const auto* found = cost.cheapest(bucket.bytes);
    if (found != nullptr && std::find(used.begin(), used.end(), found->algorithm) == used.end()) {
      used.push_back(found->algorithm);
    }
  }
  return used;
}

/// All that is on the links, and what of it nothing hides. Returns when the backward pass has ended.
double communicate(const LayerTable& table, const CollectiveCost& all_reduce, const Practice& practice, double begin,
                   Iteration& step, std::vector<Span>* spans) {
  const auto in_backward = scaled(all_reduce, share_in_backward(practice.zero));
  const auto buckets = all_reduce.choices.empty() ? std::vector<FusedBucket>{}
                                                  : fuse(gradients_of(table, practice), practice.fusion, in_backward);
  Backward backward(buckets, in_backward, practice, begin, spans);
  for (auto layer = table.layers.rbegin(); layer != table.layers.rend(); ++layer) backward.layer(*layer);
  backward.finish();
  step.communicate_seconds = backward.sent_seconds();
  step.exposed_seconds = std::max(0.0, backward.free() - backward.computed());
  step.messages = static_cast<std::int64_t>(buckets.size());
  step.algorithms = algorithms_in(buckets, in_backward);
  if (practice.zero > 0) {
    double gather = 0;
    for (const auto& bucket : buckets) gather += 0.5 * all_reduce.seconds(bucket.bytes);
    // Parameters are gathered after the update, or before each layer of the forward pass, behind the one before it.
    step.communicate_seconds += gather;
    step.exposed_seconds += practice.zero == 3 ? std::max(0.0, gather - step.forward_seconds) : gather;
  }
  return backward.computed();
}

}  // namespace

CollectiveCost cost_of(const Cluster& cluster, const Practice& practice) {
  const CallOverhead overhead{practice.call_seconds};
  return practice.servers ? server_cost(cluster, *practice.servers, overhead)
                          : all_reduce_cost(cluster, practice.all_reduce, overhead);
}

std::vector<Gradient> gradients_of(const LayerTable& table, const Practice& practice) {
  const auto times = static_cast<double>(practice.accumulation);
  const double backward = table.backward_seconds();
  double now = times * table.forward_seconds() + (times - 1) * backward;
  const double end = now + backward;
  std::vector<Gradient> gradients;
  for (auto layer = table.layers.rbegin(); layer != table.layers.rend(); ++layer) {
    now += layer->backward_seconds;
    const double ready = practice.overlap == Overlap::wait_free ? now : end;
    for (const double bytes : layer->gradient_bytes) gradients.push_back({ready, bytes});
  }
  return gradients;
}

Iteration iterate(const LayerTable& table, const Cluster& cluster, const Practice& practice, std::vector<Span>* spans) {
  const auto cost = cost_of(cluster, practice);
  return iterate(table, cluster, practice, cost, spans);
}

Iteration iterate(const LayerTable& table, const Cluster& cluster, const Practice& practice, const CollectiveCost& cost,
                  std::vector<Span>* spans) {
  const auto times = static_cast<double>(practice.accumulation);
  Iteration step;
  step.load_seconds = times * std::max(table.load_seconds / practice.loaders, storage_seconds(table, cluster));
  step.transfer_seconds = times * table.transfer_seconds;
  step.forward_seconds = times * table.forward_seconds();
  step.update_seconds = table.update_seconds;
  const double earlier = (times - 1) * table.backward_seconds();
  const double begin = step.forward_seconds + earlier;
  if (spans != nullptr) {
    add_input_spans(step, *spans);
    add_forward_spans(table, practice.accumulation, *spans);
  }
  const double computed = communicate(table, cost, practice, begin, step, spans);
  step.backward_seconds = computed - step.forward_seconds;
  const double work = computed + step.exposed_seconds + step.update_seconds;
  const double input = step.load_seconds + step.transfer_seconds;
  step.seconds = practice.overlap == Overlap::none ? input + work : std::max(input, work);
  if (spans != nullptr && step.update_seconds > 0) {
    spans->push_back({"update", "compute", work - step.update_seconds, work});
  }
  return step;
}

}  // namespace assay::predict
