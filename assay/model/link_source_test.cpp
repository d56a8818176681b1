#include "assay/model/link_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/model/link_sources/lines.hpp"

namespace assay::model {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kOsu =
    "Loading module openmpi\n"
    "\n"
    "# OSU MPI Allgather Latency Test v7.5\n"
    "# Datatype: MPI_CHAR.\n"
    "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
    "1024                    1.50              1.25              2.00        1000\n"
    "2048                    3.00              2.50              4.00        1000\n"
    "real\t0m7.902s\n"
    "# OSU MPI Latency Test v5.8\n"
    "# Size          Latency (us)\n"
    "0                       0.80\n";

constexpr const char* kNccl =
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid   5092 on      node1 device  0 [0x21] NVIDIA Example\n"
    "#  Rank  1 Group  0 Pid   5092 on      node1 device  1 [0x41] NVIDIA Example\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "node1:880:888 [1] NCCL INFO Connected all trees\n"
    "     1048576        262144     float     sum      -1    105.9    9.90   17.33      0    99.7    9.92   17.37    "
    "N/A\n"
    "# Out of bounds values : 0 OK\n";

LinkRequest ask(std::optional<std::int64_t> ranks = std::nullopt, std::optional<Collective> collective = std::nullopt) {
  return {"out.txt", ranks, collective};
}

TEST(Import, OsuCountsPartsAndOneWayWhereWeCountAllAndTheRoundTrip) {
  const auto points = import_points(link_sources::osu, kOsu, ask(4));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].collective, Collective::all_gather);
  EXPECT_EQ(points[1].ranks, 4);
  EXPECT_EQ(points[1].bytes, 4 * 2048);
  EXPECT_DOUBLE_EQ(points[1].seconds, 3e-6);
  EXPECT_EQ(points[2].collective, Collective::ping_pong);
  EXPECT_EQ(points[2].ranks, 2);
  EXPECT_DOUBLE_EQ(points[2].seconds, 1.6e-6);
  EXPECT_EQ(points[0].run, points[1].run);
  EXPECT_NE(points[0].run, points[2].run);  // a table is a run
}

TEST(Import, OsuWithoutRanksAsksForThem) {
  EXPECT_THAT([] { link_sources::osu.read(kOsu, ask()); }, ThrowsMessage<Error>(HasSubstr("--ranks")));
}

TEST(Import, OtherOsuBenchmarksAreRefusedWithTheLine) {
  for (const char* title : {"# OSU MPI Bandwidth Test v5.8", "# OSU MPI Barrier Latency Test v5.8",
                            "# OSU MPI Non-blocking Allreduce Latency Test v5.8"}) {
    EXPECT_THAT([&] { link_sources::osu.read("\n" + std::string(title) + "\n1 2\n", ask(2)); },
                ThrowsMessage<Error>(HasSubstr("out.txt line 2: ")))
        << title;
  }
}

TEST(Import, OsuTitlesOfAllCollectivesAreKnown) {
  const std::vector<std::pair<std::string, Collective>> titles{
      {"MPI Allreduce", Collective::all_reduce},
      {"MPI-CUDA Allreduce", Collective::all_reduce},
      {"MPI Reduce_scatter", Collective::reduce_scatter},
      {"MPI All-to-All Personalized Exchange", Collective::all_to_all},
      {"MPI Broadcast", Collective::broadcast}};
  for (const auto& [title, collective] : titles) {
    const auto points = link_sources::osu.read("# OSU " + title + " Latency Test v5.9\n64 1.0\n", ask(2));
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points[0].collective, collective) << title;
  }
}

TEST(Import, NcclTellsRanksAndCollectiveAndTheTimeOutOfPlace) {
  const auto points = import_points(link_sources::nccl_tests, kNccl, ask());
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].collective, Collective::all_reduce);
  EXPECT_EQ(points[0].ranks, 2);
  EXPECT_EQ(points[0].bytes, 1048576);
  EXPECT_DOUBLE_EQ(points[0].seconds, 105.9e-6);
  EXPECT_THAT([] { link_sources::nccl_tests.read(kNccl, ask(8)); },
              ThrowsMessage<Error>(HasSubstr("it names 2 ranks")));
}

