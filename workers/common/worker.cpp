#include "workers/common/worker.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "assay/core/clock.hpp"
#include "assay/core/protocol.hpp"
#include "assay/core/workloads/learning.hpp"
#include "workers/common/answer.hpp"

namespace assay {

template <>
struct EnumNames<worker::Detail> {
  static constexpr std::array<const char*, 3> names{"step", "phases", "layers"};
};

namespace worker {
namespace {

constexpr std::int64_t kMostSamples = 100'000'000;
constexpr double kMostSeconds = 1e6;
constexpr std::size_t kMostMessageBytes = 16384;

struct MeasureCommand {
  Detail detail = Detail::step;
  double seconds = 0;
  std::int64_t max_samples = 1;
  std::optional<std::string> output;  ///< file for what the last step computed
};

template <typename V>
void describe(V& v, MeasureCommand& m) {
  required(v, "detail", m.detail);
  required(v, "seconds", m.seconds);
  required(v, "max_samples", m.max_samples);
  v("output", m.output);
}

/// One line of text from a value that may hold anything: bytes that are not UTF-8 are replaced.
std::string text_of(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Everything between the first `prepare` and `exit`.
class Session {
 public:
  Session(Channel& channel, Framework& framework) : channel_(channel), framework_(framework) {}

  void run() {
    while (const auto line = channel_.read_line()) {
      const json command = parse_json(*line);
      std::string type;
      mapping::Reader{command, kRoot}.required("type", type);
      if (type == "exit") return;
      if (type == "prepare") {
        prepare(command);
      } else if (type == "measure") {
        measure(command);
      } else if (type == "evaluate") {
        evaluate(command);
      } else if (type == "score") {
        score();
      } else {
        fail(ErrorKind::bad_input, "unknown command {}", shown(type));
      }
    }
  }

 private:
  void prepare(const json& command) {
    if (is_prepared_) fail(ErrorKind::bad_input, "prepare came twice");
    std::int64_t protocol = 0;
    mapping::Reader{command, kRoot}.required("protocol", protocol);
    if (protocol != kProtocolVersion)
      refuse("protocol {} was asked for, this worker speaks {}.", protocol, kProtocolVersion);
    const auto asked = from_json<Prepare>(command, kRoot);
    check(asked.workload);
    check(asked.settings);
    prepared_ = framework_.prepare(asked);
    is_prepared_ = true;
    trains_ = asked.workload.mode == Mode::train;
    learns_ = asked.workload.data == kDigits;
    ranks_ = asked.ranks;
    has_values_ = asked.values.has_value();
    channel_.send(text_of({{"type", "prepared"},
                           {"protocol", kProtocolVersion},
                           {"versions", prepared_.versions},
                           {"parameters", to_json(prepared_.parameters)},
                           {"weights_bytes", to_json(prepared_.weights_bytes)},
                           {"cache_bytes", to_json(prepared_.cache_bytes)},
                           {"effective", prepared_.effective}}));
  }

  void measure(const json& command) {
    if (!is_prepared_) fail(ErrorKind::bad_input, "measure came before prepare");
    auto asked = from_json<MeasureCommand>(command, "measure");
    if (!(asked.seconds >= 0 && asked.seconds <= kMostSeconds)) {
      fail(ErrorKind::bad_input, "measure.seconds: {} is outside 0 to {}", asked.seconds, kMostSeconds);
    }
    if (asked.max_samples < 1 || asked.max_samples > kMostSamples) {
      fail(ErrorKind::bad_input, "measure.max_samples: {} is outside 1 to {}", asked.max_samples, kMostSamples);
    }
    if (asked.output && (asked.detail != Detail::step || trains_ || !has_values_)) {
      fail(ErrorKind::bad_input, "measure.output is for steps of inference on given values");
    }
    static const std::vector<std::string> none;
    const auto& phases = asked.detail == Detail::phases ? prepared_.phases : none;
    const auto& nodes = asked.detail == Detail::layers ? prepared_.nodes : none;
    if (asked.detail == Detail::phases && phases.empty()) refuse_detail("phases");
    if (asked.detail == Detail::layers) {
      if (nodes.empty()) refuse_detail("layers");
      asked.max_samples = std::min(asked.max_samples, kMostLayerSamples);
    }
    step_.phases_ns.assign(phases.size(), 0);
    step_.forward_ns.assign(nodes.size(), 0);
    step_.backward_ns.assign(nodes.size(), 0);
    const std::size_t tokens = asked.detail == Detail::step ? prepared_.tokens : 0;
    step_.tokens_ns.assign(tokens, 0);

    Samples samples(1 + phases.size() + 2 * nodes.size() + tokens, asked.max_samples);
    const auto [begin_ns, end_ns] = take_steps(asked, samples);
    if (asked.output) framework_.write_output(*asked.output);
    send_samples(channel_, samples, phases, tokens);
    if (!nodes.empty()) send_layers(channel_, samples, nodes, trains_);
    channel_.send(text_of({{"type", "done"}, {"samples", samples.rows()}, {"begin_ns", begin_ns}, {"end_ns", end_ns}}));
  }

  [[noreturn]] void refuse_detail(const std::string& detail) const {
    const auto reason = prepared_.refusals.find(detail);
    const bool known = reason != prepared_.refusals.end();
    refuse("detail {}: {}", detail, known ? reason->second : "the step cannot be split here.");
  }

  void evaluate(const json& command) {
    if (!has_values_) fail(ErrorKind::bad_input, "evaluate came without a prepare with values");
    const auto evaluated = framework_.evaluate(from_json<Evaluate>(command, "evaluate"));
    channel_.send(text_of(
        {{"type", "evaluated"}, {"losses", evaluated.losses}, {"gradient_norms", json(evaluated.gradient_norms)}}));
  }

  void score() {
    if (!learns_) fail(ErrorKind::bad_input, "score came without a prepare with data {}", kDigits);
    auto scored = framework_.score();
    auto& losses = scored.losses;
    losses.erase(std::find_if_not(losses.begin(), losses.end(), [](double loss) { return std::isfinite(loss); }),
                 losses.end());
    channel_.send(
        text_of({{"type", "scored"}, {"correct", scored.correct}, {"of", scored.of}, {"losses", std::move(losses)}}));
  }

  /// The timed part: fills `samples` and returns the clock before the first and after the last step.
  std::pair<std::int64_t, std::int64_t> take_steps(const MeasureCommand& asked, Samples& samples) {
    void (Framework::*const one_step)(Step&) = asked.detail == Detail::phases   ? &Framework::step_with_phases
                                               : asked.detail == Detail::layers ? &Framework::step_with_layers
                                                                                : &Framework::step;
    const auto& details = asked.detail == Detail::phases   ? step_.phases_ns
                          : asked.detail == Detail::layers ? step_.forward_ns
                                                           : step_.tokens_ns;
    const auto limit_ns = static_cast<std::int64_t>(std::llround(asked.seconds * 1e9));
    std::int64_t passed_ns = 0;
    if (ranks_ > 1) framework_.barrier();
    // A virtual clock never runs backwards, so that slices lie one after the other.
    const std::int64_t begin_ns = prepared_.virtual_time ? std::max(monotonic_ns(), virtual_end_ns_) : monotonic_ns();
    do {
      step_.took_ns.reset();
      const std::int64_t before_ns = monotonic_ns();
      (framework_.*one_step)(step_);
      const std::int64_t after_ns = monotonic_ns();
      const std::int64_t took_ns = step_.took_ns.value_or(after_ns - before_ns);
      if (took_ns < 0) throw std::runtime_error(fmt::format("step {} took {} ns", step_.number, took_ns));
      samples.add(took_ns, details, step_.backward_ns);
      ++step_.number;
      passed_ns = prepared_.virtual_time ? passed_ns + took_ns : after_ns - begin_ns;
    } while (passed_ns < limit_ns && static_cast<std::int64_t>(samples.rows()) < asked.max_samples);
    virtual_end_ns_ = begin_ns + passed_ns;
    return {begin_ns, virtual_end_ns_};
  }

  static inline const std::string kRoot;

  Channel& channel_;
  Framework& framework_;
  Prepared prepared_;
  Step step_;
  bool is_prepared_ = false;
  bool trains_ = false;
  bool learns_ = false;
  bool has_values_ = false;
  std::int64_t ranks_ = 1;
  std::int64_t virtual_end_ns_ = 0;
};

int end_with(Channel& channel, const char* kind, std::string message) {
  if (message.size() > kMostMessageBytes) message.resize(kMostMessageBytes);
  try {
    channel.send(text_of({{"type", "error"}, {"kind", kind}, {"message", message}}));
  } catch (const std::exception&) {
    // Nobody is left to be told.
  }
  return 1;
}

}  // namespace

void Framework::step_with_phases(Step&) {
  throw Refused("detail phases: the step cannot be split here.");
}

void Framework::step_with_layers(Step&) {
  throw Refused("detail layers: the step cannot be split here.");
}

void Framework::barrier() {
  throw Refused("several ranks cannot work together here.");
}

Evaluated Framework::evaluate(const Evaluate&) {
  throw Refused("evaluate: this worker cannot.");
}

Scored Framework::score() {
  throw Refused("score: this worker cannot learn.");
}

void Framework::write_output(const std::string&) {
  throw Refused("measure with output: this worker cannot.");
}

int serve(Channel& channel, Framework& framework) {
  try {
    Session(channel, framework).run();
    return 0;
  } catch (const Refused& error) {
    return end_with(channel, "refused", error.what());
  } catch (const std::bad_alloc&) {
    return end_with(channel, "out_of_memory", "an allocation failed");
  } catch (const Error& error) {
    return end_with(channel, error.kind() == ErrorKind::usage ? "refused" : "failed", error.what());
  } catch (const std::exception& error) {
    return end_with(channel, "failed", error.what());
  } catch (...) {
    return end_with(channel, "failed", "an exception without a message");
  }
}

}  // namespace worker
}  // namespace assay
