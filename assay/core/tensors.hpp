#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay {

enum class TensorType { f32, i64 };

template <>
struct EnumNames<TensorType> {
  static constexpr std::array<const char*, 2> names{"F32", "I64"};
};

/// Where a tensor is in a safetensors file.
struct TensorPlace {
  TensorType type = TensorType::f32;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;  ///< in bytes behind the header, as is the end
  std::int64_t end = 0;
};

/// Bytes of one value.
std::int64_t bytes_of(TensorType type);

/// What stands before the tensors of a safetensors file: 8 bytes with the header's length, and the header, padded so
/// that the tensors begin at a multiple of 8.
std::string tensors_header(const std::map<std::string, TensorPlace>& tensors);

/// Length of the header from the first 8 bytes of a file. Throws Error{bad_input} where it is beyond all reason.
std::size_t tensors_header_length(std::string_view first_bytes);

/// The tensors of a file whose header is `header` and whose tensors take `data_bytes`. Throws Error{bad_input} where
/// one lies outside or does not have the size of its shape.
std::map<std::string, TensorPlace> read_tensors_header(std::string_view header, std::int64_t data_bytes);

}  // namespace assay
