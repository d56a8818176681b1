// The command worker: measures any program, by its wall time or by a number it prints.

#include <optional>

#include "workers/command/number.hpp"
#include "workers/command/program.hpp"
#include "workers/command/template.hpp"
#include "workers/common/options.hpp"
#include "workers/common/worker.hpp"

namespace assay::command {
namespace {

constexpr std::size_t kTailBytes = 2048;

std::string tail_of(const std::string& output) {
  if (output.empty()) return "";
  return ". It printed: " + output.substr(output.size() > kTailBytes ? output.size() - kTailBytes : 0);
}

class Command : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    worker::refuse_settings_beyond(prepare.settings, {"intra_op"});
    argv_ = fill_template(prepare);
    if (!is_program(argv_[0])) worker::refuse("command: there is no program {}.", shown(argv_[0]));
    read_number(prepare.workload);
    adopt_orphans();
    worker::Prepared prepared;
    prepared.versions = {{"command", "1.0.0"}};
    if (prepare.settings.intra_op) prepared.effective["intra_op"] = *prepare.settings.intra_op;
    return prepared;
  }

  void step(worker::Step& step) override {
    const Ended ended = run_program(argv_, number_.has_value());
    if (ended.signal != 0) {
      throw std::runtime_error(
          fmt::format("{} was ended by signal {}{}", shown(argv_[0]), ended.signal, tail_of(ended.output)));
    }
    if (ended.exit_code != 0) {
      throw std::runtime_error(
          fmt::format("{} ended with exit code {}{}", shown(argv_[0]), ended.exit_code, tail_of(ended.output)));
    }
    step.took_ns = number_ ? number_->find(ended.output) : ended.took_ns;
    if (!step.took_ns) {
      throw std::runtime_error(
          fmt::format("no time in the output of {} by option number{}", shown(argv_[0]), tail_of(ended.output)));
    }
  }

 private:
  void read_number(const Workload& workload) {
    std::map<std::string, Scalar> own;
    for (const char* name : {"number", "unit"}) {
      const auto option = workload.options.find(name);
      if (option != workload.options.end()) own.insert(*option);
    }
    worker::Options options(own);
    const std::string pattern = options.text("number", "");
    const std::string unit = options.text("unit", "s");
    if (own.count("number") > 0) {
      number_.emplace(pattern, unit);
    } else if (own.count("unit") > 0) {
      worker::refuse("option unit: it needs the option number.");
    }
  }

  std::vector<std::string> argv_;
  std::optional<NumberFinder> number_;
};

}  // namespace
}  // namespace assay::command

int main() {
  assay::worker::Channel channel;
  assay::command::Command command;
  return assay::worker::serve(channel, command);
}
