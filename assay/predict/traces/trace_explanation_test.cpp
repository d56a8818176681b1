#include "assay/predict/traces/trace_explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/predict/traces/trace_fixture.hpp"
#include "assay/predict/traces/trace_replay.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

double replayed_us(const GpuTrace& trace, const TraceChange& change) {
  std::vector<std::uint32_t> nodes;
  return 1e6 * replay_trace(graph_of(window_of(trace, {}), nodes), change).seconds;
}

const TraceChange kAsItIs;

/// Host: launches at 0, 10, 20; an event makes the last kernel wait for the collective.
/// Stream 7: a 5..105, b 105..135 (queued). Stream 9: the collective 107..307, after a by an event. Then c on stream 7
/// waits for the collective: 309..319.
WrittenTrace with_events() {
  return WrittenTrace()
      .mark("ProfilerStep#1", 0, 40)
      .kernel("a", 0, 5, 100)
      .wait(4, 7, 6, 9)
      .kernel("ncclKernel_x", 10, 107, 200, 9)
      .kernel("b", 14, 105, 30)
      .wait(20, 9, 22, 7)
      .kernel("c", 24, 309, 10);
}

TEST(TraceReplay, FollowsLaunchesStreamsAndEvents) {
  const auto trace = with_events().trace();
  EXPECT_NEAR(replayed_us(trace, kAsItIs), 319, 1e-6);
  // Without the collective c follows its event, 2 us after what the collective had waited for (a until 105, then 2) ...
  // that is 107 + 2; but b keeps the stream until 135. The usual gap of this trace is b's, 0 us.
  EXPECT_NEAR(replayed_us(trace, kAsItIs.with(Spent::communication, 0)), 135 + 10, 1e-6);
  // Kernels twice as fast: a 5..55, the collective 57..257, c 259..264.
  EXPECT_NEAR(replayed_us(trace, kAsItIs.with(Spent::compute, 0.5)), 264, 1e-6);
}

TEST(TraceReplay, FindsEventsByTheOrderOfCallsWhereTheyAreNotNamed) {
  WrittenTrace written;
  written.mark("ProfilerStep#1", 0, 40)
      .kernel("a", 0, 5, 100)
      .call("cudaEventRecord", 4, 1)
      .call("cudaStreamWaitEvent", 6, 1)
      .kernel("ncclKernel_x", 10, 107, 20, 9)
      .kernel("b", 14, 105, 30)
      .call("cudaStreamWaitEvent", 22, 1)
      .kernel("c", 24, 135, 10);
  // The collective ends at 127, before c could begin: it holds c up only where it takes longer. Ten times as long: 307,
  // and c begins at once, for the usual gap of this trace is 0.
  EXPECT_NEAR(replayed_us(written.trace(), kAsItIs), 145, 1e-6);
  EXPECT_NEAR(replayed_us(written.trace(), kAsItIs.with(Spent::communication, 10)), 307 + 10, 1e-6);
}

TEST(TraceReplay, LetsTheHostWaitWhereItSynchronises) {
  // The host launches at 0, waits from 10 until 110 for the kernel that ends at 105, works for 20 us, and launches
  // again.
  const auto trace = WrittenTrace()
                         .mark("ProfilerStep#1", 0, 140)
                         .kernel("a", 0, 5, 100)
                         .call("cudaStreamSynchronize", 10, 100)
                         .kernel("b", 130, 135, 50)
                         .trace();
  EXPECT_NEAR(replayed_us(trace, kAsItIs), 185, 1e-6);
  // Twice as fast: a ends at 55, the call 5 us later, b is launched at 80, begins at 85 and ends at 110.
  EXPECT_NEAR(replayed_us(trace, kAsItIs.with(Spent::compute, 0.5)), 110, 1e-6);
  // No kernel time at all: the call begins at 10 whatever the device does, and a ends at 5.
  EXPECT_NEAR(replayed_us(trace, kAsItIs.with(Spent::compute, 0)), 10 + 20 + 5 + 0 + 5,
              1e-6);  // the host's step ends at 40
}

TEST(TraceReplay, AStepThatEndsWithItsWaitIsNotHostTime) {
  // As with profiler.step() right after a synchronisation: both end at 110. The call begins at 10, and the kernel,
  // twice as fast, ends at 55; the call comes back 5 us later, and so does the step.
  const auto trace = WrittenTrace()
                         .mark("ProfilerStep#1", 0, 110)
                         .kernel("a", 0, 5, 100)
                         .call("cudaStreamSynchronize", 10, 100)
                         .trace();
  EXPECT_NEAR(replayed_us(trace, kAsItIs), 110, 1e-6);
  EXPECT_NEAR(replayed_us(trace, kAsItIs.with(Spent::compute, 0.5)), 60, 1e-6);
}

