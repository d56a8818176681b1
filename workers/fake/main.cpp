// The fake worker: a framework whose every time is known in advance, and which misbehaves on request.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "assay/core/clock.hpp"
#include "workers/common/options.hpp"
#include "workers/common/worker.hpp"
#include "workers/fake/generation.hpp"
#include "workers/fake/law.hpp"
#include "workers/fake/misbehave.hpp"

namespace assay::fake {
namespace {

using worker::Step;

constexpr double kMostNs = 1e15;
constexpr std::int64_t kSpinNs = 200'000;  // a sleep may end this much late

/// Options from the workload, and those that settings.env overrides as ASSAY_FAKE_<OPTION>: so two trials can differ in
/// settings only and yet have another known truth.
worker::Options options_of(const worker::Prepare& prepare) {
  const std::string prefix = "ASSAY_FAKE_";
  auto values = prepare.workload.options;
  for (const auto& [name, value] : prepare.settings.env) {
    if (name.rfind(prefix, 0) != 0) continue;
    std::string option = name.substr(prefix.size());
    std::transform(option.begin(), option.end(), option.begin(), [](unsigned char c) { return std::tolower(c); });
    const json parsed = json::parse(value, nullptr, false);
    values[option] = parsed.is_number() ? mapping::scalar_from_json(parsed, name) : Scalar(value);
  }
  return worker::Options(values);
}

Law read_law(worker::Options& options) {
  Law law;
  law.base_ns = options.number("base_ns", law.base_ns, 0, kMostNs);
  law.per_sample_ns = options.number("per_sample_ns", law.per_sample_ns, 0, kMostNs);
  law.scale = options.number("scale", law.scale, 1e-6, 1e6);
  law.serial = options.number("serial", law.serial, 0, 1);
  law.cores = options.integer("cores", law.cores, 1, 4096);
  law.width = options.integer("width", law.width, 1, 4096);
  law.intra_most = options.integer("intra_most", law.intra_most, 1, 4096);
  law.inter_cost = options.number("inter_cost", law.inter_cost, 0, 10);
  law.oversubscription = options.number("oversubscription", law.oversubscription, 0, 10);
  law.noise = options.number("noise", law.noise, 0, 2);
  law.run_noise = options.number("run_noise", law.run_noise, 0, 2);
  law.warmup_steps = options.integer("warmup_steps", law.warmup_steps, 0, 1'000'000);
  law.warmup_extra = options.number("warmup_extra", law.warmup_extra, 0, 1000);
  law.slowdown = options.number("slowdown", law.slowdown, 0, 100);
  law.slowdown_period_ms = options.number("slowdown_period_ms", law.slowdown_period_ms, 0.01, 1e7);
  return law;
}

GenerationLaw read_generation_law(worker::Options& options) {
  GenerationLaw law;
  law.first_token_ns = options.number("first_token_ns", law.first_token_ns, 0, kMostNs);
  law.prompt_token_ns = options.number("prompt_token_ns", law.prompt_token_ns, 0, kMostNs);
  law.token_ns = options.number("token_ns", law.token_ns, 0, kMostNs);
  law.growth_ns = options.number("growth_ns", law.growth_ns, 0, kMostNs);
  law.stall_token = options.integer("stall_token", law.stall_token, 0, 1'000'000);
  law.stall_ns = options.number("stall_ns", law.stall_ns, 0, kMostNs);
  law.stall_every = options.integer("stall_every", law.stall_every, 1, 1'000'000);
  law.token_cores = options.integer("token_cores", law.token_cores, 0, 4096);
  return law;
}

class Fake : public worker::Framework {
 public:
  explicit Fake(worker::Channel& channel) : channel_(channel) {}

