#include "assay/core/text/json.hpp"

#include <charconv>
#include <cmath>

#include "assay/core/text/utf8.hpp"

namespace assay {
namespace {

/// Builds a document while holding the limits; the parser below it keeps its own explicit stack, so depth costs no
/// recursion.
class StrictBuilder {
 public:
  StrictBuilder(const JsonLimits& limits, json& root) : limits_(limits), root_(root) {}

  bool null() { return add(nullptr) != nullptr; }
  bool boolean(bool value) { return add(value) != nullptr; }
  bool number_integer(std::int64_t value) { return add(value) != nullptr; }
  bool number_unsigned(std::uint64_t value) { return add(value) != nullptr; }
  bool number_float(double value, const std::string&) { return add(value) != nullptr; }
  bool string(std::string& value) { return add(std::move(value)) != nullptr; }
  bool binary(json::binary_t&) { return refuse("binary values are not JSON"); }
  bool start_object(std::size_t) { return open(json::object()); }
  bool start_array(std::size_t) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    if (stack_.back()->contains(name)) return refuse(fmt::format("duplicate key {}", shown(name)));
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    if (problem_.empty()) {
      // The library's message reads "[json.exception.…] parse error at …: what"; keep what a person needs.
      const std::string text = error.what();
      const auto at = text.find("] ");
      // It quotes what was read last, which may be long and need not be UTF-8.
      problem_ =
          fmt::format("byte {}: {}", position, printable(at == std::string::npos ? text : text.substr(at + 2), 200));
    }
    return false;
  }

  const std::string& problem() const { return problem_; }

 private:
  bool refuse(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  json* add(json value) {
    if (++values_ > limits_.values) {
      problem_ = fmt::format("more than {} values", limits_.values);
      return nullptr;
    }
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *stack_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &(parent[std::move(key_)] = std::move(value));
  }

  bool open(json container) {
    if (stack_.size() >= limits_.depth) return refuse(fmt::format("nested deeper than {} levels", limits_.depth));
    json* added = add(std::move(container));
    if (added == nullptr) return false;
    stack_.push_back(added);
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  json& root_;
  std::vector<json*> stack_;
  std::string key_;
  std::string problem_;
  std::size_t values_ = 0;
};

void write_string(const std::string& text, std::string& out) {
  if (!is_utf8(text)) fail(ErrorKind::bad_input, "{} is not UTF-8 and has no JSON form", shown(text));
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

/// Number::toString of ECMAScript, which RFC 8785 prescribes: the shortest digits that read back, in its own layout.
void write_double(double value, std::string& out) {
  if (!std::isfinite(value)) fail(ErrorKind::bad_input, "a number is not finite and cannot be written as JSON");
  if (value == 0) {
    out += '0';
    return;
  }
  if (value < 0) out += '-';
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const auto e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  const char* exponent_begin = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent_begin, text.data() + text.size(), exponent);

  const int k = static_cast<int>(digits.size());
  const int n = exponent + 1;  // position of the decimal point after the first digit
  if (k <= n && n <= 21) {
    out += digits + std::string(static_cast<std::size_t>(n - k), '0');
  } else if (0 < n && n <= 21) {
    out += digits.substr(0, static_cast<std::size_t>(n)) + "." + digits.substr(static_cast<std::size_t>(n));
  } else if (-6 < n && n <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-n), '0') + digits;
  } else {
    out += digits.substr(0, 1);
    if (k > 1) out += "." + digits.substr(1);
    out += fmt::format("e{}{}", n - 1 < 0 ? '-' : '+', std::abs(n - 1));
  }
}

/// UTF-16 code units of well-formed UTF-8 text, the order in which RFC 8785 sorts keys.
std::u16string utf16(const std::string& text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (std::size_t j = 1; j < length; ++j) {
      code = (code << 6) | (static_cast<unsigned char>(text[i + j]) & 0x3fu);
    }
    i += length;
    if (code < 0x10000) {
      out += static_cast<char16_t>(code);
    } else {
      out += static_cast<char16_t>(0xd800 + ((code - 0x10000) >> 10));
      out += static_cast<char16_t>(0xdc00 + ((code - 0x10000) & 0x3ff));
    }
  }
  return out;
}

