#include "assay/core/tensors.hpp"

namespace assay {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostHeaderBytes = 64u << 20;
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

TensorPlace read_place(const std::string& name, const json& entry, std::int64_t data_bytes) {
  TensorPlace place;
  std::vector<std::int64_t> offsets;
  if (!entry.is_object()) mapping::wrong_type(name, "an object", entry);
  mapping::Reader{entry, name}.required("dtype", place.type);
  mapping::Reader{entry, name}.required("shape", place.shape);
  mapping::Reader{entry, name}.required("data_offsets", offsets);
  if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0] || offsets[1] > data_bytes) {
    fail(ErrorKind::bad_input, "tensor {}: its place is outside the {} bytes of the file", shown(name), data_bytes);
  }
  place.begin = offsets[0];
  place.end = offsets[1];
  std::int64_t elements = 1;
  for (const auto size : place.shape) {
    if (size < 0 || size > kMostElements || elements > kMostElements / std::max<std::int64_t>(size, 1)) {
      fail(ErrorKind::bad_input, "tensor {}: its shape is beyond all bounds", shown(name));
    }
    elements *= size;
  }
  if (elements * bytes_of(place.type) != place.end - place.begin) {
    fail(ErrorKind::bad_input, "tensor {}: {} bytes for {} values", shown(name), place.end - place.begin, elements);
  }
  return place;
}

}  // namespace

std::int64_t bytes_of(TensorType type) {
  return type == TensorType::f32 ? 4 : 8;
}

std::string tensors_header(const std::map<std::string, TensorPlace>& tensors) {
  json header = json::object();
  for (const auto& [name, place] : tensors) {
    header[name] = {{"dtype", name_of(place.type)},
                    {"shape", place.shape},
                    {"data_offsets", json::array({place.begin, place.end})}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return length + text;
}

std::size_t tensors_header_length(std::string_view first_bytes) {
  if (first_bytes.size() < kLengthBytes) fail(ErrorKind::bad_input, "a safetensors file has at least 8 bytes");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(first_bytes[i])} << (8 * i);
  }
  if (length > kMostHeaderBytes) fail(ErrorKind::bad_input, "a header of {} bytes is not one of safetensors", length);
  return length;
}

std::map<std::string, TensorPlace> read_tensors_header(std::string_view header, std::int64_t data_bytes) {
  const json parsed = parse_json(header, {kMostHeaderBytes, 8, 4'000'000});
  if (!parsed.is_object()) fail(ErrorKind::bad_input, "the header of a safetensors file must be an object");
  std::map<std::string, TensorPlace> tensors;
  for (const auto& [name, entry] : parsed.items()) {
    if (name != "__metadata__") tensors[name] = read_place(name, entry, data_bytes);
  }
  return tensors;
}

}  // namespace assay
