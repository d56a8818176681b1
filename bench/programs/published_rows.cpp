#include <algorithm>
#include <map>

#include "bench/programs/published.hpp"

namespace assay::bench {
namespace {

constexpr std::int64_t kDevicesPerNode = 4;
constexpr double kMemoryRate = 616e9;  // bytes/s of an RTX 2080 Ti, as its maker says

/// Cells by the names of their columns.
class Cells {
 public:
  Cells(const model::Frame& frame, const std::vector<std::string>& row) : frame_(frame), row_(row) {}

  const std::string& text(const std::string& column) const {
    const auto found = std::find(frame_.columns.begin(), frame_.columns.end(), column);
    if (found == frame_.columns.end()) fail(ErrorKind::bad_input, "there is no column {}.", column);
    return row_[static_cast<std::size_t>(found - frame_.columns.begin())];
  }
  double number(const std::string& column) const { return std::stod(text(column)); }
  std::int64_t integer(const std::string& column) const { return std::stoll(text(column)); }

 private:
  const model::Frame& frame_;
  const std::vector<std::string>& row_;
};

/// What a program thinks an all-reduce of n bytes takes when it joins gradients: a + b n.
struct Belief {
  double a = 0;
  double b = 0;
};

/// The constants that the published mg-wfbp has built in for so many workers: it does not measure its cluster. It has
/// one table for 10 Gb/s and one that both 100 Gb/s runs use; null for a number of workers it does not know.
const Belief* belief_of(const std::string& interconnect, std::int64_t devices) {
  static const std::map<std::int64_t, Belief> slow{{4, {4.2043e-5, 2.0589e-10}},
                                                   {8, {5.2303e-4, 8.5707e-10}},
                                                   {16, {9.0810e-4, 7.3957e-10}},
                                                   {32, {4.0429e-3, 8.6433e-10}}};
  static const std::map<std::int64_t, Belief> fast{{4, {4.2043e-5, 2.0589e-10}},
                                                   {8, {9.7537e-5, 3.0568e-10}},
                                                   {16, {7.0751e-4, 4.0595e-10}},
                                                   {32, {4.0632e-4, 4.9070e-10}}};
  const auto& beliefs = interconnect == "10gbe/tcp" ? slow : fast;
  const auto found = beliefs.find(devices);
  return found == beliefs.end() ? nullptr : &found->second;
}

using predict::SentMessage;

/// Each gradient on its own, the last layer's first.
std::vector<SentMessage> gradients_of_network(const std::vector<PublishedNode>& nodes) {
  double total = 0;
  for (const auto& node : nodes) total += node.flops;
  double done = 0;
  std::vector<SentMessage> gradients;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    done += node->flops;
    for (const double bytes : node->gradient_bytes) gradients.push_back({std::min(1.0, done / total), bytes});
  }
  return gradients;
}

/// The rule of mg-wfbp: a message takes in the next gradient where that one is ready before the message could start, or
/// less than one `a` after, or where the message has fewer than 8,192 values.
std::vector<SentMessage> joined(const std::vector<SentMessage>& gradients, double backward_seconds,
                                const Belief& belief) {
  std::vector<SentMessage> messages;
  double free = 0;
  double bytes = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    bytes += gradients[i].bytes;
    const double start = std::max(free, gradients[i].ready_share * backward_seconds);
    const double end = start + belief.a + belief.b * bytes;
    if (i + 1 < gradients.size()) {
      const double next = gradients[i + 1].ready_share * backward_seconds;
      if ((next < end && (next < start || next - start < belief.a)) || bytes < 4 * 8192) continue;
    }
    messages.push_back({gradients[i].ready_share, bytes});
    free = end;
    bytes = 0;
  }
  return messages;
}

double sum_of_bytes(const std::vector<SentMessage>& messages) {
  double bytes = 0;
  for (const auto& message : messages) bytes += message.bytes;
  return bytes;
}

/// How often the update goes through memory for each value: SGD without momentum reads two and writes one; Adam as
/// the published program has it takes seven operations that read and write 19 in all.
double passes_of_update(const std::string& network) {
  return network == "resnet50" ? 3 : 19;
}

void fill_messages(PublishedStep& row) {
  const auto gradients = gradients_of_network(published_network(row.network));
  const double bytes = sum_of_bytes(gradients);
  auto& step = row.step;
  step.backward_seconds = (step.alone_seconds - passes_of_update(row.network) * bytes / kMemoryRate) * 2 / 3;
  if (row.method == "wfbp-a2a" || row.method == "wfbp-ps" || row.method == "bytescheduler-ps") {
    step.messages = gradients;
    return;
  }
  step.extra_seconds = 2 * bytes / kMemoryRate;  // into the buffer: read and written
  step.messages = row.method == "bsp-a2a" || row.method == "bsp-ps"
                      ? std::vector<SentMessage>{{1, bytes}}
                      : joined(gradients, step.backward_seconds, *belief_of(step.link, step.devices));
}

