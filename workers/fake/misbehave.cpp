#include "workers/fake/misbehave.hpp"

#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>

#include "assay/core/clock.hpp"
#include "workers/common/worker.hpp"

namespace assay::fake {
namespace {

using worker::Channel;

constexpr const char* kPrepared =
    R"({"type":"prepared","protocol":1,"versions":{"fake":"1.0.0"},"parameters":1234,"effective":{}})";
constexpr const char* kSamples = R"({"type":"samples","ns":[1000000]})";

std::string done(int samples) {
  return fmt::format(R"({{"type":"done","samples":{},"begin_ns":1000000,"end_ns":2000000}})", samples);
}

/// What a proper worker would answer at this stage.
void answer(Channel& channel, Stage at) {
  if (at == Stage::prepare) return channel.send(kPrepared);
  channel.send(kSamples);
  channel.send(done(1));
}

/// Having said it all: keep to the rules from here on, so that only what was said can be the reason.
[[noreturn]] void hold(Channel& channel) {
  while (const auto line = channel.read_line()) {
    if (line->find("\"exit\"") != std::string::npos) break;
    answer(channel, Stage::measure);
  }
  _exit(0);
}

/// Sends `line` instead of an answer. Where the line is a broken `samples`, its `done` follows.
void say(Channel& channel, const std::string& line, int samples = 1) {
  channel.send(line);
  channel.send(done(samples));
  hold(channel);
}

void say_sample(Channel& channel, const std::string& number) {
  say(channel, R"({"type":"samples","ns":[)" + number + "]}");
}

void say_error(Channel& channel, const std::string& kind) {
  channel.send(R"({"type":"error","kind":")" + kind + R"(","message":"as told to"})");
  _exit(1);
}

void flood(const std::function<void(const std::string&)>& write, const std::string& line) {
  std::string block;
  while (block.size() < 65536) block += line + "\n";
  while (true) write(block);
}

void stream_one_line(Channel& channel, std::size_t bytes) {
  const std::string block(65536, 'x');
  channel.write_raw(R"({"type":")");
  for (std::size_t sent = 0; sent < bytes; sent += block.size()) channel.write_raw(block);
  channel.write_raw("\"}\n");
  hold(channel);
}

void drip(Channel& channel) {
  channel.write_raw("{");
  while (true) {
    sleep(1);
    channel.write_raw(" ");
  }
}

void write_stderr(const std::string& bytes) {
  if (write(2, bytes.data(), bytes.size()) < 0) _exit(4);
}

void flood_stderr_ok() {
  const std::string block(65536, 'e');
  for (int i = 0; i < 1600; ++i) write_stderr(block);  // 100 MiB
}

struct Way {
  std::string stages;  ///< where it makes sense: p(repare), m(easure), e(xit); the first is where it is at home
  std::function<void(Channel&, Stage)> act;
};

const std::map<std::string, Way>& ways() {
  static const std::map<std::string, Way> all{
      // Text that breaks the protocol.
      {"line_1gb", {"mpe", [](Channel& c, Stage) { stream_one_line(c, 1'000'000'000); }}},
      {"truncated_json", {"mpe", [](Channel& c, Stage) { say(c, R"({"type":"samples","ns":[1000)"); }}},
      {"nested_json",
       {"mpe", [](Channel& c, Stage) { say(c, std::string(100'000, '[') + std::string(100'000, ']')); }}},
      {"duplicate_key", {"mp", [](Channel& c, Stage) { say(c, R"({"type":"samples","ns":[1],"ns":[2]})"); }}},
      {"not_an_object", {"mp", [](Channel& c, Stage) { say(c, "[1, 2, 3]"); }}},
      {"empty_line", {"mp", [](Channel& c, Stage) { say(c, ""); }}},
      {"zero_bytes", {"mp", [](Channel& c, Stage) { say(c, std::string(100, '\0')); }}},
      {"unknown_type", {"mp", [](Channel& c, Stage) { say(c, R"({"type":"banana"})"); }}},
      {"bad_utf8", {"mp", [](Channel& c, Stage) { say(c, "{\"type\":\"samples\",\"ns\":[1],\"x\":\"\xff\xfe\"}"); }}},
      {"nan_sample", {"m", [](Channel& c, Stage) { say_sample(c, "NaN"); }}},
      {"negative_sample", {"m", [](Channel& c, Stage) { say_sample(c, "-5"); }}},
      {"float_sample", {"m", [](Channel& c, Stage) { say_sample(c, "1000.5"); }}},
      {"huge_number", {"m", [](Channel& c, Stage) { say_sample(c, "1e999"); }}},
      {"huge_integer", {"m", [](Channel& c, Stage) { say_sample(c, "1" + std::string(30, '0')); }}},
      {"wrong_count", {"m", [](Channel& c, Stage) { say(c, kSamples, 7); }}},
      {"no_samples",
       {"m",
        [](Channel& c, Stage) {
          c.send(done(0));
          hold(c);
        }}},
      {"clock_backwards",
       {"m",
        [](Channel& c, Stage) {
          c.send(kSamples);
          c.send(R"({"type":"done","samples":1,"begin_ns":2000000,"end_ns":1000000})");
          hold(c);
        }}},
      {"too_many_samples",
       {"m",
        [](Channel& c, Stage) {  // a million more than any campaign may ask for
          std::string line = R"({"type":"samples","ns":[1)";
          for (int i = 1; i < 100'000; ++i) line += ",1";
          for (int i = 0; i < 20; ++i) c.send(line + "]}");
          c.send(done(2'000'000));
          hold(c);
        }}},
      {"two_results",
       {"m",
        [](Channel& c, Stage at) {
          answer(c, at);
          c.send(done(1));
          hold(c);
        }}},
      {"unasked_message",
       {"mpe",
        [](Channel& c, Stage at) {
          answer(c, at);
          c.send(kSamples);
          hold(c);
        }}},
      {"wrong_protocol",
       {"p",
        [](Channel& c, Stage) {
          c.send(R"({"type":"prepared","protocol":2,"versions":{},"parameters":null,"effective":{}})");
          hold(c);
        }}},
      {"error_refused", {"mp", [](Channel& c, Stage) { say_error(c, "refused"); }}},
      {"error_failed", {"mp", [](Channel& c, Stage) { say_error(c, "failed"); }}},
      {"oom_error", {"mp", [](Channel& c, Stage) { say_error(c, "out_of_memory"); }}},
      {"error_garbage_kind", {"mp", [](Channel& c, Stage) { say_error(c, "banana"); }}},
      // Floods, silence and pipes.
      {"flood_stdout", {"mpe", [](Channel& c, Stage) { flood([&](const auto& b) { c.write_raw(b); }, kSamples); }}},
      {"flood_stderr", {"mpe", [](Channel&, Stage) { flood(write_stderr, "nothing but noise"); }}},
      {"flood_stderr_ok", {"mpe", [](Channel&, Stage) { flood_stderr_ok(); }}},
      {"silence", {"mpe", [](Channel&, Stage) { hang(); }}},
      {"silent_prepare", {"p", [](Channel&, Stage) { hang(); }}},
      {"slow_drip", {"mp", [](Channel& c, Stage) { drip(c); }}},
      {"closes_stdout",
       {"mp",
        [](Channel& c, Stage) {
          c.close_output();
          hang();
        }}},
      {"stops_reading",
       {"mp",
        [](Channel& c, Stage at) {
          answer(c, at);
          hang();
        }}},
      // Ends, signals, processes and memory.
      {"exit_0_without_result", {"mp", [](Channel&, Stage) { _exit(0); }}},
      {"exit_3", {"mpe", [](Channel&, Stage) { _exit(3); }}},
      {"crash_segv", {"mpe", [](Channel&, Stage) { crash(SIGSEGV); }}},
      {"abort", {"mpe", [](Channel&, Stage) { crash(SIGABRT); }}},
      {"ignore_sigterm",
       {"mpe",
        [](Channel&, Stage) {
          std::signal(SIGTERM, SIG_IGN);
          hang();
        }}},
      {"sigstop_self",
       {"mpe",
        [](Channel&, Stage) {
          raise(SIGSTOP);
          hang();
        }}},
      {"fork_setsid",
       {"mpe",
        [](Channel&, Stage) {
          fork_setsid();
          hang();
        }}},
      {"fork_setsid_ok", {"mpe", [](Channel&, Stage) { fork_setsid(); }}},
      {"fork_tree",
       {"mpe",
        [](Channel&, Stage) {
          fork_tree();
          hang();
        }}},
      {"memory_blowup",
       {"mp",
        [](Channel&, Stage) {
          grow_memory();
          hang();
        }}},
  };
  return all;
}

Stage stage_of(char letter) {
  return letter == 'p' ? Stage::prepare : letter == 'm' ? Stage::measure : Stage::exit;
}

}  // namespace

Misbehaviour find_misbehaviour(const std::string& name, const std::string& at) {
  if (name == "none") return {name, Stage::measure};
  const auto way = ways().find(name);
  if (way == ways().end()) {
    std::string all;
    for (const auto& [known, unused] : ways()) all += (all.empty() ? "" : ", ") + known;
    worker::refuse("option misbehave: {} is not one of none, {}.", shown(name), all);
  }
  const char letter = at.empty() ? way->second.stages.front() : at.front();
  if (way->second.stages.find(letter) == std::string::npos) {
    worker::refuse("option misbehave_at: {} makes no sense at {}.", name, at);
  }
  return {name, stage_of(letter)};
}

void misbehave(const Misbehaviour& misbehaviour, worker::Channel& channel) {
  if (misbehaviour.name != "none") ways().at(misbehaviour.name).act(channel, misbehaviour.at);
}

}  // namespace assay::fake
