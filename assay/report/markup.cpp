#include "assay/report/markup.hpp"

#include <algorithm>
#include <cctype>

#include "assay/core/text/utf8.hpp"
#include "assay/tune/apply/emitters/emission.hpp"

namespace assay::report {

std::string escaped(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : printable(text, limit)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string script_json(const json& value) {
  std::string out;
  for (const char c : value.dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";  // JSON has no < outside of text
    } else {
      out += c;
    }
  }
  return out;
}

std::string element(const char* tag, std::string_view text, const char* attributes) {
  return fmt::format("<{}{}>{}</{}>\n", tag, attributes, escaped(text), tag);
}

std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./=:,").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  return tune::shell_quoted(text);
}

}  // namespace assay::report
