#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::plan {

/// No sweep gives more values than this.
constexpr std::size_t kMostSweepValues = 10'000;

/// Largest number a sweep may hold: beyond it JSON readers round.
constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;

/// Reads a sweep over whole numbers: a comma list of `7`, `4-24+4` (from 4 to 24 by adding 4) and `1-64*2` (from 1 to
/// 64 by multiplying with 2). A range includes its end when it is reached. Values come in the order written. Throws
/// Error{usage} that names `what`, the item and the fix.
std::vector<std::int64_t> sweep_numbers(const std::string& text, const std::string& what);

/// As sweep_numbers, but a single number may carry a unit of bytes: `1M,4MiB,1024-4096*2`.
std::vector<std::int64_t> sweep_sizes(const std::string& text, const std::string& what);

/// Reads a comma list of words; blanks around a word are dropped. Throws Error{usage} for an empty item.
std::vector<std::string> sweep_words(const std::string& text, const std::string& what);

/// True for text of the form `4-24+4` or `1-64*2`, whatever its numbers.
bool is_range(const std::string& item);

}  // namespace assay::plan
