#include "assay/load/queries/ledger.hpp"

#include <algorithm>

#include "assay/core/error.hpp"

namespace assay::load {

Ledger::Ledger(std::vector<Arrival> schedule, const Rules& rules)
    : schedule_(std::move(schedule)),
      rules_(rules),
      requests_(schedule_.size()),
      is_under_way_(schedule_.size()),
      free_clients_(rules.clients, 0) {
  ASSAY_CHECK(rules.connections > 0);
  for (std::size_t i = 0; i < schedule_.size(); ++i) {
    requests_[i].due_ns = schedule_[i].due_ns;
    requests_[i].warm_up = schedule_[i].warm_up;
  }
}

std::optional<std::int64_t> Ledger::next_due() const {
  if (noticed_ == schedule_.size()) return std::nullopt;
  if (!closed()) return schedule_[noticed_].due_ns;
  if (free_clients_.empty() || free_clients_.front() >= rules_.closed_end_ns) return std::nullopt;
  return free_clients_.front();
}

void Ledger::notice(std::int64_t now_ns) {
  for (auto due = next_due(); due && *due <= now_ns; due = next_due()) {
    auto& request = requests_[noticed_++];
    request.due_ns = *due;
    request.noticed_ns = now_ns;
    if (!closed()) continue;
    request.warm_up = *due < rules_.closed_warm_up_ns;
    free_clients_.pop_front();
  }
}

std::optional<std::size_t> Ledger::take() {
  if (taken_ == noticed_) return std::nullopt;
  if (under_way_ >= rules_.connections) {
    // Each request that waits counts once: those noticed and not taken, from the last one that was counted.
    const auto begin = last_waited_ == SIZE_MAX ? taken_ : std::max(taken_, last_waited_ + 1);
    waited_ += noticed_ - std::min(begin, noticed_);
    last_waited_ = noticed_ - 1;
    return std::nullopt;
  }
  most_under_way_ = std::max(most_under_way_, ++under_way_);
  is_under_way_[taken_] = true;
  return taken_++;
}

void Ledger::finish(std::size_t index, RequestOutcome outcome, std::int64_t now_ns) {
  ASSAY_CHECK(is_under_way_[index]);
  is_under_way_[index] = false;
  --under_way_;
  requests_[index].outcome = outcome;
  requests_[index].finished_ns = now_ns;
  if (closed()) free_clients_.push_back(now_ns);
}

bool Ledger::complete() const {
  return under_way_ == 0 && taken_ == noticed_ && !next_due();
}

void Ledger::close(std::int64_t now_ns) {
  if (!closed()) notice(now_ns);
  for (std::size_t i = 0; i < taken_; ++i) {
    if (!is_under_way_[i]) continue;
    finish(i, RequestOutcome::pending, now_ns);
    requests_[i].finished_ns.reset();
  }
  requests_.resize(closed() ? taken_ : noticed_);
}

}  // namespace assay::load
