#include "assay/predict/scaling.hpp"

#include <algorithm>

namespace assay::predict {
namespace {

Cluster without_links(Cluster cluster) {
  constexpr double kEndless = 1e30;
  if (cluster.inside) *cluster.inside = {0, kEndless};
  if (cluster.across) *cluster.across = {0, kEndless};
  return cluster;
}

LayerTable without_input(LayerTable table) {
  table.load_seconds = table.transfer_seconds = table.stored_bytes = 0;
  return table;
}

ScaleLimit limit_of(const LayerTable& table, const Cluster& cluster, const Practice& practice) {
  auto no_calls = practice;
  no_calls.call_seconds = 0;
  const double without_compute = iterate(slowed(table, 0), cluster, practice).seconds;
  const double without_communication = iterate(table, without_links(cluster), no_calls).seconds;
  const double no_input = iterate(without_input(table), cluster, practice).seconds;
  if (no_input < std::min(without_compute, without_communication)) return ScaleLimit::input;
  return without_communication < without_compute ? ScaleLimit::communication : ScaleLimit::compute;
}

void add_job(const Question& question, const Cluster& part, ScalePoint& point) {
  if (!question.job_samples) return;
  point.job_hours = *question.job_samples / point.samples_per_second / 3600;
  if (part.price_per_hour) point.job_price = *point.job_hours * *part.price_per_hour * static_cast<double>(part.nodes);
}

double samples_a_second(const LayerTable& table, const Practice& practice, std::int64_t devices, double seconds) {
  return static_cast<double>(table.batch * practice.accumulation * devices) / seconds;
}

/// A variant of the question with a name; the gain is in samples a second.
struct Change {
  std::string name;
  Question question;
};

Change with_links(const Question& q, const char* name, std::optional<Wire> Cluster::*link, double rate,
                  double latency) {
  Change change{name, q};
  auto& wire = change.question.cluster.*link;
  wire->bytes_per_second *= rate;
  wire->latency_seconds *= latency;
  return change;
}

void add_link_changes(const Question& q, const Cluster& part, std::vector<Change>& changes) {
  if (part.nodes > 1) {
    changes.push_back(with_links(q, "twice the bandwidth between nodes", &Cluster::across, 2, 1));
    changes.push_back(with_links(q, "half the latency between nodes", &Cluster::across, 1, 0.5));
    if (part.devices_per_node > 1 && part.across_per == Sharing::node) {
      Change rails{"a link between nodes for each device", q};
      rails.question.cluster.across_per = Sharing::device;
      changes.push_back(rails);
    }
    if (part.topology.kind == TopologyKind::fat_tree && part.topology.oversubscription > 1) {
      Change tree{"a fat tree without oversubscription", q};
      tree.question.cluster.topology.oversubscription = 1;
      changes.push_back(tree);
    }
  }
  if (part.devices_per_node > 1) {
    changes.push_back(with_links(q, "twice the bandwidth inside nodes", &Cluster::inside, 2, 1));
  }
}

void add_practice_changes(const Question& q, std::vector<Change>& changes) {
  const auto with = [&](const char* name, auto&& change_it) {
    Change change{name, q};
    change_it(change.question);
    changes.push_back(std::move(change));
  };
  if (q.practice.overlap != Overlap::wait_free) {
    with("send gradients during the backward pass", [](Question& one) { one.practice.overlap = Overlap::wait_free; });
  }
  if (q.practice.fusion.policy != FusionPolicy::optimal) {
    with("join gradients as dynamic programming says",
         [](Question& one) { one.practice.fusion.policy = FusionPolicy::optimal; });
  }
  if (q.practice.servers) {
    with("all_reduce in place of parameter servers", [](Question& one) { one.practice.servers.reset(); });
  }
  if (q.practice.all_reduce) {
    with("the cheapest algorithm for each size", [](Question& one) { one.practice.all_reduce.reset(); });
  }
  with("gradients of half the bytes", [](Question& one) {
    for (auto& layer : one.table.layers) {
      for (auto& bytes : layer.gradient_bytes) bytes /= 2;
    }
  });
  with("twice the batch on each device", [](Question& one) { one.table = at_batch(one.table, 2 * one.table.batch); });
  with("add up gradients of two batches before they travel", [](Question& one) { one.practice.accumulation *= 2; });
  with("twice as fast a device", [](Question& one) { one.table = slowed(one.table, 0.5); });
  if (q.table.load_seconds > 0) {
    with("twice as many loaders", [](Question& one) { one.practice.loaders *= 2; });
  }
  if (q.cluster.storage) {
    with("storage of twice the rate", [](Question& one) { one.cluster.storage->bytes_per_second *= 2; });
  }
}

}  // namespace

LayerTable table_at(const Question& question, std::int64_t devices) {
  if (question.scaling == Scaling::weak) return question.table;
  if (question.table.batch % devices != 0) {
    fail(ErrorKind::usage, "strong scaling: a batch of {} cannot be divided by {} devices. Choose a batch that can.",
         question.table.batch, devices);
  }
  return at_batch(question.table, question.table.batch / devices);
}

ScalePoint predict_point(const Question& question, std::int64_t devices) {
  const auto part = part_of(question.cluster, devices);
  const auto table = table_at(question, devices);
  ScalePoint point;
  point.devices = devices;
  point.nodes = part.nodes;
  point.batch = table.batch;
  point.step = iterate(table, part, question.practice);
  const auto seconds_if = [&](const Assumption& assumption) {
    auto practice = question.practice;
    practice.slow_down = assumption.slow_down;
    return iterate(slowed(table, assumption.compute), part, practice).seconds;
  };
  point.low_seconds = seconds_if(question.best);
  point.high_seconds = seconds_if(question.worst);
  point.samples_per_second = samples_a_second(table, question.practice, devices, point.step.seconds);
  const auto one = iterate(question.table, part_of(question.cluster, 1), question.practice);
  point.efficiency = point.samples_per_second / (static_cast<double>(devices) *
                                                 samples_a_second(question.table, question.practice, 1, one.seconds));
  point.limit = limit_of(table, part, question.practice);
  point.memory = memory_use(table, part, question.practice, question.optimizer, question.precision);
  if (part.device.memory_bytes) point.fits = point.memory.total() <= *part.device.memory_bytes;
  add_job(question, part, point);
  return point;
}

std::vector<Improvement> advise(const Question& question, std::int64_t devices) {
  constexpr double kLeastGain = 1.01;
  const auto now = predict_point(question, devices);
  std::vector<Change> changes;
  if (devices > 1) add_link_changes(question, part_of(question.cluster, devices), changes);
  add_practice_changes(question, changes);
  std::vector<Improvement> advice;
  for (const auto& change : changes) {
    const auto then = predict_point(change.question, devices);
    const double gain = then.samples_per_second / now.samples_per_second;
    if (gain >= kLeastGain && then.fits.value_or(true)) advice.push_back({change.name, then.step.seconds, gain});
  }
  std::stable_sort(advice.begin(), advice.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
  return advice;
}

ScalingPrediction predict_scaling(const Question& question, const std::vector<std::int64_t>& devices) {
  ScalingPrediction out;
  out.network = question.table.name;
  out.options = question.options;
  out.precision = question.precision;
  out.cluster = question.cluster.name;
  out.origin = question.table.origin;
  out.range = question.range;
  out.scaling = question.scaling;
  out.practice = question.practice;
  for (const auto count : devices) out.points.push_back(predict_point(question, count));
  out.advice = advise(question, devices.back());
  return out;
}

}  // namespace assay::predict
