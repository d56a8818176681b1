#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// The first 128 bits of SHA-256 as 32 lower-case hexadecimal digits: the form of every id in Assay.
std::string hash_hex(std::string_view bytes);

/// The same of a file's bytes, which may be many. Nothing where it cannot be read.
std::optional<std::string> hash_hex_of_file(const std::filesystem::path& path);

/// The first 63 bits of SHA-256 as a non-negative integer, for orders and seeds.
std::int64_t hash_int(std::string_view bytes);

}  // namespace assay
