#include "assay/core/text/protobuf.hpp"

#include <bit>

namespace assay::protobuf {
namespace {

constexpr std::size_t kMostTextBytes = 4096;

[[noreturn]] void wrong(const char* what) {
  throw NoMessage(what);
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

std::uint64_t read_varint(std::string_view& left) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (left.empty()) wrong("a number is cut off");
    const auto byte = static_cast<unsigned char>(left.front());
    left.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  wrong("a number has more than 64 bits");
}

std::string_view take_bytes(std::string_view& left, std::uint64_t size) {
  if (size > left.size()) wrong("a field is longer than what holds it");
  const auto taken = left.substr(0, size);
  left.remove_prefix(size);
  return taken;
}

}  // namespace

std::uint64_t Fields::varint() {
  return read_varint(left_);
}

std::string_view Fields::take(std::uint64_t size) {
  return take_bytes(left_, size);
}

std::optional<std::string_view> Messages::next() {
  if (left_.empty()) return {};
  const auto size = read_varint(left_);
  return take_bytes(left_, size);
}

std::optional<Field> Fields::next() {
  if (left_.empty()) return {};
  const std::uint64_t tag = varint();
  Field field;
  if (tag >> 3 == 0 || tag >> 3 >= 1u << 29) wrong("a field has an impossible number");
  field.number = static_cast<std::uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0:
      field.integer = varint();
      return field;
    case 1:
      field.kind = Field::Kind::fixed64;
      field.integer = little_endian(take(8));
      return field;
    case 2:
      field.kind = Field::Kind::bytes;
      field.bytes = take(varint());
      return field;
    case 5:
      field.kind = Field::Kind::fixed32;
      field.integer = little_endian(take(4));
      return field;
    default:
      wrong("a field is of a kind that protobuf gave up");
  }
}

std::int64_t integer_of(const Field& field) {
  if (field.kind != Field::Kind::integer) wrong("a field is not a number");
  return static_cast<std::int64_t>(field.integer);
}

float real_of(const Field& field) {
  if (field.kind != Field::Kind::fixed32) wrong("a field is not a real number");
  return std::bit_cast<float>(static_cast<std::uint32_t>(field.integer));
}

std::string text_of(const Field& field) {
  const auto bytes = message_of(field);
  if (bytes.size() > kMostTextBytes) wrong("a name has more than 4096 bytes");
  return std::string(bytes);
}

std::string_view message_of(const Field& field) {
  if (field.kind != Field::Kind::bytes) wrong("a field is neither text nor message");
  return field.bytes;
}

void add_integers(const Field& field, std::size_t most, std::vector<std::int64_t>& out) {
  const auto add = [&](std::uint64_t number) {
    if (out.size() >= most) wrong("a list is too long");
    out.push_back(static_cast<std::int64_t>(number));
  };
  if (field.kind != Field::Kind::bytes) return add(static_cast<std::uint64_t>(integer_of(field)));
  for (auto left = field.bytes; !left.empty();) add(read_varint(left));
}

}  // namespace assay::protobuf
