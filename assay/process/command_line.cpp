#include "assay/process/command_line.hpp"

#include <utility>

namespace assay::process {

std::optional<std::vector<std::string>> command_line_words(const std::string& text, Backslash backslash) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;  // a word, which may be empty where it is quoted
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
      if (begun) words.push_back(std::exchange(word, ""));
      begun = false;
      continue;
    }
    begun = true;
    if (backslash == Backslash::escapes && quote != '\'' && c == '\\' && i + 1 < text.size()) {
      word += text[++i];
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else {
      word += c;
    }
  }
  if (quote != '\0') return std::nullopt;
  if (begun) words.push_back(word);
  return words;
}

}  // namespace assay::process
