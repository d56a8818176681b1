#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "assay/predict/serving/server_simulation.hpp"

namespace assay::predict {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A request inside the servers.
struct Sequence {
  std::int64_t prompt = 0;    ///< tokens to be computed before the next one can be made; after an eviction also answers
  std::int64_t computed = 0;  ///< of these, done
  std::int64_t left = 0;      ///< tokens of the answer that are still to be made
  std::int64_t admitted = 0;  ///< a number that grows: the last one in is the first to be evicted
  std::int64_t entry = 0;     ///< counts the times it began to decode, so that old ends are known
  std::int64_t began = 0;     ///< step at which it began to decode
  bool handed_over = false;   ///< its prompt was computed by another server
  bool held = false;          ///< its prompt is computed, its first token not yet there
  double taken = 0;           ///< when a server was given it
  double begin = kNever;      ///< of the step that computed the first of its prompt
  double prompt_seconds = 0;  ///< what its prompt took
  double first_token = 0;     ///< when its first token is there; 0 before that is known
};

/// A sequence whose prompt is computed, and when it goes on.
struct HeldSequence {
  double time = 0;
  std::int64_t request = 0;
  std::int64_t entry = 0;
  bool operator>(const HeldSequence& other) const {
    return time != other.time ? time > other.time : request > other.request;
  }
};

/// The end of a sequence's decoding, by the server's own count of decode steps.
struct DecodeEnd {
  std::int64_t step = 0;
  std::int64_t request = 0;
  std::int64_t entry = 0;
  bool operator>(const DecodeEnd& other) const {
    return step != other.step ? step > other.step : request > other.request;
  }
};

struct FinishedToken {
  std::int64_t request = 0;
  bool first_token = false;  ///< the token that comes with a prompt, and perhaps its last too
  bool last_token = false;
  bool handed_over = false;  ///< no token: it came with its prompt computed, and decodes from now on
  double time = 0;
};

/// One server: what waits, what is computing its prompt, what decodes. A step costs the same whatever the batch.
class SimulatedServer {
 public:
  /// The table and the sequences must outlive it.
  SimulatedServer(const StepTable& table, const ServerLimits& limits, std::vector<Sequence>& sequences,
                  bool prompts_only)
      : table_(table), limits_(limits), sequences_(sequences), prompts_only_(prompts_only) {}

  /// When its next step begins; kNever where it has nothing to do.
  double next() const;
  std::int64_t load() const { return static_cast<std::int64_t>(waiting_.size()) + running_; }
  double now() const { return now_; }

  void take(std::int64_t request, double time);

  /// Runs one step from now(); what ended with it is appended.
  void step(std::vector<FinishedToken>& finished, ServingSimulation& seen);

 private:
  Sequence& of(std::int64_t request) { return sequences_[static_cast<std::size_t>(request)]; }

  /// Tokens of prompts as far as the step allows: of those that have begun, then of those that wait. Returns seconds.
  double prompts(std::int64_t budget, std::vector<FinishedToken>& finished);

  /// The next that waits, where there is a place and room for its prompt and one more token.
  bool admit();
  bool can_admit() const;

  /// When the first token is there of a sequence whose prompt has just been computed.
  double first_token_time(Sequence& sequence) const;

  void take_first(const FinishedToken& one, ServingSimulation& seen);
  void release_held();
  void begin_decoding(std::int64_t request);
  void end_decoding(std::vector<FinishedToken>& finished);
  void leave(std::int64_t request);

  /// Where the next token of all does not fit, the last that came in gives its place up and computes all of its tokens
  /// again later, as a prompt; what it has answered stays answered.
  void make_room(ServingSimulation& seen);

  const StepTable& table_;
  ServerLimits limits_;
  std::vector<Sequence>& sequences_;
  bool prompts_only_;
  double now_ = 0;
  std::deque<std::int64_t> waiting_;
  std::deque<std::int64_t> filling_;
  std::vector<std::pair<std::int64_t, std::int64_t>> order_;  ///< request and admission of what is inside, in order
  std::priority_queue<DecodeEnd, std::vector<DecodeEnd>, std::greater<>> ends_;
  std::priority_queue<HeldSequence, std::vector<HeldSequence>, std::greater<>> held_;
  std::int64_t running_ = 0;
  std::int64_t decoding_ = 0;
  std::int64_t cached_ = 0;
  double context_ = 0;  ///< tokens that decoding sequences have cached, together
  std::int64_t decode_steps_ = 0;
  std::int64_t admissions_ = 0;
};

}  // namespace assay::predict
