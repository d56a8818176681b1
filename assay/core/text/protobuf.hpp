#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/error.hpp"

namespace assay::protobuf {

/// Bytes that are no message; the message of the error says only what is wrong with them.
class NoMessage : public Error {
 public:
  explicit NoMessage(const char* what) : Error(ErrorKind::bad_input, what) {}
};

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

  /// The next field, or nothing at the end. Throws NoMessage.
  std::optional<Field> next();

 private:
  std::uint64_t varint();
  std::string_view take(std::uint64_t size);

  std::string_view left_;
};

/// Each throws NoMessage where the field is of another kind, or beyond its limit.
std::int64_t integer_of(const Field& field);
float real_of(const Field& field);
std::string text_of(const Field& field);
std::string_view message_of(const Field& field);

/// Goes through messages that stand one behind the other, each with its length in front.
class Messages {
 public:
  explicit Messages(std::string_view stream) : left_(stream) {}

  /// The next message, or nothing at the end. Throws NoMessage where it is longer than what is left.
  std::optional<std::string_view> next();

 private:
  std::string_view left_;
};

/// Adds the number, or the packed numbers, of a repeated field; `most` is how many there may be in all.
void add_integers(const Field& field, std::size_t most, std::vector<std::int64_t>& out);

}  // namespace assay::protobuf
