#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::predict {

/// Whether bytes begin as a gzip file does.
bool is_gzip(std::string_view bytes);

/// What a gzip file holds, all of its members. Throws Error{bad_input} where it is damaged or cut off, or holds more
/// than `most_bytes`.
std::string unpack_gzip(std::string_view bytes, std::size_t most_bytes);

}  // namespace assay::predict
