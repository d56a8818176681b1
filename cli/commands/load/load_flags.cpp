#include "cli/commands/load/load_flags.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "assay/core/text/file.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/core/text/units.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/platform/energy.hpp"
#include "cli/command.hpp"
#include "cli/flags/choice.hpp"
#include "cli/help.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t kMostTrace = 64U << 20U;
constexpr std::size_t kMostKey = 16U << 10U;
constexpr std::size_t kMostPostBody = 4U << 20U;

/// Refuses a flag that would do nothing with these arrivals.
void only_with(bool given, const char* flag, bool fits, const char* with) {
  if (given && !fits) fail(ErrorKind::usage, "{} is for {}. Leave it out, or choose that.", flag, with);
}

load::Api api_of(const LoadFlags& o, const std::string& path) {
  if (!o.api.empty()) return choice_of<load::Api>(o.api, "--api");
  const auto end = path.substr(0, path.find('?'));
  if (end.ends_with("/chat/completions")) return load::Api::chat;
  if (end.ends_with("/completions")) return load::Api::completions;
  return load::Api::http;
}

load::Arrivals arrivals_of(const LoadFlags& o) {
  using Kind = load::ArrivalKind;
  load::Arrivals a;
  a.kind = choice_of<Kind>(o.arrivals, "--arrivals");
  only_with(o.clients > 0, "--clients", a.kind == Kind::closed, "--arrivals closed");
  only_with(o.burst > 0, "--burst", a.kind == Kind::bursts, "--arrivals bursts");
  only_with(o.turns > 0, "--turns", a.kind == Kind::conversations, "--arrivals conversations");
  only_with(!o.turn_gap.empty(), "--turn-gap", a.kind == Kind::conversations, "--arrivals conversations");
  only_with(!o.trace.empty(), "--trace", a.kind == Kind::trace, "--arrivals trace");
  only_with(!o.rates.empty(), "--rate", a.kind != Kind::closed && a.kind != Kind::trace, "arrivals that have a rate");
  if (a.kind == Kind::closed && o.clients == 0) fail(ErrorKind::usage, "--arrivals closed needs --clients N.");
  if (a.kind == Kind::bursts && o.burst == 0) fail(ErrorKind::usage, "--arrivals bursts needs --burst N.");
  if (a.kind == Kind::trace && o.trace.empty()) fail(ErrorKind::usage, "--arrivals trace needs --trace FILE.");
  if (a.kind == Kind::conversations && o.turns == 0) {
    fail(ErrorKind::usage, "--arrivals conversations needs --turns N, and --turn-gap such as 5s.");
  }
  const bool paced = a.kind != Kind::closed && a.kind != Kind::trace;
  if (paced && o.rates.empty() && !o.find_rate) {
    fail(ErrorKind::usage, "--rate is missing: how many requests a second? Such as --rate 5, or --find-rate.");
  }
  if (o.requests > 0 && !o.duration.empty()) {
    fail(ErrorKind::usage, "--requests and --duration both end the run. Give one of them.");
  }
  if (!o.rates.empty()) a.rate_per_second = o.rates.front();
  if (o.clients > 0) a.clients = o.clients;
  if (o.burst > 0) a.burst = o.burst;
  if (o.turns > 0) a.turns = o.turns;
  if (a.kind == Kind::conversations) {
    a.turn_gap_seconds = parse_seconds(o.turn_gap.empty() ? "5s" : o.turn_gap, "--turn-gap");
  }
  a.warm_up_seconds = parse_seconds(o.warm_up, "--warm-up");
  a.duration_seconds = o.requests > 0 ? 0 : parse_seconds(o.duration.empty() ? "30s" : o.duration, "--duration");
  if (o.requests > 0) a.requests = o.requests;
  if (a.kind == Kind::trace && o.duration.empty() && o.requests == 0) a.duration_seconds = 1e7;  // all of the file
  a.input_words = o.input;
  a.output_tokens = o.output;
  a.prefix_words = o.prefix;
  a.seed = o.seed;
  return a;
}

