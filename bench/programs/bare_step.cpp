// The step of a worker in C++ in a bare loop, as bare_step.py has it for those in Python: what a person times without
// Assay. It has just enough protocol to take turns.
//
// usage: bare_step MODULE

#include <cstdio>
#include <vector>

#include "assay/core/clock.hpp"
#include "assay/core/protocol.hpp"
#include "assay/core/text/json.hpp"
#include "workers/common/module.hpp"

namespace {

class Bare : public assay::worker::ModuleFramework {
 public:
  using ModuleFramework::ModuleFramework;

 private:
  void before_loading(const assay::worker::Prepare&) override {}
};

void send(assay::worker::Channel& channel, const assay::json& message) {
  channel.send(message.dump());
}

void answer(assay::worker::Channel& channel, assay::worker::Framework& framework, const assay::json& command) {
  const double most_ns = command.at("seconds").get<double>() * 1e9;
  const auto most = command.at("max_samples").get<std::size_t>();
  std::vector<std::int64_t> ns;
  assay::worker::Step step;
  const std::int64_t begin = assay::monotonic_ns();
  std::int64_t before = begin;
  while (ns.size() < most && static_cast<double>(before - begin) < most_ns) {
    framework.step(step);
    const std::int64_t after = assay::monotonic_ns();
    ns.push_back(after - before);
    before = after;
  }
  send(channel, {{"type", "samples"}, {"ns", ns}});
  send(channel, {{"type", "done"}, {"samples", ns.size()}, {"begin_ns", begin}, {"end_ns", before}});
}

void take_turns(assay::worker::Channel& channel, assay::worker::Framework& framework) {
  while (const auto line = channel.read_line()) {
    const auto command = assay::parse_json(*line);
    const auto type = command.at("type").get<std::string>();
    if (type == "exit") return;
    if (type == "measure") {
      answer(channel, framework, command);
      continue;
    }
    const auto prepared = framework.prepare(assay::from_json<assay::worker::Prepare>(command, ""));
    send(channel, {{"type", "prepared"},
                   {"protocol", assay::kProtocolVersion},
                   {"versions", prepared.versions},
                   {"parameters", assay::to_json(prepared.parameters)},
                   {"effective", assay::json::object()}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bare_step MODULE\n", stderr), 2;
  assay::worker::Channel channel;
  Bare framework(argv[1]);
  try {
    take_turns(channel, framework);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "bare_step: %s\n", error.what()), 1;
  }
  return 0;
}
