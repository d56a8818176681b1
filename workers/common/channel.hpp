#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::worker {

/// Longest line of the protocol, in both directions.
constexpr std::size_t kMostLineBytes = 4u << 20;

/// The two ends of the protocol, out of reach of the framework: descriptors 0 and 1 are copied to private ones that no
/// program started later inherits; then 0 reads nothing and 1 is stderr, whatever a framework reads or prints.
class Channel {
 public:
  /// Takes descriptors 0 and 1. Construct it once, before anything else. Throws Error where they are not open.
  Channel();
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// The next line without its end, or null at end of file. Throws Error{bad_input} for a line beyond the limit.
  std::optional<std::string> read_line();

  /// Writes `line` and a line end. Throws Error when the other side is gone.
  void send(std::string_view line);

  /// Writes bytes as they are, for workers that break the protocol on purpose. Throws Error like send().
  void write_raw(std::string_view bytes);

  /// Closes the side that answers.
  void close_output();

 private:
  int input_ = -1;
  int output_ = -1;
  std::string buffer_;        ///< read but not yet handed out
  std::size_t searched_ = 0;  ///< bytes of buffer_ known to hold no line end
};

}  // namespace assay::worker
