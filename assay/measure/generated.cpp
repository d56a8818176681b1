#include "assay/measure/generated.hpp"

#include <algorithm>
#include <cmath>

#include "assay/stats/quantile.hpp"

namespace assay::measure {
namespace {

/// The tokens of one step: sequence after sequence.
struct TokenTimes {
  const std::int64_t* ns;
  const Generation& asked;

  std::int64_t at(std::int64_t sequence, std::int64_t token) const {
    return ns[sequence * asked.output_tokens + token];
  }
  std::int64_t last_first() const {
    std::int64_t out = 0;
    for (std::int64_t s = 0; s < asked.sequences; ++s) out = std::max(out, at(s, 0));
    return out;
  }
  std::int64_t last() const {
    std::int64_t out = 0;
    for (std::int64_t s = 0; s < asked.sequences; ++s) out = std::max(out, at(s, asked.output_tokens - 1));
    return out;
  }
};

TokenTimes tokens_of(const RankResult& rank, const Generation& asked, std::size_t step) {
  const auto each = static_cast<std::size_t>(asked.sequences * asked.output_tokens);
  return {rank.tokens_ns.data() + step * each, asked};
}

bool has_tokens(const RankResult& rank, const Generation& asked) {
  const auto each = static_cast<std::size_t>(asked.sequences * asked.output_tokens);
  return !rank.samples_ns.empty() && rank.tokens_ns.size() == each * rank.samples_ns.size();
}

std::int64_t whole_median(std::vector<double> values) {
  return std::llround(stats::median(std::move(values)));
}

/// Times of the steps that count, gathered by what they are of.
struct GatheredTokens {
  std::vector<double> first;
  std::vector<double> each;                ///< mean over a sequence
  std::vector<std::vector<double>> curve;  ///< by token
  std::vector<double> prefill;
  double longest = 0;

  void add(const TokenTimes& step, const Generation& asked) {
    const auto gaps = asked.output_tokens - 1;
    curve.resize(static_cast<std::size_t>(gaps));
    prefill.push_back(static_cast<double>(step.last_first()));
    for (std::int64_t s = 0; s < asked.sequences; ++s) {
      first.push_back(static_cast<double>(step.at(s, 0)));
      if (gaps > 0) each.push_back(static_cast<double>(step.at(s, gaps) - step.at(s, 0)) / static_cast<double>(gaps));
      for (std::int64_t i = 0; i < gaps; ++i) {
        const auto gap = static_cast<double>(step.at(s, i + 1) - step.at(s, i));
        curve[static_cast<std::size_t>(i)].push_back(gap);
        longest = std::max(longest, gap);
      }
    }
  }
};

}  // namespace

void add_generation_phases(const Generation& asked, RankResult& rank) {
  if (!has_tokens(rank, asked)) return;
  auto& prefill = rank.phases_ns["prefill"];
  auto& decode = rank.phases_ns["decode"];
  std::size_t step = 0;
  for (const auto& slice : rank.slices) {
    for (std::int64_t i = 0; i < slice.samples; ++i, ++step) {
      if (slice.warmup) continue;
      const auto tokens = tokens_of(rank, asked, step);
      prefill.push_back(tokens.last_first());
      decode.push_back(tokens.last() - tokens.last_first());
      rank.phase_step_ns.push_back(rank.samples_ns[step]);
    }
  }
}

std::vector<double> first_tokens(const RankResult& rank, const Generation& asked, std::size_t from) {
  std::vector<double> out;
  if (!has_tokens(rank, asked)) return out;
  for (auto step = from; step < rank.samples_ns.size(); ++step)
    out.push_back(static_cast<double>(tokens_of(rank, asked, step).last_first()));
  return out;
}

std::optional<GeneratedSummary> summarise_tokens(const std::vector<RankResult>& ranks, const Generation& asked,
                                                 const std::vector<std::size_t>& from, const Summary& summary) {
  GatheredTokens gathered;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!has_tokens(ranks[i], asked)) return std::nullopt;
    for (auto step = from[std::min(i, from.size() - 1)]; step < ranks[i].samples_ns.size(); ++step)
      gathered.add(tokens_of(ranks[i], asked, step), asked);
  }
  if (gathered.first.empty()) return std::nullopt;
  GeneratedSummary out;
  out.first_token_ns = whole_median(gathered.first);
  if (!gathered.each.empty()) {
    out.token_ns = whole_median(gathered.each);
    out.longest_ns = std::llround(gathered.longest);
  }
  for (const auto& of_token : gathered.curve) out.curve_ns.push_back(whole_median(of_token));
  const auto processes = static_cast<double>(ranks.size());
  const auto sequences = static_cast<double>(asked.sequences);
  const double prefill_seconds = std::max(1.0, stats::median(gathered.prefill)) / 1e9;
  out.prompt_tokens_per_second = processes * sequences * static_cast<double>(asked.prompt_tokens) / prefill_seconds;
  const double of_step = sequences * static_cast<double>(asked.output_tokens);
  out.output_tokens_per_second = summary.samples_per_second.value_or(0) * of_step;
  if (summary.samples_per_joule) out.output_tokens_per_joule = *summary.samples_per_joule * of_step;
  out.weights_bytes = ranks[0].weights_bytes;
  out.cache_bytes = ranks[0].cache_bytes;
  return out;
}

}  // namespace assay::measure
