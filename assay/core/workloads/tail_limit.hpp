#pragma once

#include <cstdint>
#include <string>

#include "assay/core/text/json.hpp"

namespace assay {

/// A bound on the tail of latencies: "p99<50ms".
struct TailLimit {
  std::int64_t percent = 99;  ///< 50, 90, 95 or 99
  double seconds = 0;

  /// Share that may take longer.
  double allowed() const { return static_cast<double>(100 - percent) / 100; }
};

template <typename V>
void describe(V& v, TailLimit& l) {
  required(v, "percent", l.percent);
  required(v, "seconds", l.seconds);
}

/// Reads "p99<50ms". Throws Error{usage} that begins with `what` and says what can be written.
TailLimit parse_tail_limit(const std::string& text, const std::string& what);

/// Throws Error{usage} that begins with `what` where a value is outside its range.
void check(const TailLimit& limit, const std::string& what);

/// "p99<50ms".
std::string title(const TailLimit& limit);

}  // namespace assay
