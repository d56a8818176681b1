#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::platform {

/// Something that a kernel may or may not let a process read.
struct Counter {
  std::string name;
  bool readable = false;
  std::optional<std::string> why;  ///< it is not, and what would change that; null where it is
};

/// What a counter says of a run.
struct CounterText {
  std::string name;
  std::string means;
  std::string source;  ///< a file, or what the kernel calls it
};

/// Of each counter, in the order in which they are listed.
std::vector<CounterText> counter_texts();

template <typename V>
void describe(V& v, CounterText& t) {
  required(v, "name", t.name);
  required(v, "means", t.means);
  required(v, "source", t.source);
}

template <typename V>
void describe(V& v, Counter& c) {
  required(v, "name", c.name);
  required(v, "readable", c.readable);
  v("why", c.why);
}

/// Counters in files: schedstat, pressure, steal, throttling, frequency, energy. `root` stands for / in every path.
std::vector<Counter> counters_in_files(const std::filesystem::path& root = "/");

/// Hardware counters of the CPU, by trying to open one.
Counter perf_counter();

}  // namespace assay::platform
