#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// 1234567 ns -> "1.235 ms": four significant digits, the unit a person would choose.
std::string format_duration(double nanoseconds);

/// 0.001234567 s -> "1.235 ms": the same, of seconds.
std::string format_seconds(double seconds);

/// 12345.6 per second -> "12.35k/s".
std::string format_rate(double per_second);

/// 1536 -> "1.5 KiB".
std::string format_bytes(std::int64_t bytes);

// Quantities as people write them: a number, perhaps a space, and a unit. Each throws Error{usage} that names `what`
// and the text, with examples. One table of prefixes serves them all: k, M, G, … are powers of 1000 and Ki, Mi, Gi, …
// of 1024; a bare K, M, G or T is a power of 1024 too, as memory is usually written.

/// "200ms", "2 s", "1.5m", "2h", or a plain number of seconds.
double parse_seconds(const std::string& text, const std::string& what);

/// "5us", "1.5 ms", "2 s": above zero and with a unit.
double parse_latency(const std::string& text, const std::string& what);

/// "3%" or ".03" as 0.03.
double parse_share(const std::string& text, const std::string& what);

/// "512M", "4 GiB", "16 GB", or a plain number of bytes.
std::int64_t parse_bytes(const std::string& text, const std::string& what);

/// The same, above zero and with a unit.
double parse_memory(const std::string& text, const std::string& what);

/// "10 Gbit/s", "12 GB/s", "900 MiB/s" as bytes a second.
double parse_byte_rate(const std::string& text, const std::string& what);

/// "15.7 TFLOP/s" as operations a second.
double parse_flop_rate(const std::string& text, const std::string& what);

}  // namespace assay
