#include "assay/core/text/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The message with which `text` is refused, or "accepted".
std::string refusal(std::string_view text, const JsonLimits& limits = {}) {
  try {
    parse_json(text, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "accepted";
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

double from_bits(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const json value = parse_json(R"( {"a": [1, -2, 2.5, "x", true, false, null], "b": {}} )");
  EXPECT_EQ(value["a"].size(), 7u);
  EXPECT_EQ(value["a"][1], -2);
  EXPECT_EQ(value["a"][2], 2.5);
  EXPECT_TRUE(value["a"][6].is_null());
  EXPECT_TRUE(value["b"].is_object());
}

TEST(ParseJson, KeepsTheLargestIntegersExact) {
  EXPECT_EQ(parse_json("9223372036854775807").get<std::int64_t>(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_json("-9223372036854775808").get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_json("18446744073709551615").get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseJson, RefusesADuplicateKeyAndNamesIt) {
  EXPECT_THAT(refusal(R"({"a": 1, "b": 2, "a": 1})"), HasSubstr("duplicate key 'a'"));
  EXPECT_THAT(refusal(R"([{"x": {"a": 1, "a": 2}}])"), HasSubstr("duplicate key 'a'"));
  EXPECT_THAT(refusal(R"({"a": 1, "\u0061": 2})"), HasSubstr("duplicate key 'a'"));
  EXPECT_THAT(refusal(R"({"a": null, "a": null})"), HasSubstr("duplicate key 'a'"));
}

TEST(ParseJson, AcceptsTheSameKeyInDifferentObjects) {
  EXPECT_EQ(refusal(R"([{"a": 1}, {"a": {"a": 2}}])"), "accepted");
}

TEST(ParseJson, AcceptsTheDeepestAllowedNestingAndRefusesOneMore) {
  EXPECT_EQ(refusal(nested(64)), "accepted");
  EXPECT_THAT(refusal(nested(65)), HasSubstr("nested deeper than 64 levels"));
  EXPECT_EQ(refusal(R"({"a": [1]})", {.depth = 2}), "accepted");
  EXPECT_THAT(refusal(R"({"a": [{}]})", {.depth = 2}), HasSubstr("nested deeper than 2 levels"));
}

TEST(ParseJson, SurvivesDepthThatWouldOverflowARecursiveStack) {
  EXPECT_THAT(refusal(std::string(4'000'000, '[')), HasSubstr("nested deeper"));
}

TEST(ParseJson, RefusesTextBeyondTheByteLimit) {
  EXPECT_EQ(refusal("[1,2]", {.bytes = 5}), "accepted");
  EXPECT_THAT(refusal("[1,2]", {.bytes = 4}), AllOf(HasSubstr("5 bytes"), HasSubstr("at most 4")));
}

TEST(ParseJson, RefusesMoreValuesThanTheLimitAndCountsContainersToo) {
  EXPECT_EQ(refusal("[1,2]", {.values = 3}), "accepted");
  EXPECT_THAT(refusal("[1,2]", {.values = 2}), HasSubstr("more than 2 values"));
  EXPECT_THAT(refusal("[[],[]]", {.values = 2}), HasSubstr("more than 2 values"));
  EXPECT_THAT(refusal(R"({"a":1,"b":{}})", {.values = 2}), HasSubstr("more than 2 values"));
}

TEST(ParseJson, RefusesNumbersThatAreNotJson) {
  for (const char* text :
       {"NaN", "nan", "Infinity", "-Infinity", "[1, NaN]", "01", "+1", ".5", "1.", "0x10", "1e", "--1"}) {
    EXPECT_THAT(refusal(text), HasSubstr("not acceptable JSON: byte ")) << text;
  }
}

TEST(ParseJson, RefusesNumbersBeyondTheRangeOfADouble) {
  EXPECT_THAT(refusal("1e400"), HasSubstr("number overflow"));
  EXPECT_THAT(refusal("[-1e400]"), HasSubstr("number overflow"));
  EXPECT_EQ(refusal("1e-400"), "accepted");  // rounds to zero
}

TEST(ParseJson, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(refusal("\"\xe2\x82\xac\xf0\x9f\x98\x80\""), "accepted");
  for (const char* text : {"\"\xff\"", "\"\x80\"", "\"\xc0\xaf\"", "\"\xe0\x80\xaf\"", "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", "{\"\xfe\": 1}"}) {
    EXPECT_NE(refusal(text), "accepted") << testing::PrintToString(text);
  }
  EXPECT_NE(refusal(R"("\ud800")"), "accepted");  // half a surrogate pair
  EXPECT_NE(refusal(R"("\udc00\ud800")"), "accepted");
}

TEST(ParseJson, RefusesControlCharactersInsideText) {
  EXPECT_NE(refusal("\"a\nb\""), "accepted");
  EXPECT_NE(refusal(std::string_view("\"a\0b\"", 5)), "accepted");
}

TEST(ParseJson, RefusesTrailingTextAndHalfDocuments) {
  for (const char* text : {"{} x", "1 2", "[1],", "{}{}", "", "  ", "{", "[1", "[1,]", "{\"a\"}", "{\"a\":}",
                           "{\"a\":1,}", "\"abc", "tru", "{'a': 1}", "[1] // note", "/* note */ 1"}) {
    EXPECT_THAT(refusal(text), HasSubstr("byte ")) << text;
  }
}

TEST(ParseJson, RefusesAZeroByteWhereverItStands) {
  EXPECT_THAT(refusal(std::string_view("1\0", 2)), HasSubstr("byte 2: a zero byte"));
  EXPECT_THAT(refusal(std::string_view("{}\0{\"hidden\": 1}", 16)), HasSubstr("byte 3: a zero byte"));
  EXPECT_EQ(parse_json(R"("\u0000")"), std::string(1, '\0'));  // escaped, it is a character like any other
}

TEST(ParseJson, NamesTheByteOfBadSyntax) {
  EXPECT_THAT(refusal("[1, 2, x]"), HasSubstr("byte 8"));
}

TEST(ParseJson, KeepsItsMessageShortAndPrintableWhateverTheText) {
  const std::string long_text = refusal("\"" + std::string(1'000'000, 'a') + "\n");
  EXPECT_LT(long_text.size(), 400u);
  const std::string message = refusal("\"\xff\"");
  EXPECT_NO_THROW(json(message).dump()) << "a message must itself be fit for JSON";
  EXPECT_THAT(refusal("{\"\\u001b\": 1, \"\\u001b\": 2}"), Not(HasSubstr("\x1b")));
}

// RFC 8785, appendix B, complete; checked again with Node.js: String(number).
TEST(CanonicalJson, WritesTheNumberSamplesOfRfc8785) {
  const std::pair<std::uint64_t, const char*> samples[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, text] : samples) EXPECT_EQ(canonical_json(from_bits(bits)), text);
}

// The oracle is Node.js: FNV-1a over String(x) of the first 20000 finite doubles whose bits xorshift64 (13, 7, 17) from
// 88172645463325252 gives.
TEST(CanonicalJson, WritesTwentyThousandRandomDoublesAsEcmascriptDoes) {
  std::uint64_t state = 88172645463325252ull;
  std::uint64_t hash = 14695981039346656037ull;
  for (int n = 0; n < 20000;) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (!std::isfinite(from_bits(state))) continue;
    for (const char c : canonical_json(from_bits(state)))
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    ++n;
  }
  EXPECT_EQ(hash, 0x49c8870c5a7959d2ull);
}

TEST(CanonicalJson, RefusesNumbersThatAreNotFinite) {
  EXPECT_THROW(canonical_json(from_bits(0x7fffffffffffffff)), Error);
  EXPECT_THROW(canonical_json(from_bits(0x7ff0000000000000)), Error);
}

// RFC 8785, section 3.2.3.
TEST(CanonicalJson, SortsKeysByUtf16CodeUnits) {
  const json value =
      parse_json(R"({"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"})");
  EXPECT_EQ(canonical_json(value),
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
            "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\","
            "\"😀\":\"Emoji: Grinning Face\",\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
}

// As code points U+1F600 comes after U+E000, but its first UTF-16 unit is D83D.
TEST(CanonicalJson, SortsASurrogatePairBeforeTheLastPartOfTheBasicPlane) {
  EXPECT_EQ(canonical_json(parse_json(R"({"\ue000": 1, "\ud83d\ude00": 2})")), "{\"😀\":2,\"\xee\x80\x80\":1}");
}

// RFC 8785, section 3.2.2.
TEST(CanonicalJson, WritesTheSampleDocumentOfRfc8785) {
  const json value = parse_json(R"({"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]})");
  EXPECT_EQ(canonical_json(value),
            R"({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
            R"("string":"€$\u000f\nA'B\"\\\\\"/"})");
}

TEST(CanonicalJson, DropsNullMembersButKeepsNullElements) {
  EXPECT_EQ(canonical_json(parse_json(R"({"b": null, "a": {"c": null}, "d": [null, {"e": null}]})")),
            R"({"a":{},"d":[null,{}]})");
}

TEST(CanonicalJson, WritesIntegersUpTo2To53AndRefusesLargerOnes) {
  EXPECT_EQ(canonical_json(parse_json("9007199254740992")), "9007199254740992");
  EXPECT_EQ(canonical_json(parse_json("-9007199254740992")), "-9007199254740992");
  for (const char* text : {"9007199254740993", "-9007199254740993", "9223372036854775807", "9223372036854775808",
                           "18446744073709551615"}) {
    EXPECT_THROW(canonical_json(parse_json(text)), Error) << text;
  }
}

TEST(CanonicalJson, WritesEqualNumbersEqually) {
  EXPECT_EQ(canonical_json(parse_json("[1, 1.0, 10e-1, -0, -0.0, 0]")), "[1,1,1,0,0,0]");
}

TEST(CanonicalJson, RefusesTextAndKeysThatAreNotUtf8) {
  EXPECT_THROW(canonical_json(json("\xff")), Error);
  EXPECT_THROW(canonical_json(json{{"\xc0\x80", 1}}), Error);
  EXPECT_THROW(canonical_json(json{{"\xe2", 1}}), Error);  // cut short: must not read beyond the end
}

struct Inner {
  std::int64_t count = 3;
  std::optional<double> ratio;
};
template <typename V>
void describe(V& v, Inner& x) {
  required(v, "count", x.count);
  v("ratio", x.ratio);
}
struct Outer {
  std::vector<Inner> items;
  std::map<std::string, bool> flags;
  std::string text = "default";
};
template <typename V>
void describe(V& v, Outer& x) {
  v("items", x.items);
  v("flags", x.flags);
  v("text", x.text);
}

std::string mapping_refusal(const char* text) {
  try {
    from_json<Outer>(parse_json(text), "outer");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Mapping, NamesThePathOfAWrongType) {
  EXPECT_EQ(mapping_refusal(R"({"items": [{"count": 1}, {"count": "2"}]})"),
            "outer.items[1].count: expected an integer, got '\"2\"'");
  EXPECT_EQ(mapping_refusal(R"({"flags": {"on": 1}})"), "outer.flags.on: expected true or false, got '1'");
  EXPECT_EQ(mapping_refusal(R"({"items": {}})"), "outer.items: expected a list, got '{}'");
  EXPECT_EQ(mapping_refusal("[]"), "outer: expected an object, got '[]'");
}

TEST(Mapping, NamesThePathOfAMissingField) {
  EXPECT_EQ(mapping_refusal(R"({"items": [{"ratio": 1}]})"), "outer.items[0]: the field 'count' is missing");
  EXPECT_EQ(mapping_refusal(R"({"items": [{"count": null}]})"), "outer.items[0]: the field 'count' is missing");
}

TEST(Mapping, TakesNoFractionAndNothingBeyond63BitsAsAnInteger) {
  EXPECT_THAT(mapping_refusal(R"({"items": [{"count": 1.5}]})"), HasSubstr("expected an integer"));
  EXPECT_THAT(mapping_refusal(R"({"items": [{"count": 9223372036854775808}]})"), HasSubstr("below 2^63"));
  EXPECT_THAT(mapping_refusal(R"({"items": [{"count": 18446744073709551616}]})"), HasSubstr("expected an integer"));
}

TEST(Mapping, KeepsDefaultsForAbsentFieldsAndIgnoresUnknownOnes) {
  const auto outer = from_json<Outer>(parse_json(R"({"new_field": [1], "items": [{"count": 4, "more": 1}]})"));
  EXPECT_EQ(outer.text, "default");
  EXPECT_EQ(outer.items.at(0).count, 4);
  EXPECT_FALSE(outer.items.at(0).ratio.has_value());
}

TEST(Mapping, WritesAbsentValuesAsNullAndReadsThemBack) {
  EXPECT_EQ(to_json(Inner{}).dump(), R"({"count":3,"ratio":null})");
  EXPECT_FALSE(from_json<Inner>(to_json(Inner{})).ratio.has_value());
}

enum class Colour { red, green };

}  // namespace

template <>
struct EnumNames<Colour> {
  static constexpr std::array<const char*, 2> names{"red", "green"};
};

namespace {

TEST(Mapping, WritesTheNamesOfAnEnumAsKeysAndRefusesOthers) {
  const std::map<Colour, std::int64_t> counts{{Colour::green, 2}, {Colour::red, 1}};
  EXPECT_EQ(to_json(counts).dump(), R"({"green":2,"red":1})");
  EXPECT_EQ((from_json<std::map<Colour, std::int64_t>>(to_json(counts))), counts);
  EXPECT_THROW((from_json<std::map<Colour, std::int64_t>>(parse_json(R"({"blue": 1})"))), Error);
}

}  // namespace
}  // namespace assay
