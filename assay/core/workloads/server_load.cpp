#include "assay/core/workloads/server_load.hpp"

namespace assay {

std::string title(const ServerLoad& load) {
  auto text = load.api;
  if (load.model) text += " " + *load.model;
  if (load.api != "http") text += fmt::format(" {}+{}", load.input_words, load.output_tokens);
  text += ", " + load.arrivals;
  if (load.rate_per_second) text += fmt::format(" {:g}/s", *load.rate_per_second);
  if (load.clients) text += fmt::format(" of {}", *load.clients);
  if (load.burst) text += fmt::format(" of {}", *load.burst);
  if (load.turns) text += fmt::format(" of {} turns", *load.turns);
  if (load.trace_hash) text += " " + load.trace_hash->substr(0, 8);
  if (load.client) text += ", by " + *load.client;
  return text + ", " + load.server;
}

}  // namespace assay
