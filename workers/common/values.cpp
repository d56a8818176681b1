#include "workers/common/values.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "assay/core/text/json.hpp"

namespace assay::worker {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostHeaderBytes = 64u << 20;
constexpr std::size_t kMostElements = std::size_t{1} << 40;
constexpr JsonLimits kHeaderLimits{.bytes = kMostHeaderBytes, .depth = 4, .values = 4'000'000};

struct HeaderEntry {
  std::string dtype;
  Shape shape;
  std::vector<std::int64_t> data_offsets;
};

template <typename V>
void describe(V& v, HeaderEntry& e) {
  required(v, "dtype", e.dtype);
  required(v, "shape", e.shape);
  required(v, "data_offsets", e.data_offsets);
}

std::size_t element_bytes(ValueType type) {
  return type == ValueType::real ? sizeof(float) : sizeof(std::int64_t);
}

[[noreturn]] void wrong(const std::string& name, const std::string& what) {
  fail(ErrorKind::bad_input, "tensor {}: {}", shown(name), what);
}

std::size_t checked_elements(const std::string& name, const Shape& shape) {
  std::size_t product = 1;
  for (const auto extent : shape) {
    if (extent < 0) wrong(name, fmt::format("an extent of its shape is {}", extent));
    const auto size = static_cast<std::size_t>(extent);
    if (size > 0 && product > kMostElements / size) wrong(name, "its shape is too large");
    product *= size;
  }
  return product;
}

Placed place(const std::string& name, const HeaderEntry& entry, std::size_t data_begin, std::size_t data_bytes) {
  Placed out;
  if (entry.dtype == "I64") {
    out.type = ValueType::integer;
  } else if (entry.dtype != "F32") {
    wrong(name, fmt::format("its dtype is {}; there is F32 and I64", shown(entry.dtype)));
  }
  out.shape = entry.shape;
  const std::size_t size = checked_elements(name, entry.shape) * element_bytes(out.type);
  if (entry.data_offsets.size() != 2) wrong(name, "data_offsets must be a begin and an end");
  const std::int64_t begin = entry.data_offsets[0], end = entry.data_offsets[1];
  if (begin < 0 || end < begin || static_cast<std::size_t>(end) > data_bytes) {
    wrong(name, fmt::format("data_offsets {} to {} are outside its {} bytes of data", begin, end, data_bytes));
  }
  if (static_cast<std::size_t>(end - begin) != size) {
    wrong(name, fmt::format("it has {} bytes where its shape needs {}", end - begin, size));
  }
  out.begin = data_begin + static_cast<std::size_t>(begin);
  return out;
}

template <typename T>
std::pair<Value, T*> make(ValueType type, Shape shape) {
  Value value{type, std::move(shape), nullptr};
  const std::shared_ptr<T[]> data(new T[value.elements()]);
  value.data = std::shared_ptr<const void>(data, data.get());
  return {value, data.get()};
}

}  // namespace

std::size_t Value::elements() const {
  std::size_t product = 1;
  for (const auto extent : shape) product *= static_cast<std::size_t>(extent);
  return product;
}

std::size_t Value::bytes() const {
  return elements() * element_bytes(type);
}

std::pair<Value, float*> make_real(Shape shape) {
  return make<float>(ValueType::real, std::move(shape));
}

std::pair<Value, std::int64_t*> make_integer(Shape shape) {
  return make<std::int64_t>(ValueType::integer, std::move(shape));
}

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    const int error = errno;
    if (file >= 0) close(file);
    fail(ErrorKind::bad_input, "{} cannot be read: {}.", path, std::strerror(error));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  const bool regular = S_ISREG(status.st_mode);
  void* data = regular && size_ > 0 ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
  const int error = errno;
  close(file);
  if (!regular) fail(ErrorKind::bad_input, "{} is not a regular file.", path);
  if (data == MAP_FAILED) fail(ErrorKind::bad_input, "{} cannot be mapped: {}.", path, std::strerror(error));
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

std::map<std::string, Placed> read_header(std::string_view file) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes && i < file.size(); ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(file[i])) << (8 * i);
  }
  if (file.size() < kLengthBytes || length > kMostHeaderBytes || length > file.size() - kLengthBytes) {
    fail(ErrorKind::bad_input, "it is not a safetensors file: its header has {} bytes, the file {}", length,
         file.size());
  }
  const std::size_t data_begin = kLengthBytes + length;
  const json header = parse_json(file.substr(kLengthBytes, length), kHeaderLimits);
  if (!header.is_object()) fail(ErrorKind::bad_input, "its header is not an object");
  std::map<std::string, Placed> out;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    out[name] = place(name, from_json<HeaderEntry>(entry, name), data_begin, file.size() - data_begin);
  }
  return out;
}

std::map<std::string, Value> read_values(const std::string& path) {
  const auto file = std::make_shared<MappedFile>(path);
  std::map<std::string, Value> out;
  try {
    for (auto& [name, placed] : read_header(file->bytes())) {
      const char* data = file->bytes().data() + placed.begin;
      Value value{placed.type, placed.shape, std::shared_ptr<const void>(file, data)};
      // The format promises no alignment beyond that of its header.
      if (reinterpret_cast<std::uintptr_t>(data) % element_bytes(placed.type) != 0) {
        const bool is_real = placed.type == ValueType::real;
        Value copy = is_real ? make_real(placed.shape).first : make_integer(placed.shape).first;
        std::memcpy(const_cast<void*>(copy.data.get()), data, value.bytes());
        value = copy;
      }
      out[name] = std::move(value);
    }
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", path, error.what());
  }
  return out;
}

void write_values(const std::string& path, const std::map<std::string, Value>& values) {
  json header = json::object();
  std::size_t at = 0;
  for (const auto& [name, value] : values) {
    header[name] = to_json(HeaderEntry{value.type == ValueType::real ? "F32" : "I64",
                                       value.shape,
                                       {static_cast<std::int64_t>(at), static_cast<std::int64_t>(at + value.bytes())}});
    at += value.bytes();
  }
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  std::string length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length += static_cast<char>(text.size() >> (8 * i) & 0xff);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << length << text;
  for (const auto& [name, value] : values) {
    file.write(static_cast<const char*>(value.data.get()), static_cast<std::streamsize>(value.bytes()));
  }
  file.close();
  if (!file) fail(ErrorKind::failure, "cannot write {}: {}.", path, std::strerror(errno));
}

}  // namespace assay::worker
