#include "cli/commands/predict/predict_serve.hpp"

#include <algorithm>
#include <array>

#include "assay/core/text/file.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/core/text/number.hpp"
#include "assay/load/queries/limits.hpp"
#include "assay/load/queries/schedule.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/predict/models/hf_config.hpp"
#include "assay/predict/serving/stacks/known_stacks.hpp"
#include "assay/predict/serving/stacks/stack_fit.hpp"
#include "assay/report/subjects/predict/service.hpp"
#include "cli/command.hpp"
#include "cli/commands/predict/predict_rows.hpp"
#include "cli/commands/predict/predict_serve_rows.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/choice.hpp"

namespace assay::cli {
namespace {

constexpr const char* kServeGroup = "A served model";
constexpr std::array kUsualDevices{"a100-80", "l40s", "h100", "h200", "b200", "gb200"};  // their kernels were measured
constexpr const char* kUsualSplits = "1-8*2";
constexpr std::array kServeOnly{"--serve",         "--server",        "--weights", "--rate",      "--concurrency",
                                "--prompt-tokens", "--output-tokens", "--slo",     "--on",        "--splits",
                                "--price-of",      "--disaggregate",  "--seed",    "--sequences", "--lengths",
                                "--step-tokens",   "--routing"};
constexpr std::size_t kMostLengthsBytes = 64u << 20;

std::vector<predict::ServingLimit> limits_of(const std::vector<std::string>& texts) {
  std::vector<predict::ServingLimit> limits;
  for (const auto& text : texts) {
    const auto limit = load::parse_limit(text);
    limits.push_back({static_cast<predict::ServedTime>(limit.metric), limit.quantile, 1e-9 * limit.limit_ns});
  }
  return limits;
}

/// Lengths of a trace, of which `assay load` reads the times too.
std::vector<predict::RequestLength> listed_lengths(const std::string& path) {
  std::vector<predict::RequestLength> listed;
  const auto text = read_file(path, kMostLengthsBytes);
  naming(path, [&] {
    for (const auto& row : load::parse_trace(text)) {
      listed.push_back({std::max<std::int64_t>(1, row.input_words), std::max<std::int64_t>(1, row.output_tokens)});
    }
  });
  return listed;
}

/// "uniform:0.5", "lognormal:1", or a file.
predict::LengthSpread length_spread_of(const std::string& text) {
  constexpr double kWidest = 4;
  if (text.empty()) return {};
  if (text.ends_with(".csv")) return {predict::LengthKind::listed, 0, listed_lengths(text)};
  const auto colon = std::min(text.find(':'), text.size());
  const auto name = text.substr(0, colon);
  const bool uniform = name == name_of(predict::LengthKind::uniform);
  const double most = uniform ? 1 : kWidest;
  const auto width = parse_number<double>(text.substr(std::min(colon + 1, text.size()))).value_or(-1);
  if ((uniform || name == name_of(predict::LengthKind::lognormal)) && width > 0 && width <= most) {
    return {uniform ? predict::LengthKind::uniform : predict::LengthKind::lognormal, width, {}};
  }
  fail(ErrorKind::usage,
       "--lengths: {} is not known. Write uniform:0.5 (up to half of the mean away; at most 1), lognormal:1 (the "
       "deviation of the logarithm; at most 4), or a CSV file with the columns seconds, input and output.",
       shown(text));
}

predict::ServingLoad load_of(const ServeFlags& flags) {
  if ((flags.rate > 0) == (flags.concurrency > 0)) {
    fail(ErrorKind::usage,
         "say what comes: --rate 20 (requests a second) or --concurrency 64 (clients that wait for answers){}.",
         flags.rate > 0 ? ", not both" : "");
  }
  predict::ServingLoad load;
  load.prompt_tokens = flags.prompt_tokens;
  load.output_tokens = flags.output_tokens;
  load.rate = flags.rate;
  load.concurrency = std::max<std::int64_t>(1, flags.concurrency);
  load.seed = static_cast<std::uint64_t>(flags.seed);
  load.lengths = length_spread_of(flags.lengths);
  if (load.lengths.kind == predict::LengthKind::listed) {
    const auto mean = mean_length(load.lengths.listed);
    load.prompt_tokens = mean.prompt_tokens;
    load.output_tokens = mean.output_tokens;
  }
  return load;
}

std::map<std::string, double> prices_of(const std::vector<std::string>& texts,
                                        const std::vector<predict::DeviceLaws>& devices) {
  std::map<std::string, double> prices;
  for (const auto& text : texts) {
    const auto [name, price] = split_assignment(text, "--price-of");
    const auto value = parse_number<double>(price).value_or(-1);
    if (!(value > 0)) {
      fail(ErrorKind::usage, "--price-of: {} is not a price per hour. Write, for example, h100=2.5.", shown(price));
    }
    const auto* sheet = predict::find_device_sheet(name);
    const auto known = sheet == nullptr ? name : sheet->name;
    const bool is_asked = std::any_of(devices.begin(), devices.end(),
                                      [&](const predict::DeviceLaws& one) { return one.sheet.name == known; });
    if (!is_asked) {
      fail(ErrorKind::usage, "--price-of: {} is not one of the devices that are tried. Add --on {}.", shown(name),
           name);
    }
    prices[known] = value;
  }
  return prices;
}

struct Calibration {
  predict::FittedStack stack;
  std::string name;
  std::string rests_on;
  std::vector<std::string> notes;
};

/// Constants from points that somebody measured with this server.
Calibration calibrated(const std::string& path, const ServeFlags& flags, const predict::ServedModel& model,
                       const std::vector<predict::DeviceLaws>& devices) {
  if (path.ends_with(".json") && devices.size() != 1) {
    fail(ErrorKind::usage,
         "--calibrate: a result of assay load does not say what the server ran on. Name it: --on DEVICE.");
  }
  auto measured = model;
  if (path.ends_with(".json")) {
    const auto splits = plan::sweep_numbers(flags.splits.empty() ? "1" : flags.splits, "--splits");
    if (splits.size() != 1) {
      fail(ErrorKind::usage,
           "--calibrate: a result of assay load does not say its tensor split. Name one: --splits 1.");
    }
    measured.tensor = splits.front();
  }
  const auto table = read_points(path, {measured, flags.server, devices.front().sheet.name});
  predict::DeviceTimes times;
  for (const auto& device : predict::known_devices()) times.emplace(device.sheet.name, predict::KernelTimes(device));
  for (const auto& device : devices) times.insert_or_assign(device.sheet.name, predict::KernelTimes(device));
  const predict::CalibratedStacks stacks(table.rows, times);
  const auto mode = table.rows.front().point.mode;
  if (mode == predict::ServingMode::static_batch) {
    fail(ErrorKind::bad_input, "{} has static batches. A server is calibrated by points of closed loops or rates.",
         path);
  }
  const auto [name, stack] = stacks.nearest({flags.server, "", model.weights}, mode);
  Calibration found{*stack, flags.server, fmt::format("{} points of {} in {}", stack->rows, name, path), {}};
  if (!table.refused.empty()) {
    found.notes.push_back(fmt::format("{} points of {} were not used; the first: {}", table.refused.size(), path,
                                      table.refused.front().why));
  }
  return found;
}

/// A file of lengths says them all.
void refuse_stated_lengths(const CLI::App& command, const ServeFlags& flags) {
  if (!flags.lengths.ends_with(".csv")) return;
  for (const char* name : {"--prompt-tokens", "--output-tokens"}) {
    if (command.count(name) > 0) {
      fail(ErrorKind::usage, "{} changes nothing here: {} says the lengths. Leave it out.", name, flags.lengths);
    }
  }
}

Calibration of_program(const ServeFlags& flags, predict::ProductType weights) {
  const auto& known = predict::known_stack(flags.server, weights);
  Calibration found{known.fitted, flags.server, known.source, {}};
  if (known.weights != weights) {
    found.notes.push_back(fmt::format("No constants of {} with {} are known: those of {} are taken.", flags.server,
                                      name_of(weights), name_of(known.weights)));
  }
  return found;
}

}  // namespace

void add_serve_flags(CLI::App& command, ServeFlags& f) {
  const auto option = [&](const char* flag, auto& value, const char* about) {
    return command.add_option(flag, value, about)->group(kServeGroup);
  };
  option("--serve", f.model, "Size servers of this model: a name, or a config.json (docs/serving.md)")
      ->type_name("MODEL");
  option("--server", f.server, "Serve with this software: vllm, trtllm, sglang; any name with --calibrate")
      ->capture_default_str();
  option("--weights", f.weights, "Keep weights in bf16, fp8, fp4, int8 or int4")->capture_default_str();
  option("--rate", f.rate, "Hold this many requests a second, which arrive by chance")->check(CLI::Range(1e-6, 1e9));
  option("--concurrency", f.concurrency, "Hold this many clients, each of which waits for its answer")
      ->check(CLI::Range(1, 1 << 24));
  option("--prompt-tokens", f.prompt_tokens, "Take prompts of this length, on average")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  option("--output-tokens", f.output_tokens, "Take answers of this length, on average")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  option("--lengths", f.lengths,
         "Draw lengths around them, uniform:0.5 or lognormal:1, or from the columns input and output of this CSV")
      ->type_name("SPREAD");
  option("--slo", f.limits, "Keep a limit, such as 'ttft p99<1s'; may be repeated")->allow_extra_args(false);
  option("--on", f.devices,
         "Try this device: a name, or a device file [those whose kernels were measured]; may be repeated")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  option("--splits", f.splits, "Try these tensor splits [1-8*2]");
  option("--price-of", f.prices, "Set the price of a device, DEVICE=PER_HOUR; may be repeated")
      ->allow_extra_args(false);
  option("--sequences", f.sequences, "Let a server run this many sequences at once")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  option("--step-tokens", f.step_tokens,
         "Let a step take this many tokens, of prompts and answers [8192, or twice what runs at once]")
      ->check(CLI::Range(1, 1 << 24));
  option("--routing", f.routing, "Send a request to the replica with the least_work, or to all in turn: round_robin")
      ->capture_default_str();
  command.add_flag("--disaggregate", f.disaggregated, "Give prompts servers of their own")->group(kServeGroup);
  option("--seed", f.seed, "Draw arrivals from this seed")->check(CLI::Range(0, 1 << 30))->capture_default_str();
}

bool is_serve_asked(const CLI::App& command, const ServeFlags& flags) {
  if (!flags.model.empty()) {
    std::vector<std::string> effective(kServeOnly.begin(), kServeOnly.end());
    effective.emplace_back("--calibrate");
    refuse_others(command, effective, "a served model is not trained");
    refuse_stated_lengths(command, flags);
    return true;
  }
  for (const char* name : kServeOnly) {
    if (command.count(name) > 0) {
      fail(ErrorKind::usage, "{} is for a served model. Name it: assay predict --serve MODEL.", name);
    }
  }
  return false;
}

void print_service(const ServeFlags& flags, const std::string& calibrate, const AnswerFlags& wanted) {
  predict::ServiceQuestion question;
  auto& asked = question.asked;
  asked.model.shape = predict::named_or_read_model(flags.model);
  asked.model.weights = choice_of<predict::ProductType>(flags.weights, "--weights");
  check(asked.model);
  asked.load = load_of(flags);
  asked.limits = limits_of(flags.limits);
  asked.disaggregated = flags.disaggregated;
  asked.most_sequences = flags.sequences;
  asked.routing = choice_of<predict::Routing>(flags.routing, "--routing");
  if (flags.step_tokens > 0) asked.step_tokens = flags.step_tokens;
  if (flags.step_tokens > 0 && flags.step_tokens < flags.sequences) {
    fail(ErrorKind::usage,
         "--step-tokens {}: {} sequences at once each take a token of a step. Add --sequences {} or less.",
         flags.step_tokens, flags.sequences, flags.step_tokens);
  }
  std::vector<std::string> devices(kUsualDevices.begin(), kUsualDevices.end());
  if (!flags.devices.empty()) devices = flags.devices;
  for (const auto& name : devices) {
    question.devices.push_back(predict::find_device(name));
  }
  question.splits = plan::sweep_numbers(flags.splits.empty() ? kUsualSplits : flags.splits, "--splits");
  question.prices = prices_of(flags.prices, question.devices);
  const auto stack = calibrate.empty() ? of_program(flags, asked.model.weights)
                                       : calibrated(calibrate, flags, asked.model, question.devices);
  asked.stack = stack.stack;
  auto answer = search_capacity(question);
  answer.stack = stack.name;
  answer.rests_on = stack.rests_on;
  answer.notes = stack.notes;
  cli::answer(wanted, report::service_document(answer), [&] { return to_json(answer); });
}

}  // namespace assay::cli
