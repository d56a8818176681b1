#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bitset>
#include <random>

#include "assay/predict/traces/breakdown.hpp"
#include "assay/predict/traces/gzip.hpp"
#include "assay/predict/traces/trace_fixture.hpp"

namespace assay::predict {
namespace {

using testing::HasSubstr;

template <typename Body>
std::string refusal_of(const Body& body) {
  try {
    static_cast<void>(body());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string one_event(const std::string& rest) {
  return R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, )" + rest + "}]}";
}

TEST(GpuTrace, KeepsNanosecondsThatADoubleLoses) {
  // A double of microseconds since 1970 has steps of a quarter of a microsecond.
  const auto trace = read_gpu_trace(one_event(R"("ts": 1712195495519689.047, "dur": 4.928)"), "t");
  ASSERT_EQ(trace.works.size(), 1u);
  EXPECT_EQ(trace.works[0].begin_ns, 1712195495519689047);
  EXPECT_EQ(trace.works[0].length_ns(), 4928);
  EXPECT_EQ(read_gpu_trace(one_event(R"("ts": 12, "dur": 0.5)"), "t").works[0].end_ns, 12500);
  EXPECT_EQ(read_gpu_trace(one_event(R"("ts": 1.2e3, "dur": 1)"), "t").works[0].begin_ns, 1200000);
}

TEST(GpuTrace, TellsWorkOfADeviceApart) {
  const auto trace = WrittenTrace()
                         .kernel("gemm", 0, 10, 5)
                         .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20, 30, 5, 8)
                         .copy(40, 3, 50, 5)
                         .trace();
  ASSERT_EQ(trace.works.size(), 3u);
  EXPECT_EQ(trace.works[0].kind, GpuWorkKind::compute);
  EXPECT_EQ(trace.works[1].kind, GpuWorkKind::communication);
  EXPECT_EQ(trace.works[2].kind, GpuWorkKind::copy);
  EXPECT_NE(trace.works[0].queue, trace.works[1].queue);
  EXPECT_EQ(trace.works[0].queue, trace.works[2].queue);
  EXPECT_EQ(trace.rank, 0);
}

TEST(GpuTrace, ReadsWhatIsPacked) {
  const auto text = WrittenTrace(5).kernel("k", 0, 10, 5).text();
  const auto file = packed(text);
  ASSERT_TRUE(is_gzip(file));
  EXPECT_EQ(unpack_gzip(file, text.size()), text);
  EXPECT_EQ(unpack_gzip(file + file, 2 * text.size()), text + text);  // members one after another, as gzip reads them
  EXPECT_EQ(read_gpu_trace(file, "t.json.gz").rank, 5);
  EXPECT_THAT(refusal_of([&] { return unpack_gzip(file, text.size() - 1); }), HasSubstr("larger than"));
  EXPECT_THAT(refusal_of([&] { return unpack_gzip(file.substr(0, file.size() - 9), 1 << 20); }), HasSubstr("cut off"));
  auto damaged = file;
  damaged[file.size() - 6] = static_cast<char>(damaged[file.size() - 6] ^ 1);  // in the check sum
  EXPECT_THAT(refusal_of([&] { return unpack_gzip(damaged, 1 << 20); }), HasSubstr("damaged"));
}

TEST(GpuTrace, SaysWhatIsWrong) {
  const auto refusal = [](const std::string& text) {
    return refusal_of([&] { return read_gpu_trace(text, "t.json"); });
  };
  EXPECT_THAT(refusal("{}"), HasSubstr("t.json: it has no traceEvents"));
  EXPECT_THAT(refusal("{\"traceEvents\": [1, "), HasSubstr("byte"));
  EXPECT_THAT(refusal(std::string(100, '[')), HasSubstr("nested deeper"));
}

TEST(GpuTrace, SaysWhyNothingRanOnADevice) {
  const auto refusal = [](const WrittenTrace& written) {
    return refusal_of([&] { return window_of(written.trace(), {}); });
  };
  EXPECT_THAT(refusal(WrittenTrace().mark("ProfilerStep#1", 0, 9)), HasSubstr("ProfilerActivity.CUDA"));
  EXPECT_THAT(refusal(WrittenTrace().add("cuda_profiler_range", "k", 0, 1, 1, json::object())),
              HasSubstr("hardware counters of 1 kernels"));
}

