#include "assay/model/link_sources/lines.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/number.hpp"

namespace assay::model {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> split_at_blanks(std::string_view text) {
  std::vector<std::string_view> words;
  auto begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos && words.size() < kSourceColumns) {
    const auto end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::vector<std::string_view> split_at(std::string_view text, char separator, const SourceLine& line) {
  std::vector<std::string_view> words;
  while (true) {
    const auto end = std::min(text.find(separator), text.size());
    words.push_back(without_blanks(text.substr(0, end)));
    if (words.size() > kSourceColumns) line.reject("more than {} columns", kSourceColumns);
    if (end == text.size()) return words;
    text.remove_prefix(end + 1);
  }
}

std::string_view word_at(const SourceLine& line, std::size_t word, const char* what) {
  if (word >= line.words.size()) line.reject("there is no {}: it has {} columns", what, line.words.size());
  return line.words[word];
}

}  // namespace

bool is_digits(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

double SourceLine::size(std::size_t word) const {
  const auto found = word_at(*this, word, "size");
  const auto bytes = parse_number<std::int64_t>(found).value_or(-1);
  if (bytes < 0 || bytes > std::int64_t{1} << 50) {
    reject("{} is not a size in bytes from 0 to 2^50", shown(std::string(found)));
  }
  return static_cast<double>(bytes);
}

std::int64_t SourceLine::ranks(std::size_t word) const {
  const auto found = word_at(*this, word, "number of ranks");
  const auto ranks = parse_number<std::int64_t>(found).value_or(0);
  if (ranks < 2 || ranks > 1'000'000) {
    reject("{} is not a number of ranks from 2 to 1000000", shown(std::string(found)));
  }
  return ranks;
}

double SourceLine::time(std::size_t word, double unit) const {
  const auto found = word_at(*this, word, "time");
  const double time = parse_number<double>(found).value_or(0);
  if (!std::isfinite(time) || !(time * unit > 0) || time * unit > 1e6) {
    reject("{} is not a time above 0", shown(std::string(found)));
  }
  return time * unit;
}

std::vector<SourceLine> source_lines(std::string_view text, const std::string& file, char separator) {
  if (text.size() > kSourceBytes) {
    fail(ErrorKind::bad_input, "{}: {} bytes are more than the {} that are read.", file, text.size(), kSourceBytes);
  }
  std::vector<SourceLine> lines;
  while (!text.empty()) {
    if (lines.size() == kSourceLines) fail(ErrorKind::bad_input, "{}: more than {} lines.", file, kSourceLines);
    const auto end = std::min(text.find('\n'), text.size());
    SourceLine line{file, lines.size() + 1, without_blanks(text.substr(0, end)), {}};
    line.words = separator == ' ' ? split_at_blanks(line.text) : split_at(line.text, separator, line);
    lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

LinkPoint whole_point(LinkPoint printed) {
  const bool of_a_part = printed.collective == Collective::all_gather || printed.collective == Collective::all_to_all;
  if (of_a_part) printed.bytes *= static_cast<double>(printed.ranks);
  if (printed.collective == Collective::ping_pong) printed.seconds *= 2;
  return printed;
}

}  // namespace assay::model
