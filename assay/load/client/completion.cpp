#include "assay/load/client/completion.hpp"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <array>

namespace assay::load {
namespace {

/// A good mixing of 64 bits (splitmix64), so that neighbours draw different words.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

void append_words(std::string& out, std::uint64_t seed, std::int64_t count) {
  std::uint64_t bits = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % 6 == 0) bits = mixed(seed + static_cast<std::uint64_t>(i));
    const auto word = bits % 676;
    bits /= 676;
    const std::array<char, 3> letters{' ', static_cast<char>('a' + word / 26), static_cast<char>('a' + word % 26)};
    out.append(letters.data(), letters.size());
  }
}

/// Takes events of the parser of JSON and keeps what counts.
class PartReader : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, PartReader> {
 public:
  CompletionPart part;

  bool Int(int value) { return number(value); }
  bool Uint(unsigned value) { return number(value); }
  bool Int64(std::int64_t value) { return number(value); }
  bool Uint64(std::uint64_t value) { return number(value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value)); }
  bool String(const char* /*text*/, rapidjson::SizeType length, bool /*copied*/) {
    if (root_ == Root::choices && is_text_ && length > 0) part.has_text = true;
    if (root_ == Root::error && depth_ == 1) part.is_error = true;
    return true;
  }
  bool StartObject() { return open(); }
  bool EndObject(rapidjson::SizeType /*members*/) { return shut(); }
  bool StartArray() { return open(); }
  bool EndArray(rapidjson::SizeType /*items*/) { return shut(); }
  bool Key(const char* text, rapidjson::SizeType length, bool /*copied*/) {
    const std::string_view name(text, length);
    if (depth_ == 1) {
      root_ = name == "choices" ? Root::choices
              : name == "usage" ? Root::usage
              : name == "error" ? Root::error
                                : Root::other;
    }
    is_text_ = name == "content" || name == "text" || name == "reasoning_content" || name == "reasoning" ||
               name == "arguments";
    field_ = nullptr;
    if (root_ != Root::usage) return true;
    if (depth_ == 2 && name == "prompt_tokens") field_ = &part.input_tokens;
    if (depth_ == 2 && name == "completion_tokens") field_ = &part.output_tokens;
    if (depth_ == 3 && name == "cached_tokens") field_ = &part.cached_tokens;
    return true;
  }

 private:
  enum class Root { other, choices, usage, error };

  bool open() {
    if (root_ == Root::error && depth_ == 1) part.is_error = true;
    ++depth_;
    return true;
  }
  bool shut() {
    --depth_;
    return true;
  }
  bool number(std::int64_t value) {
    if (field_ != nullptr && value >= 0) *field_ = value;
    field_ = nullptr;
    return true;
  }

  std::size_t depth_ = 0;
  Root root_ = Root::other;
  bool is_text_ = false;
  std::optional<std::int64_t>* field_ = nullptr;
};

}  // namespace

void append_prompt(std::string& out, const Form& form, const Arrival& arrival, std::int64_t prefix_words) {
  const auto seed = mixed(static_cast<std::uint64_t>(form.seed));
  append_words(out, seed, prefix_words);
  const auto own =
      mixed(seed ^ mixed(static_cast<std::uint64_t>(form.point) << 40U ^ static_cast<std::uint64_t>(arrival.text + 1)));
  append_words(out, own, arrival.input_words - prefix_words);
}

void append_body(std::string& out, const Form& form, const Arrival& arrival, std::int64_t prefix_words) {
  if (form.api == Api::http) {
    out += form.body;
    return;
  }
  const bool chat = form.api == Api::chat;
  out += chat ? R"({"messages":[{"role":"user","content":")" : R"({"prompt":")";
  append_prompt(out, form, arrival, prefix_words);
  out += chat ? R"("}])" : R"(")";
  if (!form.model.empty()) out += ",\"model\":" + json(form.model).dump();
  out += fmt::format(",\"max_tokens\":{}", arrival.output_tokens);
  if (form.ignore_eos) out += ",\"ignore_eos\":true";
  if (form.stream) out += R"(,"stream":true,"stream_options":{"include_usage":true})";
  out += '}';
}

CompletionPart read_completion(std::string_view text) {
  // Not recursive, so that no nesting is too deep; text must be UTF-8.
  constexpr unsigned kHow = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  PartReader found;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  if (reader.Parse<kHow>(stream, found).IsError()) return {};
  found.part.valid = true;
  return found.part;
}

}  // namespace assay::load
