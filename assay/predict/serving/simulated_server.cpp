#include "assay/predict/serving/simulated_server.hpp"

#include <algorithm>

namespace assay::predict {

void SimulatedServer::take(std::int64_t request, double time) {
  if (load() == 0) now_ = std::max(now_, time);
  waiting_.push_back(request);
}

void SimulatedServer::step(std::vector<FinishedToken>& finished, ServingSimulation& seen) {
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
      finished.push_back({request, false, false, true});
      continue;
    }
    const auto tokens = std::min(budget, sequence.prompt - sequence.computed);
    seconds += table_.prompt(static_cast<double>(tokens), static_cast<double>(sequence.computed));
    sequence.computed += tokens;
    budget -= tokens;
    if (sequence.computed < sequence.prompt) break;
    filling_.pop_front();
    finished.push_back({request, true, sequence.left == 1, false});
  }
  return seconds;
}

bool SimulatedServer::admit() {
  if (waiting_.empty() || running_ >= limits_.batch) return false;
  const auto request = waiting_.front();
  auto& sequence = of(request);
  if (cached_ + sequence.prompt + 1 > limits_.cache_tokens) return false;
  waiting_.pop_front();
  cached_ += sequence.prompt;
  sequence.computed = 0;
  sequence.admitted = ++admissions_;
  filling_.push_back(request);
  order_.push_back({request, sequence.admitted});
  ++running_;
  return true;
}

void SimulatedServer::take_first(const FinishedToken& one, ServingSimulation& seen) {
  seen.decoded_tokens += 1;
  of(one.request).left -= 1;
  if (one.last_token || prompts_only_) {
    leave(one.request);
  } else {
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
    finished.push_back({end.request, false, true, false});
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
