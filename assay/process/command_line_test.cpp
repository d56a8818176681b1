#include "assay/process/command_line.hpp"

#include <gtest/gtest.h>

namespace assay::process {
namespace {

using Words = std::vector<std::string>;

TEST(CommandLine, BlanksPartWordsAndQuotesKeepThem) {
  const auto words = command_line_words("serve  --name 'a b' \"c 'd'\" $HOME ''", Backslash::stands);
  EXPECT_EQ(words, (Words{"serve", "--name", "a b", "c 'd'", "$HOME", ""}));
  EXPECT_EQ(command_line_words(" \t\n", Backslash::stands), Words{});
}

TEST(CommandLine, ABackslashEscapesOnlyWhereItIsAskedTo) {
  EXPECT_EQ(command_line_words(R"(a\ b "c\"d")", Backslash::escapes), (Words{"a b", "c\"d"}));
  EXPECT_EQ(command_line_words(R"(a\ b '\')", Backslash::stands), (Words{"a\\", "b", "\\"}));
}

TEST(CommandLine, AQuoteThatIsNotClosedIsSeen) {
  for (const char* text : {"a 'b", "a \"b", "'"}) EXPECT_FALSE(command_line_words(text, Backslash::stands)) << text;
  EXPECT_FALSE(command_line_words(R"("a\")", Backslash::escapes));
}

}  // namespace
}  // namespace assay::process
