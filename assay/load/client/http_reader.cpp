#include "assay/load/client/http_reader.hpp"

#include <algorithm>
#include <charconv>

#include "assay/core/text/items.hpp"
#include "assay/core/text/number.hpp"

namespace assay::load {
namespace {

constexpr std::size_t kMostHead = 64U << 10U;
constexpr std::size_t kMostLine = 4096;
constexpr std::size_t kMostTrailer = 16U << 10U;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// Whether a list such as "Keep-Alive, close" has a word.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (same_name(take_item(list), word)) return true;
  }
  return false;
}

}  // namespace

void HttpReader::begin() {
  state_ = State::head;
  held_.clear();
  status_ = 0;
  keeps_ = true;
  chunked_ = event_stream_ = false;
  length_.reset();
  left_ = 0;
  part_ = Part::size;
  trailer_bytes_ = 0;
}

std::size_t HttpReader::read(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && (state_ == State::head || state_ == State::body)) {
    const auto rest = bytes.substr(used);
    used += state_ == State::head ? read_head(rest) : read_body(rest);
  }
  return used;
}

void HttpReader::end() {
  if (state_ == State::body && !chunked_ && !length_) state_ = State::complete;
  keeps_ = false;
}

std::size_t HttpReader::read_head(std::string_view bytes) {
  const auto before = held_.size();
  // The end may have begun in what is held already.
  const auto overlap = std::min<std::size_t>(before, 3);
  held_.append(bytes.substr(0, std::min(bytes.size(), kMostHead + 4 - std::min(before, kMostHead + 3))));
  const auto end = held_.find("\r\n\r\n", before - overlap);
  if (end == std::string::npos) {
    if (held_.size() > kMostHead) stop(State::too_large);
    return held_.size() - before;
  }
  const auto used = end + 4 - before;
  const auto head = std::string_view(held_).substr(0, end);
  parse_head(head);
  held_.clear();
  return used;
}

void HttpReader::parse_head(std::string_view head) {
  const auto line_end = std::min(head.find("\r\n"), head.size());
  if (!parse_status(head.substr(0, line_end))) return stop(State::bad);
  head.remove_prefix(std::min(line_end + 2, head.size()));
  while (!head.empty() && state_ == State::head) {
    const auto end = std::min(head.find("\r\n"), head.size());
    parse_field(head.substr(0, end));
    head.remove_prefix(std::min(end + 2, head.size()));
  }
  if (state_ != State::head) return;
  if (status_ >= 100 && status_ < 200) {
    // A response before the response; what counts follows.
    if (status_ == 101) return stop(State::bad);
    return begin();
  }
  begin_body();
}

bool HttpReader::parse_status(std::string_view line) {
  if (!line.starts_with("HTTP/1.") || line.size() < 12) return false;
  if (line[7] != '0' && line[7] != '1') return false;
  keeps_ = line[7] == '1';
  if (line[8] != ' ' || (line.size() > 12 && line[12] != ' ')) return false;
  const auto status = parse_number<int>(line.substr(9, 3));
  if (!status || *status < 100 || *status > 999) return false;
  status_ = *status;
  return true;
}

void HttpReader::parse_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return stop(State::bad);
  const auto name = line.substr(0, colon);
  auto value = line.substr(colon + 1);
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
  if (same_name(name, "content-length")) {
    const auto length = parse_number<std::uint64_t>(value);
    if (!length || (length_ && *length_ != *length)) return stop(State::bad);
    length_ = length;
  } else if (same_name(name, "transfer-encoding")) {
    if (!same_name(value, "chunked")) return stop(State::bad);
    chunked_ = true;
  } else if (same_name(name, "connection")) {
    if (has_word(value, "close")) keeps_ = false;
    if (has_word(value, "keep-alive")) keeps_ = true;
  } else if (same_name(name, "content-type")) {
    event_stream_ = same_name(value.substr(0, std::min<std::size_t>(value.size(), 17)), "text/event-stream");
  }
}

void HttpReader::begin_body() {
  state_ = State::body;
  sink_->head(status_, event_stream_);
  if (chunked_) {
    length_.reset();  // RFC 9112: the encoding decides
    part_ = Part::size;
    return;
  }
  if (status_ == 204 || status_ == 304) length_ = 0;
  if (!length_) {
    keeps_ = false;
    return;
  }
  left_ = *length_;
  if (left_ == 0) state_ = State::complete;
}

std::size_t HttpReader::read_body(std::string_view bytes) {
  if (chunked_) return read_chunked(bytes);
  if (!length_) {
    deliver(bytes);
    return bytes.size();
  }
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
  deliver(bytes.substr(0, count));
  left_ -= count;
  if (left_ == 0 && state_ == State::body) state_ = State::complete;
  return count;
}

std::size_t HttpReader::read_chunked(std::string_view bytes) {
  if (part_ == Part::data) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
    deliver(bytes.substr(0, count));
    left_ -= count;
    if (left_ == 0) part_ = Part::data_end;
    return count;
  }
  bool whole = false;
  const auto used = read_line(bytes, whole);
  if (whole && state_ == State::body) {
    chunk_line();
    held_.clear();
  }
  return used;
}

/// Up to a line end, into what is held, without the end.
std::size_t HttpReader::read_line(std::string_view bytes, bool& whole) {
  const auto end = bytes.find('\n');
  whole = end != std::string_view::npos;
  const auto used = whole ? end + 1 : bytes.size();
  if (held_.size() + used > kMostLine) {
    stop(State::too_large);
    return used;
  }
  held_.append(bytes.substr(0, whole ? end : used));
  if (whole && held_.ends_with('\r')) held_.pop_back();
  return used;
}

void HttpReader::chunk_line() {
  if (part_ == Part::data_end) {
    if (!held_.empty()) return stop(State::bad);
    part_ = Part::size;
    return;
  }
  if (part_ == Part::trailer) {
    trailer_bytes_ += held_.size();
    if (trailer_bytes_ > kMostTrailer) return stop(State::too_large);
    if (held_.empty()) state_ = State::complete;
    return;
  }
  const auto* const begin = held_.data();
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(begin, begin + held_.size(), size, 16);
  if (error != std::errc()) return stop(State::bad);
  const auto rest = std::string_view(held_).substr(static_cast<std::size_t>(end - begin));
  if (!rest.empty() && rest[0] != ';' && rest[0] != ' ') return stop(State::bad);
  left_ = size;
  part_ = size == 0 ? Part::trailer : Part::data;
}

void HttpReader::deliver(std::string_view bytes) {
  if (!bytes.empty() && !sink_->body(bytes)) stop(State::refused);
}

}  // namespace assay::load
