#include "assay/core/text/utf8.hpp"

#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace assay {
namespace {

TEST(Utf8, AcceptsTheFirstAndLastCharacterOfEveryLength) {
  for (const char* text : {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << testing::PrintToString(text);
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesLoneBytesAndWhatIsAboveTheLastCharacter) {
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc2", "\xe2\x82", "\xc2\x41", "\xf0\x9f\x98"}) {
    EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(text);
  }
}

TEST(Printable, MakesControlCharactersAndMalformedBytesVisible) {
  EXPECT_EQ(printable("a\x1b[31m\n\x7f", 60), "a\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(printable("\xff€", 60), "\\xff€");
}

TEST(Printable, CutsAtACharacterSoThatTheResultIsUtf8) {
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abcd", 3), "abc…");
  EXPECT_EQ(printable("a€", 3), "a…");  // the euro sign has three bytes
  EXPECT_EQ(printable("a€", 4), "a€");
}

TEST(Shown, QuotesAndIsUtf8ForAnyBytes) {
  EXPECT_EQ(shown("x"), "'x'");
  for (std::size_t limit = 0; limit < 12; ++limit) EXPECT_TRUE(is_utf8(shown("€€\xe2\x82€\xff", limit)));
}

TEST(Shown, TextIsShortenedButAPathIsWhole) {
  const std::string path = "/a/folder/whose/name/" + std::string(80, 'x') + "/libcblas.so";
  EXPECT_EQ(shown_path(path), "'" + path + "'");
  EXPECT_EQ(shown(path).find("libcblas"), std::string::npos);
  EXPECT_EQ(shown_path("two\nlines"), shown("two\nlines"));
}

}  // namespace
}  // namespace assay
