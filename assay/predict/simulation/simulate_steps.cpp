#include "assay/predict/simulation/simulate_steps.hpp"

#include <bit>

namespace assay::predict {
namespace {

/// Collects the steps of one algorithm.
class StepList {
 public:
  explicit StepList(const SimulationRequest& r)
      : nodes_(r.topology.nodes),
        devices_(r.topology.devices_per_node),
        // Devices that send at once share the node's link, or have one each.
        streams_(r.shared_nic ? devices_ : 1),
        mirrored_(r.background.empty()) {}

  void ring();
  void halving_doubling();
  void binary_tree();
  void hierarchical();
  std::vector<SimulatedStep> take() { return std::move(steps_); }

 private:
  SimulatedSends to_the_next() const;
  void inside_only(double times, double share) { steps_.push_back({times, share, true, {}, 1}); }
  void across_only(double times, double share, SimulatedSends sends, std::int64_t streams) {
    steps_.push_back({times, share, false, std::move(sends), streams});
  }
  void there_and_back(const SimulatedSends& there, std::int64_t streams);

  std::int64_t nodes_;
  std::int64_t devices_;
  std::int64_t streams_;
  bool mirrored_;  ///< what goes back takes as long as what went there, as links are alike in both directions
  std::vector<SimulatedStep> steps_;
};

SimulatedSends StepList::to_the_next() const {
  SimulatedSends sends(static_cast<std::size_t>(nodes_));
  for (std::int64_t node = 0; node < nodes_; ++node) {
    sends[static_cast<std::size_t>(node)] = static_cast<std::int32_t>((node + 1) % nodes_);
  }
  return sends;
}

/// The whole buffer is sent, and later sent back.
void StepList::there_and_back(const SimulatedSends& there, std::int64_t streams) {
  across_only(mirrored_ ? 2 : 1, 1, there, streams);
  if (mirrored_) return;
  SimulatedSends back(there.size(), kNobody);
  for (std::size_t node = 0; node < there.size(); ++node) {
    if (there[node] != kNobody) back[static_cast<std::size_t>(there[node])] = static_cast<std::int32_t>(node);
  }
  across_only(1, 1, std::move(back), streams);
}

void StepList::ring() {
  const auto ranks = static_cast<double>(nodes_ * devices_);
  if (ranks == 1) return;
  SimulatedStep step{2 * (ranks - 1), 1 / ranks, devices_ > 1, {}, 1};
  if (nodes_ > 1) step.sends = to_the_next();
  steps_.push_back(std::move(step));
}

void StepList::halving_doubling() {
  const auto full = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(nodes_)));
  const auto ranks = full * devices_;
  const auto share = [&](std::int64_t distance) { return static_cast<double>(distance) / static_cast<double>(ranks); };
  for (std::int64_t distance = 1; distance < devices_; distance *= 2) inside_only(2, share(distance));
  for (std::int64_t apart = 1; apart < full; apart *= 2) {
    SimulatedSends sends(static_cast<std::size_t>(nodes_), kNobody);
    for (std::int64_t node = 0; node < full; ++node) {
      sends[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(node ^ apart);
    }
    across_only(2, share(apart * devices_), std::move(sends), streams_);
  }
  if (full == nodes_) return;
  // The surplus nodes give all they have and get the sum, as in model/collective.hpp.
  SimulatedSends surplus(static_cast<std::size_t>(nodes_), kNobody);
  for (std::int64_t node = full; node < nodes_; ++node) {
    surplus[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(node - full);
  }
  there_and_back(surplus, streams_);
}

void StepList::binary_tree() {
  for (std::int64_t distance = 1; distance < devices_; distance *= 2) inside_only(2, 1);
  for (std::int64_t apart = 1; apart < nodes_; apart *= 2) {
    SimulatedSends sends(static_cast<std::size_t>(nodes_), kNobody);
    for (std::int64_t node = apart; node < nodes_; node += 2 * apart) {
      sends[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(node - apart);
    }
    there_and_back(sends, 1);
  }
}

void StepList::hierarchical() {
  const auto nodes = static_cast<double>(nodes_);
  const auto devices = static_cast<double>(devices_);
  if (devices_ > 1) inside_only(2 * (devices - 1), 1 / devices);
  if (nodes_ > 1) across_only(2 * (nodes - 1), 1 / (devices * nodes), to_the_next(), streams_);
}

}  // namespace

std::vector<SimulatedStep> simulated_steps(const SimulationRequest& request) {
  StepList list(request);
  switch (request.algorithm) {
    case SimulatedAlgorithm::ring:
      list.ring();
      break;
    case SimulatedAlgorithm::halving_doubling:
      list.halving_doubling();
      break;
    case SimulatedAlgorithm::binary_tree:
      list.binary_tree();
      break;
    case SimulatedAlgorithm::hierarchical:
      list.hierarchical();
      break;
  }
  return list.take();
}

}  // namespace assay::predict
