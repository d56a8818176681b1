#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// 1234567 ns -> "1.235 ms": four significant digits, the unit a person would choose.
std::string format_duration(double nanoseconds);

/// 12345.6 per second -> "12.35k/s".
std::string format_rate(double per_second);

/// 1536 -> "1.5 KiB".
std::string format_bytes(std::int64_t bytes);

/// Reads "200ms", "2s", "1.5m", "2h" or a plain number of seconds; throws Error{usage} that names `what`.
double parse_seconds(const std::string& text, const std::string& what);

/// Reads "3%" or ".03" as 0.03; throws Error{usage} that names `what`.
double parse_share(const std::string& text, const std::string& what);

/// Reads "512M", "4GiB", "1000000"; K, M, G, T are powers of 1024. Throws Error{usage} that names `what`.
std::int64_t parse_bytes(const std::string& text, const std::string& what);

}  // namespace assay