/// The value of a header, from a file or a variable; never from the command line, which other users can read.
std::string authorization_of(const LoadFlags& o) {
  if (o.key_file.empty() && o.key_variable.empty()) return "";
  if (!o.key_file.empty() && !o.key_variable.empty()) {
    fail(ErrorKind::usage, "--key-file and --key-variable: give one of them.");
  }
  std::string key;
  if (!o.key_file.empty()) {
    key = read_file(o.key_file, kMostKey, "read the key from");
  } else if (const char* value = std::getenv(o.key_variable.c_str()); value != nullptr) {
    key = value;
  }
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' ')) key.pop_back();
  const auto is_bad = [](unsigned char c) { return c <= ' ' || c >= 127; };
  if (key.empty() || key.size() > kMostKey || std::any_of(key.begin(), key.end(), is_bad)) {
    fail(ErrorKind::usage, "{} {} has no key of one line without spaces.",
         o.key_file.empty() ? "the variable" : "the file", shown(o.key_file.empty() ? o.key_variable : o.key_file));
  }
  return "Bearer " + key;
}

void add_run_flags(CLI::App& command, LoadRunFlags& flags) {
  command.add_option("--runs", flags.runs, "Measure each rate this often, with another schedule each time")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  command
      .add_option("--start", flags.start, "Start this server first, in fresh processes for each run, without a shell")
      ->type_name("COMMAND");
  command.add_option("--start-limit", flags.start_limit, "Wait at most this long until it answers")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--server", flags.server, "Name the server's program in records, such as vllm==0.32.0")
      ->type_name("NAME");
  command.add_option("--name", flags.name, "Name the campaign in the store [load]");
  add_store_option(command, flags.work.store);
  command.add_flag("--quiet", flags.work.quiet, "Print no progress on stderr")->group(kOutputGroup);
  add_host_lock_flags(command, flags.work);
}

}  // namespace

load::LoadQuestion question_of(const LoadFlags& o, int stop_fd) {
  load::LoadQuestion question;
  question.arrivals = arrivals_of(o);
  for (const auto& text : o.limits) question.limits.push_back(load::parse_limit(text));
  if (!o.trace.empty()) {
    const auto text = read_file(o.trace, kMostTrace, "read the trace");
    if (text.size() > kMostTrace) fail(ErrorKind::usage, "{} is larger than {} bytes.", shown(o.trace), kMostTrace);
    naming(o.trace, [&] { question.trace = load::parse_trace(text); });
    question.arrivals.trace_hash = hash_hex(text);
  }
  question.target = load::parse_target(o.url);
  if (load::is_on_this_machine(question.target)) question.energy = platform::rapl_counters(platform::powercap_folder());
  auto& sending = question.sending;
  sending.form.api = api_of(o, question.target.path);
  const bool plain = sending.form.api == load::Api::http;
  only_with(!o.body.empty(), "--body", plain, "--api http");
  only_with(!o.model.empty(), "--model", !plain, "completions and chat");
  only_with(o.ignore_eos, "--ignore-eos", !plain, "completions and chat");
  only_with(o.no_stream, "--no-stream", !plain, "completions and chat");
  if (!is_utf8(o.model)) fail(ErrorKind::usage, "--model: {} is not UTF-8.", shown(o.model));
  sending.form.model = o.model;
  sending.form.stream = !plain && !o.no_stream;
  sending.form.ignore_eos = o.ignore_eos;
  sending.form.seed = o.seed;
  if (!o.body.empty()) sending.form.body = read_file(o.body, kMostPostBody, "read the body");
  sending.prefix_words = o.prefix;
  sending.authorization = authorization_of(o);
  sending.connections = static_cast<std::size_t>(o.connections);
  sending.timeout_ns = std::llround(parse_seconds(o.timeout, "--timeout") * 1e9);
  sending.drain_ns = std::min(sending.timeout_ns + 500'000'000, sending.drain_ns);
  sending.stop_fd = stop_fd;
  double tightest = 0;
  for (const auto& limit : question.limits)
    tightest = tightest == 0 ? limit.limit_ns : std::min(tightest, limit.limit_ns);
  question.lateness_budget_ns =
      o.lateness.empty() ? std::max(1e6, 0.01 * tightest) : parse_latency(o.lateness, "--lateness") * 1e9;
  return question;
}

load::RateQuestion rates_of(const LoadFlags& o, const load::LoadQuestion& question) {
  if (question.limits.empty()) fail(ErrorKind::usage, "--find-rate needs a limit, such as --slo 'ttft p90<500ms'.");
  if (!o.duration.empty()) fail(ErrorKind::usage, "--find-rate: give --requests of each run, and --most-time for all.");
  if (question.arrivals.kind == load::ArrivalKind::closed || question.arrivals.kind == load::ArrivalKind::trace) {
    fail(ErrorKind::usage, "--find-rate needs arrivals that have a rate; {} have none.", o.arrivals);
  }
  load::RateQuestion rates;
  rates.first_rate = o.rates.empty() ? 1 : o.rates.front();
  rates.most_rate = o.most_rate;
  rates.precision = assay::parse_share(o.precision, "--precision");
  rates.requests = o.requests > 0 ? o.requests : load::default_run_length(question.limits);
  rates.most_requests = 200 * rates.requests;
  return rates;
}

