#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/predict/collective_cost.hpp"

namespace assay::predict {

/// Gradients that travel together, once so much of the backward pass is done.
struct SentMessage {
  double ready_share = 1;
  double bytes = 0;
};

/// A step of data-parallel training, and what it was measured to take.
struct MeasuredStep {
  std::string job;   ///< network and batch: rows of one job share its constants
  std::string link;  ///< what joins nodes
  std::int64_t devices = 1;
  std::int64_t devices_per_node = 1;
  double alone_seconds = 0;     ///< of the same step on one device
  double backward_seconds = 0;  ///< of that
  double extra_seconds = 0;     ///< known to come on top, such as copies into and out of a buffer
  std::vector<SentMessage> messages;
  std::optional<ParameterServers> servers;  ///< null: a ring
  double seconds = 0;                       ///< as measured
  std::optional<double> spread_seconds;     ///< standard deviation over runs
};

/// What a job has of its own once it has several devices.
struct JobConstants {
  double host_seconds = 0;  ///< work of the host that a single device hides, and that here waits for the last message
  double slow_down = 1;     ///< of the backward pass while messages travel
};

template <typename V>
void describe(V& v, JobConstants& c) {
  required(v, "host_seconds", c.host_seconds);
  required(v, "slow_down", c.slow_down);
}

struct CalibratedLink {
  double crossing_seconds = 0;  ///< each time a message goes from node to node
  double byte_seconds = 0;      ///< of the typical link; the ring waits for the slowest
  double spread = 0;            ///< relative standard deviation between links
};

template <typename V>
void describe(V& v, CalibratedLink& c) {
  required(v, "crossing_seconds", c.crossing_seconds);
  required(v, "byte_seconds", c.byte_seconds);
  required(v, "spread", c.spread);
}

/// A cluster as its measured steps tell it. docs/published.md has the formulas.
struct CalibratedCluster {
  double call_seconds = 0;         ///< of every message, wherever it goes
  double inside_byte_seconds = 0;  ///< within a node
  std::map<std::string, JobConstants> jobs;
  std::map<std::string, CalibratedLink> links;
};

template <typename V>
void describe(V& v, CalibratedCluster& c) {
  required(v, "call_seconds", c.call_seconds);
  required(v, "inside_byte_seconds", c.inside_byte_seconds);
  required(v, "jobs", c.jobs);
  required(v, "links", c.links);
}

/// The mean of the largest of `count` standard normal numbers, and its standard deviation.
struct LargestOf {
  explicit LargestOf(std::int64_t count);
  double mean = 0;
  double deviation = 1;
};

/// When the last of these messages has travelled and the backward pass is over, from its begin. Messages travel one
/// after the other; meanwhile the backward pass takes `slow_down` times as long. `cost` gives a message's seconds.
template <typename Cost>
double overlapped_seconds(double backward_seconds, double slow_down, const std::vector<SentMessage>& messages,
                          const Cost& cost);

/// What a step takes: its messages in a ring of all devices, node after node, or by servers. `step.seconds` is not
/// looked at.
/// Throws Error{usage} for a job or a link without constants, and for devices that fill no whole nodes.
double step_seconds(const MeasuredStep& step, const CalibratedCluster& cluster);

/// The constants under which step_seconds() comes closest to what was measured, by least squares of log-ratios. Needs
/// for every link a row that crosses it. Steps on one device tell nothing and are left out. The spread of a link is
/// read from spread_seconds of rows with one message, and is 0 where none has it. Throws Error{usage} where rows are
/// missing or a number is not above zero.
CalibratedCluster calibrate(const std::vector<MeasuredStep>& steps);

template <typename Cost>
double overlapped_seconds(double backward_seconds, double slow_down, const std::vector<SentMessage>& messages,
                          const Cost& cost) {
  double now = 0;
  double done = 0;  // of the backward pass
  for (const auto& message : messages) {
    const double ready = message.ready_share * backward_seconds;
    if (done < ready) {
      now += ready - done;
      done = ready;
    }
    const double travel = cost(message.bytes);
    done += std::min(backward_seconds - done, travel / slow_down);
    now += travel;
  }
  return now + (backward_seconds - done);
}

}  // namespace assay::predict