TEST(TimeSpans, AgreeWithCountingMoments) {
  std::mt19937 random(7);
  const auto draw = [&] {
    TimeSpans spans;
    for (int i = 0; i < 8; ++i) {
      const auto begin = static_cast<std::int64_t>(random() % 90);
      spans.push_back({begin, begin + static_cast<std::int64_t>(random() % 10)});
    }
    return spans;
  };
  const auto moments = [](const TimeSpans& spans) {
    std::bitset<100> covered;
    for (const auto& span : spans) {
      for (auto at = span.begin_ns; at < span.end_ns; ++at) covered.set(static_cast<std::size_t>(at));
    }
    return covered;
  };
  for (int i = 0; i < 200; ++i) {
    const auto one = draw();
    const auto other = draw();
    const auto a = united(one);
    const auto b = united(other);
    EXPECT_EQ(moments(a), moments(one));
    EXPECT_EQ(length_ns(a), static_cast<std::int64_t>(moments(one).count()));
    EXPECT_EQ(moments(common(a, b)), moments(one) & moments(other));
    EXPECT_EQ(moments(without(a, b)), moments(one) & ~moments(other));
    EXPECT_EQ(length_ns(without(a, b)), static_cast<std::int64_t>((moments(one) & ~moments(other)).count()));
  }
}

/// A device from 10 to 110 us: computes 10..30 and 50..70, communicates 20..40 and 60..65, copies 40..45, is idle
/// 45..50 with the next launch at 30 (it waits), idle 70..100 with the next launch at 95 (host), of which the loader
/// takes 72..92, computes 100..110.
TEST(Breakdown, PartsTheTimeOfADevice) {
  const auto trace = WrittenTrace()
                         .mark("ProfilerStep#1", 0, 120)
                         .mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 72, 20)
                         .kernel("a", 5, 10, 20)
                         .kernel("ncclKernel_x", 15, 20, 20, 9)
                         .copy(25, 2, 40, 5)
                         .kernel("b", 30, 50, 20)
                         .kernel("ncclKernel_x", 40, 60, 5, 9)
                         .kernel("c", 95, 100, 10)
                         .trace();
  const auto parts = breakdown_of(window_of(trace, {}));
  EXPECT_NEAR(parts.step_seconds, 120e-6, 1e-12);
  EXPECT_NEAR(parts.device_seconds, 100e-6, 1e-12);
  EXPECT_NEAR(parts.compute, .50, 1e-12);
  EXPECT_NEAR(parts.communication, .25, 1e-12);
  EXPECT_NEAR(parts.exposed_communication, .10, 1e-12);
  EXPECT_NEAR(parts.overlapped_communication, .15, 1e-12);
  EXPECT_NEAR(parts.copies, .05, 1e-12);
  EXPECT_NEAR(parts.idle, .35, 1e-12);
  EXPECT_NEAR(parts.input, .20, 1e-12);
  EXPECT_NEAR(parts.host_bound, .10, 1e-12);
  EXPECT_NEAR(parts.waiting, .05, 1e-12);
}

TEST(TraceWindow, TakesStepsByTheirAnnotation) {
  const auto trace = WrittenTrace()
                         .mark("warmup", 0, 100)
                         .kernel("a", 10, 20, 5)
                         .mark("measure", 200, 100)
                         .kernel("a", 210, 220, 5)
                         .mark("measure", 400, 100)
                         .kernel("a", 410, 420, 180)
                         .trace();
  StepChoice choice;
  choice.mark = "measure";
  const auto both = window_of(trace, choice);
  EXPECT_EQ(both.steps, 2);
  EXPECT_EQ(both.works.size(), 2u);
  EXPECT_NEAR(both.step_seconds(), 200e-6, 1e-12);  // 200 .. 600, since the device ends after the host
  choice.only = 1;
  EXPECT_NEAR(window_of(trace, choice).step_seconds(), 100e-6, 1e-12);
  choice.only = 3;
  EXPECT_THAT(refusal_of([&] { return window_of(trace, choice); }), HasSubstr("it has 2 steps"));
  choice.mark = "no such";
  EXPECT_THAT(refusal_of([&] { return window_of(trace, choice); }), HasSubstr("no such"));
  EXPECT_FALSE(window_of(trace, {}).is_marked);
}

}  // namespace
}  // namespace assay::predict
