#include "assay/plan/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "assay/core/error.hpp"
#include "assay/core/text/utf8.hpp"

namespace assay::plan {
namespace {

/// Levenshtein's distance: insertions, deletions and replacements that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<BadText> find_bad_text(std::string_view text, std::string_view allowed) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_character(text, at);
    if (length == 0) return BadText{at, "is not UTF-8"};
    if (text[at] == '\0') return BadText{at, "is a zero byte"};
    if (is_control(text.substr(at, length)) && allowed.find(text[at]) == std::string_view::npos) {
      return BadText{at, "is a control character"};
    }
    at += length;
  }
  return std::nullopt;
}

void check_text(std::string_view text, const std::string& what, std::string_view allowed) {
  const auto bad = find_bad_text(text, allowed);
  if (!bad) return;
  fail(ErrorKind::usage, "{}: byte {} (0x{:02x}) {}. Write plain UTF-8 text.", what, bad->offset + 1,
       static_cast<unsigned>(static_cast<unsigned char>(text[bad->offset])), bad->reason);
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& choices) {
  constexpr std::size_t kLongestWord = 64;  // longer is no misspelling, and the distance costs its square
  const std::string* found = nullptr;
  std::size_t least = std::min<std::size_t>(3, word.size() / 3 + 1) + 1;
  for (const auto& choice : choices) {
    if (word.size() > kLongestWord) break;
    const std::size_t distance = edit_distance(word, choice);
    if (distance < least) {
      least = distance;
      found = &choice;
    }
  }
  if (found != nullptr) return *found;
  for (const auto& choice : choices) {
    if (word.size() >= 3 && choice.starts_with(word)) return choice;
  }
  return {};
}

std::string suggestion(std::string_view word, const std::vector<std::string>& choices) {
  if (const auto near = nearest(word, choices)) return fmt::format("Did you mean '{}'?", *near);
  return fmt::format("Choose one of {}.", fmt::join(choices, ", "));
}

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace assay::plan
