#include "assay/core/text/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace assay {
namespace {

TEST(FormatDuration, ChoosesTheUnitAPersonWouldAndFourDigits) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_seconds(0.0015), "1.5 ms");
  EXPECT_EQ(format_duration(12), "12 ns");
  EXPECT_EQ(format_duration(999.9), "999.9 ns");
  EXPECT_EQ(format_duration(1000), "1 us");
  EXPECT_EQ(format_duration(1'234'567), "1.235 ms");
  EXPECT_EQ(format_duration(61e9), "61 s");
  EXPECT_EQ(format_duration(-2.5e6), "-2.5 ms");
}

TEST(FormatDuration, RoundsUpIntoTheNextUnitInsteadOfWritingAThousand) {
  EXPECT_EQ(format_duration(999.96), "1 us");
  EXPECT_EQ(format_duration(999'960), "1 ms");
  EXPECT_EQ(format_duration(999'940), "999.9 us");
}

TEST(FormatDuration, NeverTurnsToAnExponentForLongTimes) {
  EXPECT_EQ(format_duration(9999e9), "9999 s");
  EXPECT_EQ(format_duration(20000e9), "20000 s");
  EXPECT_EQ(format_duration(123456e9), "123456 s");
}

TEST(FormatRate, UsesThousands) {
  EXPECT_EQ(format_rate(12345.6), "12.35k/s");
  EXPECT_EQ(format_rate(0.5), "0.5/s");
  EXPECT_EQ(format_rate(3e6), "3M/s");
}

TEST(FormatBytes, UsesPowersOf1024) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(std::int64_t{3} << 40), "3 TiB");
  EXPECT_EQ(format_bytes(std::int64_t{1} << 62), "4194304 TiB");
}

TEST(ParseSeconds, ReadsEveryUnitAndPlainSeconds) {
  EXPECT_DOUBLE_EQ(parse_seconds("200ms", "x"), 0.2);
  EXPECT_DOUBLE_EQ(parse_seconds("2s", "x"), 2);
  EXPECT_DOUBLE_EQ(parse_seconds("1.5m", "x"), 90);
  EXPECT_DOUBLE_EQ(parse_seconds("2h", "x"), 7200);
  EXPECT_DOUBLE_EQ(parse_seconds("2d", "x"), 172800);
  EXPECT_DOUBLE_EQ(parse_seconds("0.25", "x"), 0.25);
  EXPECT_DOUBLE_EQ(parse_seconds("2 s", "x"), 2);
  EXPECT_DOUBLE_EQ(parse_seconds("30us", "x"), 30e-6);
}

TEST(ParseSeconds, RefusesWhatIsNoDurationAndNamesItAndWhereItStood) {
  for (const char* text : {"", "s", "-1s", "2  s", "2w", "nan", "inf", "1e999", "0x10", "2ss", " 2s", "2 "}) {
    try {
      parse_seconds(text, "--seconds");
      ADD_FAILURE() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      EXPECT_THAT(error.what(), testing::StartsWith("--seconds: '" + std::string(text) + "'"));
    }
  }
}

TEST(ParseBytes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("1000000", "x"), 1'000'000);
  EXPECT_EQ(parse_bytes("512M", "x"), 512 << 20);
  EXPECT_EQ(parse_bytes("4GiB", "x"), std::int64_t{4} << 30);
  EXPECT_EQ(parse_bytes("1.5K", "x"), 1536);
  EXPECT_EQ(parse_bytes("2MB", "x"), 2'000'000);
  EXPECT_EQ(parse_bytes("16 GB", "x"), 16'000'000'000);
  EXPECT_EQ(parse_bytes("1 G", "x"), std::int64_t{1} << 30);
}

// The same words for a size wherever one is asked for: --memory-limit, --bucket and cluster files.
TEST(ParseMemory, KnowsTheUnitsOfBytesAndWantsOne) {
  EXPECT_DOUBLE_EQ(parse_memory("25M", "x"), 25 << 20);
  EXPECT_DOUBLE_EQ(parse_memory("16 GB", "x"), 16e9);
  EXPECT_DOUBLE_EQ(parse_memory("80GiB", "x"), 80.0 * (1 << 30));
  for (const char* text : {"16", "0 GB", "-1 GB", "16 gb", "GB"}) EXPECT_THROW(parse_memory(text, "x"), Error) << text;
}

TEST(ParseBytes, RefusesNegativeOverlongAndUnknown) {
  for (const char* text : {"", "-1", "1  G", "1X", "9000000T", "1e30", "nan", "G"}) {
    EXPECT_THROW(parse_bytes(text, "x"), Error) << text;
  }
}

}  // namespace
}  // namespace assay