void add_load_flags(CLI::App& command, LoadFlags& o) {
  const auto count = CLI::Range(std::int64_t{1}, std::int64_t{10'000'000});
  command.add_option("url", o.url, "Send to this server, such as http://127.0.0.1:8000/v1/completions");
  command.add_option("--rate", o.rates, "Send this many requests a second; several rates are measured in turn")
      ->delimiter(',')
      ->check(CLI::Range(1e-4, 1e6));
  command
      .add_option("--arrivals", o.arrivals,
                  "Let requests arrive as poisson, constant, bursts, trace, conversations or closed")
      ->capture_default_str();
  command.add_option("--duration", o.duration, "Send for this long after the warm-up [30s]")->type_name("TIME");
  command.add_option("--requests", o.requests, "Send this many requests instead; of each run with --find-rate")
      ->check(count);
  command.add_option("--warm-up", o.warm_up, "Send this long before anything counts, without a pause after it")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--clients", o.clients, "Keep this many clients busy in a closed loop")
      ->check(CLI::Range(1, 100'000));
  command.add_option("--burst", o.burst, "Let this many requests arrive at the same time")
      ->check(CLI::Range(1, 100'000));
  command.add_option("--turns", o.turns, "Give each conversation this many turns")->check(CLI::Range(1, 1000));
  command.add_option("--turn-gap", o.turn_gap, "Leave this long between turns [5s]")->type_name("TIME");
  command.add_option("--trace", o.trace, "Read times and lengths from this CSV: seconds, input, output")
      ->type_name("FILE");
  command.add_option("--input", o.input, "Write prompts of this many words; the server counts tokens")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000'000));
  command.add_option("--output", o.output, "Ask for this many tokens")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000'000));
  command.add_option("--prefix", o.prefix, "Begin all prompts with this many words that they share")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000'000));
  command.add_option("--api", o.api, "Speak completions, chat or http [by the end of the URL]");
  command.add_option("--model", o.model, "Name this model in requests");
  command.add_flag("--no-stream", o.no_stream, "Ask for whole answers instead of streams");
  command.add_flag("--ignore-eos", o.ignore_eos, "Ask for all tokens also after an end of text (llama.cpp, vLLM)");
  command.add_option("--body", o.body, "Post the text of this file with --api http [GET]")->type_name("FILE");
  command.add_option("--key-file", o.key_file, "Send the key in this file as bearer token")->type_name("FILE");
  command.add_option("--key-variable", o.key_variable, "Send the key in this variable as bearer token")
      ->type_name("NAME");
  command.add_option("--slo", o.limits, "Judge this limit, such as 'ttft p99<500ms'; also latency and tpot")
      ->type_name("LIMIT");
  command.add_flag("--find-rate", o.find_rate, "Search the highest rate within the limits");
  command.add_option("--most-rate", o.most_rate, "Try no higher rate")
      ->capture_default_str()
      ->check(CLI::Range(1e-3, 1e6));
  command.add_option("--most-time", o.most_time, "Search for at most this long")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--precision", o.precision, "Search until half of the interval is this share of the rate")
      ->type_name("SHARE")
      ->capture_default_str();
  command.add_option("--connections", o.connections, "Open at most this many at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--timeout", o.timeout, "Give a request up after this long")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--lateness", o.lateness,
                  "Allow the client to be this late at p99 of a second [1ms, or 1 % of the tightest limit]")
      ->type_name("TIME");
  command
      .add_option("--price-per-hour", o.price, "Add the price of a million output tokens at this price of the server")
      ->check(CLI::PositiveNumber);
  command.add_flag("--no-certification", o.no_certification, "Leave out the run of the client alone");
  command.add_option("--seed", o.seed, "Draw schedule and prompts from this seed")->capture_default_str();
  command.add_option("--stamps", o.stamps, "Write all stamps of every request to this CSV")->type_name("FILE");
  add_run_flags(command, o.runs);
  add_answer_flags(command, o.answer);
  command.add_flag("--gate", o.gate, "Exit with 3 if a limit is broken, 5 if one is undecided");
  command
      .add_option("--null-server", o.null_server,
                  "Be a server on this host that answers without computing, such as port=18080,workers=1,service=2ms")
      ->type_name("SERVICE");
}

}  // namespace assay::cli