void write_canonical(const json& value, std::string& out) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  switch (value.type()) {
    case json::value_t::object: {
      std::map<std::u16string, json::const_iterator> members;
      for (auto it = value.begin(); it != value.end(); ++it) {
        if (it->is_null()) continue;
        if (!is_utf8(it.key()))
          fail(ErrorKind::bad_input, "the key {} is not UTF-8 and has no JSON form", shown(it.key()));
        members.emplace(utf16(it.key()), it);
      }
      out += '{';
      bool first = true;
      for (const auto& [order, it] : members) {
        if (!first) out += ',';
        first = false;
        write_string(it.key(), out);
        out += ':';
        write_canonical(*it, out);
      }
      out += '}';
      return;
    }
    case json::value_t::array: {
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += ',';
        write_canonical(value[i], out);
      }
      out += ']';
      return;
    }
    case json::value_t::string:
      write_string(value.get_ref<const std::string&>(), out);
      return;
    case json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case json::value_t::number_integer:
    case json::value_t::number_unsigned: {
      const auto number = value.get<std::int64_t>();
      // An unsigned value of 2^63 or more turns negative here, so it is judged before.
      const bool wrapped = value.is_number_unsigned() && number < 0;
      if (wrapped || number > kExact || number < -kExact) {
        fail(ErrorKind::bad_input, "{} is beyond 2^53 and has no canonical JSON form; write it as text", value.dump());
      }
      out += std::to_string(number);
      return;
    }
    case json::value_t::number_float:
      write_double(value.get<double>(), out);
      return;
    default:
      out += "null";
  }
}

}  // namespace

json parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    fail(ErrorKind::bad_input, "{} bytes of JSON where at most {} are taken", text.size(), limits.bytes);
  }
  // The parser takes a zero byte as the end of the text and would accept anything after it.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    fail(ErrorKind::bad_input, "not acceptable JSON: byte {}: a zero byte", zero + 1);
  }
  json root;
  StrictBuilder builder(limits, root);
  if (!json::sax_parse(text.begin(), text.end(), &builder)) {
    fail(ErrorKind::bad_input, "not acceptable JSON: {}", builder.problem());
  }
  return root;
}

std::string canonical_json(const json& value) {
  std::string out;
  write_canonical(value, out);
  return out;
}

namespace mapping {

void wrong_type(const std::string& path, const char* expected, const json& got) {
  // error_handler_t::replace: the value may come from outside and need not be UTF-8.
  fail(ErrorKind::bad_input, "{}: expected {}, got {}", path.empty() ? "document" : printable(path, 200), expected,
       shown(got.dump(-1, ' ', false, json::error_handler_t::replace)));
}

void missing_field(const std::string& path, const char* field) {
  fail(ErrorKind::bad_input, "{}: the field '{}' is missing", path.empty() ? "document" : printable(path, 200), field);
}

std::string enum_choices(const char* const* names, std::size_t count) {
  std::string out = "one of";
  for (std::size_t i = 0; i < count; ++i) out += fmt::format("{} {}", i > 0 ? "," : "", names[i]);
  return out;
}

std::int64_t read_integer(const json& value, const std::string& path) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    wrong_type(path, "an integer below 2^63", value);
  }
  if (!value.is_number_integer()) wrong_type(path, "an integer", value);
  return value.get<std::int64_t>();
}

json scalar_to_json(const Scalar& value) {
  return std::visit([](const auto& item) { return json(item); }, value);
}

Scalar scalar_from_json(const json& value, const std::string& path) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return read_integer(value, path);
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  wrong_type(path, "a number, text, true or false", value);
}

}  // namespace mapping

std::string plain_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace assay
