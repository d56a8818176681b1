#include "assay/report/subjects/predict/service.hpp"

#include <algorithm>
#include <set>

#include "assay/core/text/units.hpp"

namespace assay::report {
namespace {

using predict::CapacityOption;
using predict::ServiceAnswer;

std::string load_text(const ServiceAnswer& answer) {
  auto text = answer.rate_per_second ? fmt::format("{:.4g} requests/s", *answer.rate_per_second)
                                     : fmt::format("{} clients", answer.concurrency.value_or(1));
  text += fmt::format(" of {} tokens in and {} out", answer.prompt_tokens, answer.output_tokens);
  if (answer.lengths) text += " on average";
  if (answer.length_width) text += fmt::format(", {}:{:g}", name_of(*answer.lengths), *answer.length_width);
  for (const auto& limit : answer.limits) {
    text += fmt::format(", {} p{:g} < {}", name_of(limit.time), 100 * limit.quantile, format_seconds(limit.seconds));
  }
  return text;
}

std::string replicas_text(const CapacityOption& option) {
  auto text = std::to_string(option.replicas);
  if (option.prefill_replicas > 0) text += fmt::format(" + {} for prompts", option.prefill_replicas);
  const auto low = option.replicas_low.value_or(option.replicas);
  if (low == option.replicas && option.replicas_high == option.replicas) return text;
  const auto high = option.replicas_high ? std::to_string(*option.replicas_high) : "more";
  return fmt::format("{} ({} to {})", text, low, high);
}

Table options_table(const ServiceAnswer& answer) {
  const auto right = Table::Align::right;
  const bool priced = std::any_of(answer.options.begin(), answer.options.end(),
                                  [](const auto& one) { return one.price_per_million_tokens.has_value(); });
  std::vector<Table::Column> columns{{"device"},          {"split", right},         {"replicas", right},
                                     {"devices", right},  {"ttft p50, p99", right}, {"tpot p50, p99", right},
                                     {"batch", right, 3}, {"busy", right, 4},       {"device-hours", right, 2},
                                     {"kWh", right, 1}};
  if (priced) columns.push_back({"price", right});
  columns.push_back({"limit"});
  Table table(columns);
  std::set<std::string> shown_devices;  // the best split of each
  for (const auto& one : answer.options) {
    if (one.replicas == 0 || !shown_devices.insert(one.device).second) continue;
    std::vector<std::string> cells{
        one.device,
        std::to_string(one.tensor),
        replicas_text(one),
        std::to_string(one.devices),
        format_seconds(one.first_token_seconds.p50) + ", " + format_seconds(one.first_token_seconds.p99),
        format_seconds(one.token_seconds.p50) + ", " + format_seconds(one.token_seconds.p99),
        fmt::format("{:.1f}", one.mean_batch),
        fmt::format("{:.0f} %", 100 * one.busy),
        fmt::format("{:.3g}", one.device_hours_per_million_tokens),
        fmt::format("{:.3g}", one.kwh_per_million_tokens)};
    if (priced)
      cells.push_back(one.price_per_million_tokens ? fmt::format("{:.3g}", *one.price_per_million_tokens) : "");
    cells.push_back(one.limit);
    table.add(cells);
  }
  return table;
}

void add_refused(Document& document, const ServiceAnswer& answer) {
  std::set<std::string> with_answer;
  for (const auto& one : answer.options) {
    if (one.replicas > 0) with_answer.insert(one.device);
  }
  std::set<std::string> said;
  for (const auto& one : answer.options) {
    if (one.replicas > 0 || with_answer.contains(one.device) || !said.insert(one.device).second) continue;
    document.item(fmt::format("{}: {}", one.device, one.refused), 1, Tone::notice);
  }
}

void add_best(Document& document, const ServiceAnswer& answer) {
  const auto& best = answer.options.front();
  auto text = fmt::format("{} x {} with a tensor split of {} answer {:.4g} tokens/s", best.devices, best.device,
                          best.tensor, best.tokens_per_second);
  if (best.rate_per_server)
    text += fmt::format("; one server holds {:.3g} requests/s within the limits", *best.rate_per_server);
  document.paragraph(text + ".");
  document.paragraph(fmt::format(
      "{} limits it: a decode step of {:.0f} sequences takes {}, of which {} are products, {} "
      "attention, {} sums over the split and {} the software's own; {:.0f} % of the busy time "
      "goes to prompts. A server has room for {:.0f} sequences.",
      best.limit, std::max(1.0, best.mean_batch), format_seconds(best.step.total() + best.fixed_seconds),
      format_seconds(best.step.products + best.step.head), format_seconds(best.step.attention),
      format_seconds(best.step.collectives), format_seconds(best.fixed_seconds), 100 * best.prompt_share, best.room));
  document.paragraph(fmt::format("A prompt waits {} in the queue in the median, and {} at p99.",
                                 format_seconds(best.queue_seconds.p50), format_seconds(best.queue_seconds.p99)));
  if (answer.advice.empty()) return;
  document.heading("What would help, by how much more one server then holds");
  for (const auto& one : answer.advice) document.item(fmt::format("{:.2f} x  {}", one.gain, one.change));
}

}  // namespace

Document service_document(const ServiceAnswer& answer) {
  Document document;
  document.heading(fmt::format("{} ({:.4g} billion parameters) in {} on {}: {}", answer.model, 1e-9 * answer.parameters,
                               name_of(answer.weights), answer.stack, load_text(answer)));
  const bool any = !answer.options.empty() && answer.options.front().replicas > 0;
  if (any) {
    document.add(options_table(answer));
    document.paragraph("Device-hours, kWh at board power and price are for a million tokens of answers.");
  } else {
    document.paragraph("Nothing that was tried holds it:");
  }
  add_refused(document, answer);
  if (any) {
    document.gap();
    add_best(document, answer);
  }
  document.paragraph(fmt::format("Constants of the server: {}.", answer.rests_on));
  for (const auto& note : answer.notes) document.paragraph(note);
  return document;
}

}  // namespace assay::report
