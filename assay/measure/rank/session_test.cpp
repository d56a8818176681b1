#include "assay/measure/rank/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "assay/core/clock.hpp"

namespace assay::measure {
namespace {

using testing::HasSubstr;

constexpr const char* kPrepared = R"(echo '{"type":"prepared","protocol":1,"versions":{"shell":"1"},"effective":{}}')";
constexpr double kLimit = 20;  // where an answer comes

/// A worker that is a few lines of shell.
WorkerSession worker(
    const std::string& script, WorkerSession::Tick tick = [] {}) {
  return {{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin"}, std::move(tick)};
}

const json kAsk{{"type", "prepare"}};

/// How a conversation ended that must not end well.
template <typename Body>
Outcome failure(Body body) {
  try {
    body();
  } catch (const WorkerFailure& failure) {
    return failure.outcome;
  }
  return {OutcomeKind::ok, "nothing failed", {}, {}, {}, {}};
}

TEST(Session, asks_hears_and_ends) {
  auto session = worker(std::string("read a; ") + kPrepared +
                        R"(; read b; echo '{"type":"samples","ns":[3,4]}'; )"
                        R"(echo '{"type":"done","samples":2,"begin_ns":1,"end_ns":9}'; read c; exit 0)");
  EXPECT_EQ(session.prepare(kAsk, kLimit).versions.at("shell"), "1");
  EXPECT_THAT(session.measure("step", 1, 10, kLimit).samples_ns, testing::ElementsAre(3, 4));
  EXPECT_TRUE(session.exit(kLimit));
  EXPECT_GT(session.peak_memory_bytes().value_or(0), 0);
}

TEST(Session, a_program_that_is_not_there_is_not_started) {
  const auto outcome = failure([] { WorkerSession({"/nowhere/worker"}, {}, [] {}); });
  EXPECT_EQ(outcome.kind, OutcomeKind::not_started);
  EXPECT_THAT(outcome.message, HasSubstr("No such file"));
}

TEST(Session, a_worker_that_says_nothing_is_timed_out) {
  auto session = worker("sleep 100");
  EXPECT_EQ(failure([&] { session.prepare(kAsk, .05); }).kind, OutcomeKind::timed_out);
  session.signal(SIGKILL);
}

TEST(Session, a_worker_that_crashes_says_by_which_signal_and_what_it_wrote) {
  auto session = worker("echo broken >&2; kill -SEGV $$");
  const auto outcome = failure([&] { session.prepare(kAsk, kLimit); });
  EXPECT_EQ(outcome.kind, OutcomeKind::crashed);
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_EQ(session.stderr_tail(), "broken\n");
}

TEST(Session, a_worker_that_ends_early_says_its_code) {
  auto session = worker("exit 7");
  EXPECT_EQ(failure([&] { session.prepare(kAsk, kLimit); }).exit_code, 7);
}

TEST(Session, a_line_without_end_is_refused_while_it_comes) {
  auto session = worker("read a; head -c 6000000 /dev/zero | tr '\\0' x");
  const auto outcome = failure([&] { session.prepare(kAsk, kLimit); });
  EXPECT_EQ(outcome.kind, OutcomeKind::bad_output);
  EXPECT_THAT(outcome.message, HasSubstr("longer than 4194304 bytes"));
  session.signal(SIGKILL);
}

TEST(Session, text_that_is_not_a_message_is_refused) {
  auto session = worker("read a; echo hello; sleep 100");
  EXPECT_EQ(failure([&] { session.prepare(kAsk, kLimit); }).kind, OutcomeKind::bad_output);
  session.signal(SIGKILL);
}

TEST(Session, an_error_of_the_worker_is_its_outcome) {
  auto session = worker(R"(read a; echo '{"type":"error","kind":"refused","message":"no such mode"}')");
  const auto outcome = failure([&] { session.prepare(kAsk, kLimit); });
  EXPECT_EQ(outcome.kind, OutcomeKind::refused);
  EXPECT_EQ(outcome.message, "no such mode");
  EXPECT_TRUE(session.wait_end(kLimit));
}

TEST(Session, a_worker_that_speaks_unasked_is_refused) {
  auto session = worker(std::string("read a; ") + kPrepared + "; echo more; read b; sleep 100");
  session.prepare(kAsk, kLimit);
  const auto outcome = failure([&] {
    for (const auto end = monotonic_ns() + 20'000'000'000; monotonic_ns() < end;) session.attend();
  });
  EXPECT_EQ(outcome.kind, OutcomeKind::bad_output);
  EXPECT_THAT(outcome.message, HasSubstr("although nothing was asked"));
  session.signal(SIGKILL);
}

TEST(Session, a_worker_that_stays_after_its_end_is_left_to_the_caller) {
  auto session = worker(std::string("read a; ") + kPrepared + "; sleep 100");
  session.prepare(kAsk, kLimit);
  EXPECT_FALSE(session.exit(.05));
  session.signal(SIGKILL);
}

TEST(Session, whoever_watches_may_end_it) {
  auto session = worker("sleep 100", [] { worker_failed(OutcomeKind::interrupted, "enough"); });
  EXPECT_EQ(failure([&] { session.prepare(kAsk, kLimit); }).message, "enough");
  session.signal(SIGKILL);
}

}  // namespace
}  // namespace assay::measure
