#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/text/json.hpp"
#include "assay/measure/order.hpp"

namespace assay::measure {

constexpr std::size_t kMostLineBytes = 4u << 20;

/// A worker's answer to `prepare`.
struct Prepared {
  std::map<std::string, std::string> versions;
  std::optional<std::int64_t> parameters;
  json effective = json::object();
  std::optional<std::int64_t> weights_bytes = {};
  std::optional<std::int64_t> cache_bytes = {};
};

/// A worker's answer to `measure`.
struct Measured {
  std::vector<std::int64_t> samples_ns;
  std::vector<std::int64_t> tokens_ns;  ///< of all samples, as in RankResult; the same number for each
  std::map<std::string, std::vector<std::int64_t>> phases_ns;
  std::vector<Layer> layers;
  std::vector<Bucket> buckets;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// What a network computes is asked with these.
struct Evaluation {
  std::string output;  ///< file to write when inferring
  std::int64_t updates = 0;
  double learning_rate = 0.01;
  double momentum = 0.9;
};

/// A worker's answer to `evaluate`.
struct Evaluated {
  std::vector<double> losses;
  std::map<std::string, double> gradient_norms;
};

/// A worker's answer to `score`.
struct Scored {
  std::int64_t correct = 0;    ///< of the held-out samples
  std::int64_t of = 0;         ///< how many were looked at
  std::vector<double> losses;  ///< of the steps since the last score
};

/// A worker's `error` message.
struct Reported {
  OutcomeKind kind = OutcomeKind::failed;
  std::string message;
};

/// The command `prepare` for one process of a run. `peers` are the addresses of its ranks.
json prepare_request(const Part& part, std::int64_t rank, std::int64_t instance,
                     const std::vector<std::string>& peers = {});

// All throw Error{bad_input} that names the rule a worker broke.

/// One line of the protocol.
json parse_message(std::string_view line);
/// The `type` of a message.
std::string message_type(const json& message);
Prepared read_prepared(const json& message);
Evaluated read_evaluated(const json& message);
Scored read_scored(const json& message);
Reported read_error(const json& message);

/// Adds a `samples` or `layers` message to `measured`, holding it to `max_samples`.
void add_samples(const json& message, const std::string& detail, std::int64_t max_samples, Measured& measured);
/// Takes `done` and checks that everything adds up.
void finish(const json& message, const std::string& detail, Measured& measured);

}  // namespace assay::measure