PublishedStep step_of_row(const Cells& cells) {
  PublishedStep row;
  row.network = cells.text("network");
  row.method = cells.text("method");
  row.samples_per_second = cells.number("samples_per_second");
  auto& step = row.step;
  step.job = row.network;
  step.link = cells.text("interconnect");
  step.devices = cells.integer("devices");
  step.devices_per_node = kDevicesPerNode;
  row.batch = static_cast<double>(step.devices) * cells.number("batch_per_device");
  step.seconds = row.batch / row.samples_per_second;
  if (!cells.text("plus_minus").empty()) {
    step.spread_seconds = step.seconds * cells.number("plus_minus") / row.samples_per_second;
  }
  return row;
}

bool is_predicted(const PublishedStep& row) {
  if (row.method == "mg-wfbp") return row.step.devices == 1 || belief_of(row.step.link, row.step.devices) != nullptr;
  return row.method == "bsp-a2a" || row.method == "wfbp-a2a";
}

bool has_servers(const PublishedStep& row) {
  return row.method == "bsp-ps" || row.method == "wfbp-ps" || row.method == "bytescheduler-ps";
}

void put_servers(PublishedStep& row) {
  row.step.servers = predict::ParameterServers{predict::ServerPlace::own, std::nullopt};
  row.step.link += "/" + row.network + (row.method == "bytescheduler-ps" ? "/bytescheduler" : "");
}

std::vector<PublishedStep> rows_of(const model::Frame& frame, bool (*wanted)(const PublishedStep&)) {
  std::vector<PublishedStep> rows;
  for (const auto& cells : frame.rows) {
    auto row = step_of_row({frame, cells});
    if (wanted(row)) rows.push_back(std::move(row));
  }
  return rows;
}

using SecondsOfNetwork = std::map<std::string, double>;

SecondsOfNetwork alone_seconds(const std::vector<PublishedStep>& rows) {
  SecondsOfNetwork alone;
  for (const auto& row : rows) {
    if (row.step.devices == 1) alone[row.network] = row.step.seconds;
  }
  return alone;
}

std::vector<PublishedStep> steps_of(std::vector<PublishedStep> rows, const SecondsOfNetwork& alone) {
  for (auto& row : rows) {
    const auto found = alone.find(row.network);
    if (found == alone.end()) fail(ErrorKind::bad_input, "No row has {} on one device.", row.network);
    row.step.alone_seconds = found->second;
    if (row.step.devices > 1) fill_messages(row);
    if (has_servers(row)) put_servers(row);
  }
  return rows;
}

}  // namespace

std::vector<PublishedStep> published_steps(const model::Frame& frame, const model::Frame& alone_in) {
  return steps_of(rows_of(frame, is_predicted), alone_seconds(rows_of(alone_in, is_predicted)));
}

std::vector<PublishedStep> published_server_steps(const model::Frame& frame, const model::Frame& alone_in) {
  return steps_of(rows_of(frame, has_servers), alone_seconds(rows_of(alone_in, has_servers)));
}

std::vector<PublishedTransformer> published_transformers(const model::Frame& frame) {
  std::vector<PublishedTransformer> rows;
  for (const auto& row : frame.rows) {
    const Cells cells(frame, row);
    PublishedTransformer one;
    one.network = cells.text("network");
    one.seconds = cells.number("iteration_seconds");
    one.shape = {cells.integer("hidden"), cells.integer("feedforward"), cells.integer("sequence"),
                 cells.integer("heads"),  cells.integer("blocks"),      51200};
    auto& plan = one.plan;
    plan.tensor = cells.integer("tensor_parallel");
    plan.pipeline = cells.integer("pipeline_parallel");
    plan.data = cells.integer("devices") / (plan.tensor * plan.pipeline);
    plan.interleaving = cells.integer("interleaving");
    plan.batch = cells.integer("batch");
    plan.microbatch = cells.integer("microbatch");
    plan.recompute = cells.text("recompute") == "full" ? predict::Recompute::full : predict::Recompute::attention;
    plan.sequence_parallel = cells.text("sequence_parallel") == "yes";
    rows.push_back(one);
  }
  return rows;
}

}  // namespace assay::bench
