#include "assay/model/tables/prototype.hpp"

#include <cmath>
#include <optional>

#include "assay/core/text/lower.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/core/text/utf8.hpp"

namespace assay::model {
namespace {

constexpr JsonLimits kPrototypeLimits{16u << 20, 64, 1'000'000};
constexpr std::size_t kMostCellBytes = 200;

std::string text_told(const json& object, const char* key) {
  const auto found = object.find(key);
  const bool has = found != object.end() && found->is_string() && !found->get_ref<const std::string&>().empty();
  return has ? printable(found->get_ref<const std::string&>(), kMostCellBytes) : "unknown";
}

/// Null where it is missing, not finite or not above zero.
std::optional<double> told_number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

/// In our words; others as they stand.
std::string told_mode(const json& run) {
  const auto mode = text_told(run, "mode");
  if (mode == "training") return "train";
  return mode == "inference" ? "infer" : mode;
}

std::optional<double> batch_seconds(const json& run, const json& problem) {
  if (const auto batch = told_number(run, "time_batch")) return batch;
  auto epoch = told_number(run, "time_epoch");
  if (!epoch) epoch = told_number(run, "time");
  const auto batches = told_number(problem, "cnt_batches_per_epoch");
  return epoch && batches ? std::optional(*epoch / *batches) : std::nullopt;
}

std::vector<std::string> prototype_row(std::string_view text) {
  const auto run = parse_json(text, kPrototypeLimits);
  const auto found = run.find("problem");
  if (found == run.end() || !found->is_object() || text_told(run, "framework") == "unknown") {
    fail(ErrorKind::bad_input, "a run of the prototype names a framework and a problem; this does not.");
  }
  const auto& problem = *found;
  const auto seconds = batch_seconds(run, problem);
  const auto batch = told_number(run, "batch_size");
  if (!seconds || !batch) {
    fail(ErrorKind::bad_input, "it has no {}, so the time of a step is unknown. Leave this file out.",
         batch ? "time_batch, nor time_epoch with cnt_batches_per_epoch" : "batch_size");
  }
  return {text_told(problem, "name"),
          text_told(run, "framework"),
          text_told(run, "framework_full"),
          told_mode(run),
          lower(text_told(problem, "precision")),
          text_told(run, "device"),
          fmt::format("{}", told_number(run, "nb_gpus").value_or(0)),
          fmt::format("{}", *batch),
          fmt::format("{}", *seconds)};
}

}  // namespace

bool is_prototype(std::string_view text) {
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  return has("\"framework\"") && has("\"problem\"") && !has("\"traceEvents\"");
}

Frame import_prototype(const std::vector<PrototypeFile>& files) {
  Frame frame{{"network", "framework", "release", "mode", "precision", "device", "gpus", "batch", "seconds"}, {}};
  for (const auto& file : files) {
    frame.rows.push_back(naming(file.name, [&] { return prototype_row(file.text); }));
  }
  return frame;
}

}  // namespace assay::model
