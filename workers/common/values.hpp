#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::worker {

/// Sizes of a tensor.
using Shape = std::vector<std::int64_t>;

/// What values files hold: fp32 (F32) and 64-bit integers (I64).
enum class ValueType { real, integer };

/// A tensor and whoever keeps its memory alive; copying it copies no data.
struct Value {
  ValueType type = ValueType::real;
  Shape shape;
  std::shared_ptr<const void> data;

  std::size_t elements() const;
  std::size_t bytes() const;
};

/// A new tensor whose elements the caller fills in through the pointer.
std::pair<Value, float*> make_real(Shape shape);
std::pair<Value, std::int64_t*> make_integer(Shape shape);

/// A file in memory, read where it is touched.
class MappedFile {
 public:
  /// Throws Error{bad_input} where it cannot be read or is no regular file.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Where the tensors of a safetensors file lie; `begin` counts from the file's. Throws Error{bad_input} that names the
/// tensor where one is malformed, of another type than F32 and I64, or not inside the file.
struct Placed {
  ValueType type = ValueType::real;
  Shape shape;
  std::size_t begin = 0;
};
std::map<std::string, Placed> read_header(std::string_view file);

/// The tensors of a safetensors file; they keep it mapped. Throws Error{bad_input} as above, with the path.
std::map<std::string, Value> read_values(const std::string& path);

/// Writes them as a safetensors file. Throws Error where that fails; a file begun may be left then.
void write_values(const std::string& path, const std::map<std::string, Value>& values);

}  // namespace assay::worker
