#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::network::onnx {

/// One field of a message in the wire format of protobuf, as a view into the message.
struct Field {
  std::uint32_t number = 0;
  enum class Kind { integer, bytes, fixed64, fixed32 } kind = Kind::integer;
  std::uint64_t integer = 0;  ///< where it is one, or the bits of a fixed one
  std::string_view bytes;     ///< a text, a message or a packed list
};

/// Goes through the fields of a message. Nothing is copied; what is not asked for is skipped.
class Fields {
 public:
  explicit Fields(std::string_view message) : left_(message) {}

  /// The next field, or nothing at the end. Throws Error{bad_input} where the bytes are no message.
  std::optional<Field> next();

 private:
  std::uint64_t varint();
  std::string_view take(std::uint64_t size);

  std::string_view left_;
};

/// Each throws Error{bad_input} where the field is of another kind, or beyond its limit.
std::int64_t integer_of(const Field& field);
float real_of(const Field& field);
std::string text_of(const Field& field);
std::string_view message_of(const Field& field);

/// Adds the number, or the packed numbers, of a repeated field; `most` is how many there may be in all.
void add_integers(const Field& field, std::size_t most, std::vector<std::int64_t>& out);

}  // namespace assay::network::onnx