  worker::Prepared prepare(const worker::Prepare& prepare) override {
    if (prepare.workload.network != "toy") {
      worker::refuse("network {}: there is only toy here.", shown(prepare.workload.network));
    }
    if (prepare.workload.precision != "fp32") {
      worker::refuse("precision {}: there is only fp32 here.", shown(prepare.workload.precision));
    }
    worker::refuse_settings_beyond(prepare.settings,
                                   {"intra_op", "inter_op", "spin", "library_threads", "prefill_threads"});
    if (prepare.settings.prefill_threads && !prepare.workload.generate)
      worker::refuse("prefill_threads {}: there is no prompt to read.", *prepare.settings.prefill_threads);

    auto options = options_of(prepare);
    law_ = read_law(options);
    generation_ = prepare.workload.generate;
    if (generation_) generation_law_ = on_threads(read_generation_law(options), law_, prepare.settings);
    pace_ = options.integer("pace", 0, 0, 1) == 1;
    real_clock_ = options.choice("clock", {"computed", "real"}) == "real";
    const auto layers = options.integer("layers", 4, 1, 10'000);
    const auto parameters = options.integer("parameters", 1234, 0, std::int64_t{1} << 53);
    const auto memory_bytes = options.integer("memory_bytes", 0, 0, std::int64_t{1} << 60);
    const auto misbehave_at = options.choice("misbehave_at", {"", "prepare", "measure", "exit"});
    misbehave_step_ = options.integer("misbehave_step", 0, 0, std::int64_t{1} << 53);
    misbehaviour_ = find_misbehaviour(options.text("misbehave", "none"), misbehave_at);
    options.refuse_rest();
    if (real_clock_ && !pace_) worker::refuse("option clock: real needs pace 1; at pace 0 steps take no time.");
    if (law_.slowdown > 0 && !pace_) worker::refuse("option slowdown: it needs pace 1; at pace 0 there is no host.");

    mode_ = prepare.workload.mode;
    parts_ns_.resize(phases_of(mode_).names.size());
    draw_ = {prepare.seed, prepare.rank, prepare.instance};
    typical_ns_ =
        generation_ ? answer_ns(generation_law_, *generation_) : typical_ns(law_, prepare.workload, prepare.settings);
    if (typical_ns_ > kMostNs) worker::refuse("a step of {} ns is longer than {} ns.", typical_ns_, kMostNs);
    touch(static_cast<std::size_t>(memory_bytes));
    if (misbehaviour_.at == Stage::prepare) misbehave(misbehaviour_, channel_);
    return describe_prepared(prepare, parameters, layers);
  }

  void step(Step& step) override { run_step(step); }

  void step_with_phases(Step& step) override { split(run_step(step), phases_of(mode_).percents, step.phases_ns); }

  void step_with_layers(Step& step) override {
    split(run_step(step), phases_of(mode_).percents, parts_ns_);
    split_rising(parts_ns_[2], step.forward_ns);
    if (mode_ == Mode::train) split_rising(parts_ns_[3], step.backward_ns);
  }

  /// After the last command.
  void end() {
    if (misbehaviour_.at == Stage::exit) misbehave(misbehaviour_, channel_);
  }

 private:
  worker::Prepared describe_prepared(const worker::Prepare& prepare, std::int64_t parameters,
                                     std::int64_t layers) const {
    worker::Prepared prepared;
    prepared.versions = {{"fake", "1.0.0"}};
    prepared.parameters = parameters;
    prepared.effective = {{"intra_op", prepare.settings.intra_op.value_or(1)},
                          {"inter_op", prepare.settings.inter_op.value_or(1)}};
    prepared.virtual_time = !pace_;
    if (generation_) {
      prepared.effective["prefill_threads"] =
          prepare.settings.prefill_threads.value_or(prepare.settings.intra_op.value_or(1));
      prepared.tokens = static_cast<std::size_t>(generation_->sequences * generation_->output_tokens);
      prepared.weights_bytes = parameters * 4;
      prepared.cache_bytes = generation_->sequences * (generation_->prompt_tokens + generation_->output_tokens) * 8;
      return prepared;
    }
    prepared.phases = phases_of(mode_).names;
    for (std::int64_t i = 1; i <= layers; ++i) prepared.nodes.push_back(fmt::format("layer{}", i));
    return prepared;
  }

  /// Allocates and writes every page, and keeps it.
  static void touch(std::size_t bytes) {
    if (bytes == 0) return;
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < bytes; i += page) static_cast<volatile char*>(block)[i] = 1;
  }

  /// One step, at its pace. Returns what it took by the law.
  std::int64_t run_step(Step& step) {
    if (misbehaviour_.at == Stage::measure && step.number == misbehave_step_) misbehave(misbehaviour_, channel_);
    const std::int64_t begin_ns = pace_ ? monotonic_ns() : 0;
    const double host = pace_ ? host_factor(law_, begin_ns) : 1;
    const double factor = warmup_factor(law_, step.number) * noise_factor(law_, draw_, step.number) * host;
    const auto took_ns =
        generation_ ? generate(step, factor) : static_cast<std::int64_t>(std::llround(typical_ns_ * factor));
    if (pace_) wait_until(begin_ns + took_ns);
    if (!real_clock_) step.took_ns = took_ns;
    return took_ns;
  }

  /// Fills the times of the step's tokens; what the whole answer took by the law.
  std::int64_t generate(Step& step, double factor) const {
    return answer_times(generation_law_, *generation_, step.number, factor, step.tokens_ns);
  }

  /// Sleeps for the bulk and spins to the deadline, because a sleep alone ends late.
  static void wait_until(std::int64_t deadline_ns) {
    if (deadline_ns - monotonic_ns() > kSpinNs) sleep_until_ns(deadline_ns - kSpinNs);
    while (monotonic_ns() < deadline_ns) {
    }
  }

  worker::Channel& channel_;
  Law law_;
  std::optional<Generation> generation_;
  GenerationLaw generation_law_;
  Mode mode_ = Mode::infer;
  Draw draw_;
  std::vector<std::int64_t> parts_ns_;  ///< of one step, by phase
  double typical_ns_ = 0;
  bool pace_ = false;
  bool real_clock_ = false;
  Misbehaviour misbehaviour_{"none", Stage::measure};
  std::int64_t misbehave_step_ = 0;
};

}  // namespace
}  // namespace assay::fake

int main() {
  assay::worker::Channel channel;
  assay::fake::Fake fake(channel);
  const int code = assay::worker::serve(channel, fake);
  if (code == 0) fake.end();
  return code;
}
