#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace assay::load {

/// Reads server-sent events piece by piece: any cut of the bytes gives the same events. Holds at most one event.
class EventStream {
 public:
  static constexpr std::size_t kMostEvent = 256U << 10U;

  /// Forgets everything.
  void begin();

  /// Reads bytes and calls `event` with the data of each event that they complete; an event without data is skipped.
  /// False where a line or an event is beyond its limit, or `event` returned false: nothing more is read then.
  template <typename Event>
  bool read(std::string_view bytes, Event&& event);

 private:
  static std::size_t line_end(std::string_view bytes);
  bool hold(std::string_view bytes);
  bool end_line(std::string_view line);

  std::string line_;  ///< that is not complete
  std::string data_;  ///< of the event that is not complete
  bool has_data_ = false;
  bool after_return_ = false;  ///< the last byte was a carriage return, which ended a line
};

template <typename Event>
bool EventStream::read(std::string_view bytes, Event&& event) {
  while (!bytes.empty()) {
    if (after_return_) {
      after_return_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    const auto end = line_end(bytes);
    if (end == bytes.size()) return hold(bytes);
    after_return_ = bytes[end] == '\r';
    const auto piece = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    if (!line_.empty() && !hold(piece)) return false;
    const auto line = line_.empty() ? piece : std::string_view(line_);
    if (!line.empty()) {
      if (!end_line(line)) return false;
      line_.clear();
      continue;
    }
    if (!has_data_) continue;
    has_data_ = false;
    const bool goes_on = event(std::string_view(data_));
    data_.clear();
    if (!goes_on) return false;
  }
  return true;
}

}  // namespace assay::load
