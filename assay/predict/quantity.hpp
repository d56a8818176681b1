#pragma once

#include <string>

namespace assay::predict {

/// Quantities as people write them on cluster files. Each throws Error{usage} that names `what`, the text and examples.

/// "10 Gbit/s", "12 GB/s", "900 MiB/s" as bytes a second; k, M, G, T are powers of 1000, Ki, Mi, … of 1024.
double parse_byte_rate(const std::string& text, const std::string& what);

/// "15.7 TFLOP/s" as operations a second.
double parse_flop_rate(const std::string& text, const std::string& what);

/// "16 GB", "80 GiB", "512 kB" as bytes.
double parse_memory(const std::string& text, const std::string& what);

/// "5us", "30 us", "1.5 ms", "2 s" as seconds; a unit is needed.
double parse_latency(const std::string& text, const std::string& what);

}  // namespace assay::predict
