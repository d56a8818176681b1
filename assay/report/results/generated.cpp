#include "assay/report/results/generated.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/units.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

/// The median over runs that have the figure.
template <typename Figure>
std::optional<double> over_runs(const std::vector<const GeneratedSummary*>& runs, Figure figure) {
  std::vector<double> values;
  for (const auto* run : runs) {
    if (const std::optional<double> value = figure(*run)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return stats::median(std::move(values));
}

template <typename T>
std::optional<double> as_number(const std::optional<T>& value) {
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

std::optional<std::int64_t> whole(const std::optional<double>& value) {
  return value ? std::optional<std::int64_t>(std::llround(*value)) : std::nullopt;
}

std::string duration_at(const GeneratedSummary& generated, const Generation& asked, std::size_t i) {
  return fmt::format("{} after {} tokens", format_duration(static_cast<double>(generated.curve_ns[i])),
                     asked.prompt_tokens + static_cast<std::int64_t>(i) + 1);
}

}  // namespace

std::optional<GeneratedSummary> generated_of(const std::vector<const Summary*>& runs) {
  std::vector<const GeneratedSummary*> all;
  for (const auto* run : runs) {
    if (run->generated) all.push_back(&*run->generated);
  }
  if (all.empty()) return std::nullopt;
  using G = GeneratedSummary;
  GeneratedSummary out;
  out.first_token_ns = *whole(over_runs(all, [](const G& g) { return std::optional<double>(g.first_token_ns); }));
  out.token_ns = whole(over_runs(all, [](const G& g) { return as_number(g.token_ns); }));
  out.longest_ns = whole(over_runs(all, [](const G& g) { return as_number(g.longest_ns); }));
  out.prompt_tokens_per_second =
      *over_runs(all, [](const G& g) { return std::optional<double>(g.prompt_tokens_per_second); });
  out.output_tokens_per_second =
      *over_runs(all, [](const G& g) { return std::optional<double>(g.output_tokens_per_second); });
  out.output_tokens_per_joule = over_runs(all, [](const G& g) { return g.output_tokens_per_joule; });
  out.weights_bytes = whole(over_runs(all, [](const G& g) { return as_number(g.weights_bytes); }));
  out.cache_bytes = whole(over_runs(all, [](const G& g) { return as_number(g.cache_bytes); }));
  std::size_t points = all[0]->curve_ns.size();
  for (const auto* run : all) points = std::min(points, run->curve_ns.size());
  for (std::size_t i = 0; i < points; ++i) {
    const auto at = over_runs(all, [i](const G& g) { return std::optional<double>(g.curve_ns[i]); });
    out.curve_ns.push_back(*whole(at));
  }
  return out;
}

std::vector<std::string> generated_lines(const GeneratedSummary& generated, const Generation& asked) {
  std::vector<std::string> out{fmt::format("first token: {}, {} tokens/s in",
                                           format_duration(static_cast<double>(generated.first_token_ns)),
                                           format_rate(generated.prompt_tokens_per_second))};
  if (generated.token_ns) {
    auto line = fmt::format("per token: {}, {} tokens/s out in the whole step",
                            format_duration(static_cast<double>(*generated.token_ns)),
                            format_rate(generated.output_tokens_per_second));
    if (generated.longest_ns)
      line += fmt::format(", the longest {}", format_duration(static_cast<double>(*generated.longest_ns)));
    out.push_back(std::move(line));
  }
  if (generated.curve_ns.size() > 2) {
    out.push_back(fmt::format("time of a token over the context: {}, {}, {}", duration_at(generated, asked, 0),
                              duration_at(generated, asked, generated.curve_ns.size() / 2),
                              duration_at(generated, asked, generated.curve_ns.size() - 1)));
  }
  if (generated.output_tokens_per_joule)
    out.push_back(fmt::format("energy: {:.4g} tokens/J", *generated.output_tokens_per_joule));
  if (generated.weights_bytes) {
    auto line = fmt::format("memory of weights: {}", format_bytes(*generated.weights_bytes));
    if (generated.cache_bytes) line += fmt::format(", of keys and values: {}", format_bytes(*generated.cache_bytes));
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace assay::report
