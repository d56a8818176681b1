#include "assay/predict/serving/simulated_server.hpp"

#include <algorithm>

namespace assay::predict {

double SimulatedServer::next() const {
  if (decoding_ > 0 || !filling_.empty() || can_admit()) return now_;
  return held_.empty() ? kNever : std::max(now_, held_.top().time);
}

void SimulatedServer::take(std::int64_t request, double time) {
  if (waiting_.empty() && filling_.empty() && decoding_ == 0) now_ = std::max(now_, time);
  of(request).taken = time;
  waiting_.push_back(request);
}

void SimulatedServer::step(std::vector<FinishedToken>& finished, ServingSimulation& seen) {
  now_ = next();
  release_held();
  make_room(seen);
  const std::int64_t decoding = decoding_;
  double seconds =
      table_.decode(static_cast<double>(decoding), decoding > 0 ? context_ / static_cast<double>(decoding) : 0);
  const auto begins = finished.size();
  seconds += prompts(limits_.step_tokens - decoding, finished);
  now_ += seconds;
  seen.steps += 1;
  seen.decoded_tokens += decoding;
  seen.mean_batch += static_cast<double>(decoding);
  context_ += static_cast<double>(decoding);
  cached_ += decoding;
  if (decoding > 0) ++decode_steps_;
  end_decoding(finished);
  for (auto i = begins; i < finished.size(); ++i) {
    finished[i].time = finished[i].first_token ? first_token_time(of(finished[i].request)) : now_;
    if (finished[i].first_token) take_first(finished[i], seen);
    if (finished[i].handed_over) begin_decoding(finished[i].request);
  }
  seen.largest_batch = std::max(seen.largest_batch, static_cast<double>(running_));
}

double SimulatedServer::prompts(std::int64_t budget, std::vector<FinishedToken>& finished) {
  double seconds = 0;
  while (budget > 0) {
    if (filling_.empty() && !admit()) break;
    const auto request = filling_.front();
    auto& sequence = of(request);
    if (sequence.handed_over) {
      sequence.handed_over = false;
      filling_.pop_front();
      finished.push_back({request, false, false, true, 0});
      continue;
    }
    const auto tokens = std::min(budget, sequence.prompt - sequence.computed);
    const double own = table_.prompt(static_cast<double>(tokens), static_cast<double>(sequence.computed));
    seconds += own;
    sequence.prompt_seconds += own;
    sequence.computed += tokens;
    budget -= tokens;
    if (sequence.computed < sequence.prompt) break;
    filling_.pop_front();
    finished.push_back({request, true, sequence.left == 1, false, 0});
  }
  return seconds;
}

bool SimulatedServer::can_admit() const {
  if (waiting_.empty() || running_ >= limits_.batch) return false;
  const auto& sequence = sequences_[static_cast<std::size_t>(waiting_.front())];
  return cached_ + sequence.prompt + 1 <= limits_.cache_tokens;
}

bool SimulatedServer::admit() {
  if (!can_admit()) return false;
  const auto request = waiting_.front();
  auto& sequence = of(request);
  waiting_.pop_front();
  cached_ += sequence.prompt;
  sequence.begin = std::min(sequence.begin, now_);  // after an eviction the first time counts
  sequence.computed = 0;
  sequence.prompt_seconds = 0;
  sequence.admitted = ++admissions_;
  filling_.push_back(request);
  order_.push_back({request, sequence.admitted});
  ++running_;
  return true;
}

/// What `first` adds passes without the server, as in closed_times(): the prompts of others wait for the prompt alone.
/// What `first_each` adds for others of the batch is mostly their prompts, for which this one has waited here already:
/// the first token is there no sooner than both say, and is not delayed twice.
double SimulatedServer::first_token_time(Sequence& sequence) const {
  if (sequence.first_token > 0) return std::max(now_, sequence.first_token);  // computed again after an eviction
  const double alone = now_ + (table_.first(0) - 1) * sequence.prompt_seconds;
  const double beside = sequence.taken + table_.first(static_cast<double>(running_ - 1)) * sequence.prompt_seconds;
  sequence.first_token = std::max(alone, beside);
  return sequence.first_token;
}

void SimulatedServer::take_first(const FinishedToken& one, ServingSimulation& seen) {
  constexpr double kAtOnce = 1e-9;  // seconds: sums in another order
  seen.decoded_tokens += 1;
  auto& sequence = of(one.request);
  sequence.left -= 1;
  if (one.last_token || prompts_only_) {
    leave(one.request);
  } else if (sequence.first_token > now_ + kAtOnce) {
    sequence.held = true;
    held_.push({sequence.first_token, one.request, sequence.entry});
  } else {
    begin_decoding(one.request);
  }
}

void SimulatedServer::release_held() {
  while (!held_.empty() && held_.top().time <= now_) {
    const auto one = held_.top();
    held_.pop();
    auto& sequence = of(one.request);
    if (!sequence.held || sequence.entry != one.entry) continue;  // evicted meanwhile
    sequence.held = false;
    begin_decoding(one.request);
  }
}

void SimulatedServer::begin_decoding(std::int64_t request) {
  auto& sequence = of(request);
  ++cached_;
  context_ += static_cast<double>(sequence.prompt + 1);
  ++decoding_;
  sequence.entry += 1;
  sequence.began = decode_steps_;
  ends_.push({decode_steps_ + sequence.left, request, sequence.entry});
}

void SimulatedServer::end_decoding(std::vector<FinishedToken>& finished) {
  while (!ends_.empty() && ends_.top().step <= decode_steps_) {
    const auto end = ends_.top();
    ends_.pop();
    auto& sequence = of(end.request);
    if (sequence.entry != end.entry || sequence.left == 0) continue;
    const auto made = sequence.left;
    sequence.left = 0;
    --decoding_;
    context_ -= static_cast<double>(sequence.prompt + 1 + made);
    cached_ -= made + 1;
    leave(end.request);
    finished.push_back({end.request, false, true, false, now_});
  }
}

void SimulatedServer::leave(std::int64_t request) {
  cached_ -= of(request).prompt;
  of(request).admitted = 0;
  --running_;
}

void SimulatedServer::make_room(ServingSimulation& seen) {
  while (running_ > 1 && cached_ + decoding_ > limits_.cache_tokens) {
    const auto [request, admitted] = order_.back();
    order_.pop_back();
    auto& sequence = of(request);
    if (sequence.admitted != admitted) continue;  // it has left
    const bool is_filling = !filling_.empty() && filling_.back() == request;
    if (is_filling) {
      filling_.pop_back();
      leave(request);
    } else if (sequence.held) {
      sequence.held = false;
      leave(request);
      sequence.prompt += 1;
      sequence.entry += 1;
    } else {
      const auto made = decode_steps_ - sequence.began;
      --decoding_;
      context_ -= static_cast<double>(sequence.prompt + 1 + made);
      cached_ -= made + 1;
      leave(request);
      sequence.left -= made;
      sequence.prompt += made + 1;
      sequence.entry += 1;  // its end no longer counts
    }
    waiting_.push_front(request);
    seen.evictions += 1;
    seen.requests[static_cast<std::size_t>(request)].evictions += 1;
  }
}

}  // namespace assay::predict