TEST(CriticalPath, IsAsLongAsTheStep) {
  const auto explained = explain_traces({with_events().trace()}, {}, 2);
  EXPECT_NEAR(explained.step_seconds, 319e-6, 1e-12);
  EXPECT_NEAR(explained.path_step_seconds, 319e-6, 1e-12);
  // Launch of a 5, a 100, to the collective 2, the collective 200, to c 2, c 10.
  EXPECT_NEAR(explained.path.at("compute"), 110. / 319, 1e-9);
  EXPECT_NEAR(explained.path.at("communication"), 200. / 319, 1e-9);
  EXPECT_NEAR(explained.path.at("gap"), 4. / 319, 1e-9);
  EXPECT_NEAR(explained.path.at("launch"), 5. / 319, 1e-9);
  EXPECT_EQ(explained.causes.front().kind, TraceCauseKind::communication);
}

/// Two steps of a rank whose kernels take `us`; the collective ends on all ranks when it does on the slowest.
WrittenTrace rank_of_a_job(int rank, double us, double slowest_us, double clock_us) {
  WrittenTrace written(rank);
  for (int step = 0; step < 2; ++step) {
    const double begin = clock_us + step * (slowest_us + 120);
    const double ended = begin + 5 + slowest_us + 100;
    written.mark("ProfilerStep#" + std::to_string(step), begin, slowest_us + 110)
        .kernel("gemm<1>(float*)", begin, begin + 5, us)
        .wait(begin + 4, 7, begin + 6, 9)
        .kernel("ncclDevKernel_AllReduce", begin + 10, begin + 5 + us, ended - (begin + 5 + us), 9)
        .call("cudaDeviceSynchronize", begin + 20, ended + 2 - (begin + 20));
  }
  return written;
}

TEST(Explanation, NamesASlowRankFirst) {
  // Ranks 0, 1 and 3 compute 500 us and rank 2 computes 900; clocks differ by milliseconds.
  std::vector<GpuTrace> traces;
  for (int rank = 0; rank < 4; ++rank) {
    traces.push_back(rank_of_a_job(rank, rank == 2 ? 900 : 500, 900, 3000 * rank).trace());
  }
  const auto explained = explain_traces(traces, {}, 2);
  EXPECT_EQ(explained.why_not_joined, "");
  ASSERT_TRUE(explained.slow_rank);
  EXPECT_EQ(explained.slow_rank->rank, 2);
  EXPECT_EQ(explained.slow_rank->where, "compute");
  EXPECT_NEAR(explained.slow_rank->more_seconds, 400e-6, 1e-6);
  EXPECT_EQ(explained.slow_rank->kernel, "gemm<1>(float*)");
  EXPECT_EQ(explained.causes.front().kind, TraceCauseKind::slow_rank);
  EXPECT_NEAR(explained.causes.front().saved, 400. / 1017, 0.01);
  EXPECT_NEAR(explained.replayed_step_seconds / explained.step_seconds, 1, 1e-3);
}

TEST(Explanation, DoesNotBlameARankOfAnEvenJob) {
  std::vector<GpuTrace> traces;
  for (int rank = 0; rank < 4; ++rank) traces.push_back(rank_of_a_job(rank, 900, 900, 3000 * rank).trace());
  EXPECT_FALSE(explain_traces(traces, {}, 2).slow_rank);
}

TEST(Explanation, DoesNotJoinCollectivesThatEndApart) {
  const auto one = rank_of_a_job(0, 500, 900, 0).trace();
  auto other = rank_of_a_job(1, 500, 900, 0).trace();
  for (auto& work : other.works) {
    if (work.begin_ns > 1'000'000) {
      work.begin_ns += 700'000;
      work.end_ns += 700'000;
    }
  }
  EXPECT_THAT(explain_traces({one, other}, {}, 2).why_not_joined, HasSubstr("do not end together"));
}

/// A kernel of 100 us in each step, and a loader that takes `load` us before it.
WrittenTrace with_loader(double load) {
  WrittenTrace written;
  for (int step = 0; step < 4; ++step) {
    const double begin = step * (load + 130);
    written.mark("ProfilerStep#" + std::to_string(step), begin, load + 125)
        .mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", begin, load)
        .kernel("gemm", begin + load + 10, begin + load + 15, 100)
        .call("cudaDeviceSynchronize", begin + load + 14, 104);
  }
  return written;
}

TEST(Explanation, NamesInputFirstWhereTheStepWaitsForIt) {
  const auto stalled = explain_traces({with_loader(300).trace()}, {}, 2);
  EXPECT_EQ(stalled.causes.front().kind, TraceCauseKind::input);
  EXPECT_NEAR(stalled.causes.front().saved, 300. / 430, 0.01);
  EXPECT_NE(explain_traces({with_loader(3).trace()}, {}, 2).causes.front().kind, TraceCauseKind::input);
}

TEST(TraceWindow, LeavesOutWhatWasLaunchedBeforeTheTrace) {
  auto written = with_events();
  written.add("kernel", "earlier", 0, 50, 7, {{"correlation", 999}, {"stream", 7}, {"device", 0}});
  EXPECT_EQ(window_of(written.trace(), {}).works.size(), 4u);
}

TEST(Explanation, RefusesTwoTracesOfOneRank) {
  const auto trace = with_events().trace();
  try {
    static_cast<void>(explain_traces({trace, trace}, {}, 2));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("both of rank 0"));
  }
}

}  // namespace
}  // namespace assay::predict