TEST(Import, OlderNcclIsToldItsCollectiveAndRanks) {
  const std::string row = "8 2 float 9.5 0.00 0.00 0e+00 9.2 0.00 0.00 0e+00\n";  // redop and root left blank
  EXPECT_THAT([&] { link_sources::nccl_tests.read(row, ask(2)); }, ThrowsMessage<Error>(HasSubstr("--collective")));
  EXPECT_THAT([&] { link_sources::nccl_tests.read(row, ask({}, Collective::all_gather)); },
              ThrowsMessage<Error>(HasSubstr("--ranks")));
  const auto points = link_sources::nccl_tests.read(row, ask(2, Collective::all_gather));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_DOUBLE_EQ(points[0].seconds, 9.5e-6);
}

TEST(Import, ATimeOfAWrongResultIsRefused) {
  EXPECT_THAT(
      [] { link_sources::nccl_tests.read("8 2 float sum -1 9.5 0 0 3 9.2 0 0 0\n", ask(2, Collective::all_reduce)); },
      ThrowsMessage<Error>(HasSubstr("line 1: '3' wrong results")));
}

TEST(Import, CsvIsWhatItsFirstLineSays) {
  const auto points = import_points(link_sources::csv,
                                    "collective,ranks,bytes,seconds,run\nbroadcast, 4, 1024, 1.5e-3, a\r\n\n"
                                    "broadcast,8,0,2,b",
                                    ask());
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].ranks, 4);
  EXPECT_DOUBLE_EQ(points[0].seconds, 1.5e-3);
  EXPECT_EQ(points[1].run, "out.txt#b");
  for (const char* bad : {"gather,4,1,1", "broadcast,1,1,1", "broadcast,4,-1,1", "broadcast,4,1,0", "broadcast,4,1,nan",
                          "broadcast,4,1", "broadcast,4,1,1e300", "broadcast,4,1.5,1"}) {
    const auto text = "collective,ranks,bytes,seconds\n" + std::string(bad);
    EXPECT_THAT([&] { link_sources::csv.read(text, ask()); }, ThrowsMessage<Error>(HasSubstr("out.txt line 2: ")))
        << bad;
  }
  EXPECT_THAT([] { link_sources::csv.read("ranks,bytes\n", ask()); },
              ThrowsMessage<Error>(HasSubstr("line 1: the first line")));
}

TEST(Import, TheFormatIsSeenFromTheText) {
  EXPECT_EQ(&link_source_for("", kOsu, "a"), &link_sources::osu);
  EXPECT_EQ(&link_source_for("", kNccl, "a"), &link_sources::nccl_tests);
  EXPECT_EQ(&link_source_for("", "collective,ranks,bytes,seconds\n", "a"), &link_sources::csv);
  EXPECT_THAT([] { link_source_for("", "hello", "a"); }, ThrowsMessage<Error>(HasSubstr("--format")));
}

TEST(Import, TextBeyondTheLimitsIsRefused) {
  EXPECT_THROW(source_lines(std::string(kSourceBytes + 1, 'x'), "a"), Error);
  EXPECT_THROW(source_lines(std::string(kSourceLines + 1, '\n'), "a"), Error);
  EXPECT_THROW(source_lines(std::string(kSourceColumns, ','), "a", ','), Error);
  EXPECT_EQ(source_lines(std::string(300, ' ') + "a b", "a").at(0).words.size(), 2u);
  EXPECT_THROW(import_points(link_sources::osu, "nothing", ask(2)), Error);
}

constexpr const char* kImb = R"(
#----------------------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.90         0.00
         1024         1000         2.00       512.00

# Benchmarking Allgather
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.05         0.05         0.05
         4096         1000        10.00        30.00        20.00

# Benchmarking Barrier
# #processes = 4
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         3.00         3.10         3.05
)";

TEST(Import, ImbCountsTheLastRankAndTheWholeBuffer) {
  EXPECT_EQ(&link_source_for("", kImb, "a"), &link_sources::imb);
  const auto points = import_points(link_sources::imb, kImb, ask());
  ASSERT_EQ(points.size(), 2u);  // a message of no bytes says nothing of bytes, and a barrier has none
  EXPECT_EQ(points[0].collective, Collective::ping_pong);
  EXPECT_DOUBLE_EQ(points[0].seconds, 4e-6);  // there and back
  EXPECT_EQ(points[1].collective, Collective::all_gather);
  EXPECT_EQ(points[1].ranks, 4);
  EXPECT_DOUBLE_EQ(points[1].bytes, 4 * 4096);
  EXPECT_DOUBLE_EQ(points[1].seconds, 30e-6);
  EXPECT_NE(points[0].run, points[1].run);
  EXPECT_THAT([] { import_points(link_sources::imb, kImb, ask(8)); }, ThrowsMessage<Error>(HasSubstr("names 2 ranks")));
}

}  // namespace
}  // namespace assay::model
