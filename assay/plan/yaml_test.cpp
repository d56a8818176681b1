#include "assay/plan/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "assay/core/error.hpp"

namespace assay::plan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const std::string& text) {
  try {
    parse_yaml(text, "f.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

/// `unit` after `head`, as often as fits into `bytes`.
std::string repeated(const std::string& unit, const std::string& head = "", std::size_t bytes = 1u << 20) {
  std::string out = head;
  while (out.size() + unit.size() <= bytes) out += unit;
  return out;
}

TEST(Yaml, nodes_remember_where_they_stood) {
  const Yaml root = parse_yaml("a: 1\nb:\n  - x\n  - 'y'\nc: ~\n", "f.yaml");
  ASSERT_EQ(root.items.size(), 3u);
  const Yaml& list = *root.find("b");
  EXPECT_EQ(list.key_line, 2);
  EXPECT_EQ(list.key_column, 1);
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[1].text, "y");
  EXPECT_EQ(list.items[1].line, 4);
  EXPECT_EQ(list.items[1].column, 5);
  EXPECT_TRUE(list.items[1].quoted);
  EXPECT_FALSE(list.items[0].quoted);
  EXPECT_EQ(root.find("c")->kind, Yaml::Kind::null);
  EXPECT_EQ(root.find("d"), nullptr);
}

TEST(Yaml, duplicate_keys_are_refused_at_any_depth) {
  EXPECT_THAT(refusal("a: 1\na: 2"), StartsWith("f.yaml:2:1: the key 'a' is here twice."));
  EXPECT_THAT(refusal("x: [{a: 1, \"a\": 2}]"), StartsWith("f.yaml:1:12: the key 'a' is here twice."));
}

TEST(Yaml, anchors_aliases_and_tags_are_refused) {
  EXPECT_THAT(refusal("a: &x 1"), HasSubstr("anchors (&name) and aliases (*name) are not taken"));
  EXPECT_THAT(refusal("a: &x [1]\nb: *x"), StartsWith("f.yaml:1:"));
  EXPECT_THAT(refusal("a: &x"), HasSubstr("anchors"));
  EXPECT_THAT(refusal("a: !!str 1"), HasSubstr("the tag 'tag:yaml.org,2002:str' is not taken"));
  EXPECT_THAT(refusal("a: !x [1]"), HasSubstr("the tag '!x' is not taken"));
}

TEST(Yaml, a_second_document_is_refused) {
  EXPECT_THAT(refusal("a: 1\n---\nb: 2\n"), HasSubstr("a second document"));
  EXPECT_EQ(refusal("---\na: 1\n...\n"), "no error");
}

TEST(Yaml, keys_must_be_words) {
  EXPECT_THAT(refusal("[a]: 1"), StartsWith("f.yaml:1:1: "));
  EXPECT_THAT(refusal("? [a]\n: 1"), HasSubstr("cannot be a key"));
  EXPECT_THAT(refusal("~: 1"), HasSubstr("a key is missing"));
}

TEST(Yaml, what_is_not_yaml_is_placed) {
  EXPECT_THAT(refusal("a: [1\nb: 2"), HasSubstr("this is not YAML"));
  EXPECT_THAT(refusal("a: 'x"), HasSubstr("this is not YAML"));
  EXPECT_THAT(refusal("a: \"\\ud800\""), HasSubstr("this is not YAML"));
}

TEST(Yaml, hostile_bytes_are_placed) {
  EXPECT_THAT(refusal("a: 1\nb: \xff"), StartsWith("f.yaml:2:4: the byte 0xff is not UTF-8."));
  EXPECT_THAT(refusal(std::string("a: 1\nb: \0", 9)), StartsWith("f.yaml:2:4: the byte 0x00 is a zero byte."));
  EXPECT_THAT(refusal("a: \x1b[31m"), StartsWith("f.yaml:1:4: the byte 0x1b is a control character."));
  EXPECT_THAT(refusal("a: 1\n\x04 b: 2"), StartsWith("f.yaml:2:1: "));  // yaml-cpp takes 0x04 as the end of the file
  EXPECT_THAT(refusal("\xff\xfe"
                      "a"),
              StartsWith("f.yaml:1:1: "));  // UTF-16
  EXPECT_THAT(refusal("a: \"x\\0\""), HasSubstr("is a zero byte"));
  EXPECT_THAT(refusal("a: \"\\e[31m\""), HasSubstr("is a control character"));
  EXPECT_EQ(refusal("a: \"\\xff\""), "no error");  // U+00FF
  EXPECT_EQ(refusal("\xef\xbb\xbf"
                    "a: 1\r\n"),
            "no error");
}

TEST(Yaml, depth_is_bounded) {
  EXPECT_EQ(refusal(std::string(32, '[') + std::string(32, ']')), "no error");
  EXPECT_THAT(refusal(std::string(33, '[') + std::string(33, ']')), HasSubstr("nested deeper than 32 levels"));
  EXPECT_THAT(refusal(repeated("- ")), HasSubstr("nested deeper than 32 levels"));
}

TEST(Yaml, size_and_count_are_bounded) {
  EXPECT_THAT(refusal(std::string((1u << 20) + 1, ' ')), HasSubstr("at most 1048576 are taken"));
  EXPECT_THAT(refusal(repeated("1,", "[")), HasSubstr("more than 200000"));
}

TEST(Yaml, every_bomb_is_refused_within_a_tenth_of_a_second) {
  std::string laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'z'; ++c)
    laughs += fmt::format("{0}: &{0} [*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1}]\n", c, char(c - 1));
  const std::vector<std::string> bombs{
      laughs,
      repeated("["),
      repeated("[", "", 50'000),
      repeated("{"),
      repeated("[{"),
      repeated("{a: "),
      repeated("- "),
      repeated("? "),
      repeated("&a ", "["),
      repeated("*a ", "a: &a ["),
      repeated("!a ", "["),
      repeated("1,", "a: ["),
      repeated("- a\n"),
      repeated("a: 1\n"),
      repeated("\n", "["),
      repeated("---\n"),
  };
  double slowest = 0;
  for (const auto& bomb : bombs) {
    const std::clock_t begin = std::clock();  // of the CPU: a busy machine must not fail the test
    EXPECT_NE(refusal(bomb), "no error") << bomb.substr(0, 20);
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    slowest = std::max(slowest, took);
    EXPECT_LT(took, ASSAY_SANITIZED ? 30 : 0.1) << bomb.substr(0, 20);
  }
  RecordProperty("slowest_seconds", std::to_string(slowest));
}

}  // namespace
}  // namespace assay::plan
