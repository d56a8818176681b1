#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/error.hpp"
#include "assay/model/links/link_points.hpp"

namespace assay::model {

/// Bounds on a text that is imported.
constexpr std::size_t kSourceBytes = 4u << 20;
constexpr std::size_t kSourceLines = 100'000;
constexpr std::size_t kSourceColumns = 64;

/// A line of a text from outside, with its words.
struct SourceLine {
  const std::string& file;
  std::size_t number = 0;  ///< from 1
  std::string_view text;
  std::vector<std::string_view> words;

  /// Throws Error{bad_input}: "FILE line N: …".
  template <typename... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::bad_input, "{} line {}: {}", file, number, fmt::format(format, std::forward<Args>(args)...));
  }

  /// A size in bytes, from 0 to 2^50.
  double size(std::size_t word) const;
  /// A number of ranks, from 2 to 10^6.
  std::int64_t ranks(std::size_t word) const;
  /// A time above 0 and up to 10^6 s, given in units of `unit` seconds.
  double time(std::size_t word, double unit) const;
};

/// The lines of a text, split at blanks, or at `separator` with the blanks around it dropped. Words beyond
/// kSourceColumns are not kept, unless there is a separator: then they are an error, as a text that passes the other
/// limits is.
std::vector<SourceLine> source_lines(std::string_view text, const std::string& file, char separator = ' ');

/// A point as OSU and IMB print it, in our terms: their sizes are those of one rank's part where each rank has one, and
/// their time of a ping-pong is of one way.
LinkPoint whole_point(LinkPoint printed);

/// Whether it is digits alone.
bool is_digits(std::string_view word);

}  // namespace assay::model
