#include "assay/vet/tensor.hpp"

#include <cmath>
#include <cstring>

#include "assay/core/error.hpp"
#include "assay/core/tensors.hpp"
#include "assay/core/text/file.hpp"

namespace assay::vet {
namespace {

constexpr std::int64_t kMostOutputBytes = std::int64_t{8} << 30;

}  // namespace

Tensor read_tensor(const std::filesystem::path& path, const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) fail(ErrorKind::bad_input, "it left no file with its output");
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const std::size_t length = tensors_header_length(read_file_part(path, 0, 8));
  const std::string header = read_file_part(path, 8, length);
  const std::int64_t begin = 8 + static_cast<std::int64_t>(length);
  if (header.size() < length || size > kMostOutputBytes) {
    fail(ErrorKind::bad_input, "its output file of {} bytes is cut off", size);
  }
  const auto tensors = read_tensors_header(header, size - begin);
  const auto it = tensors.find(name);
  if (it == tensors.end() || it->second.type != TensorType::f32) {
    fail(ErrorKind::bad_input, "its output file has no tensor '{}' of fp32", name);
  }
  Tensor tensor{it->second.shape, std::vector<float>(static_cast<std::size_t>(it->second.end - it->second.begin) / 4)};
  const auto bytes = static_cast<std::size_t>(it->second.end - it->second.begin);
  const std::string data = read_file_part(path, static_cast<std::size_t>(begin + it->second.begin), bytes);
  if (data.size() < bytes) fail(ErrorKind::bad_input, "its output file is cut off");
  std::memcpy(tensor.values.data(), data.data(), bytes);
  return tensor;
}

double relative_error(const std::vector<float>& got, const std::vector<float>& wanted) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double d = double{got[i]} - double{wanted[i]};
    difference += d * d;
    norm += double{wanted[i]} * double{wanted[i]};
  }
  return std::sqrt(difference / norm);
}

double spread(const std::vector<float>& values) {
  double mean = 0;
  for (const float value : values) mean += double{value} / static_cast<double>(values.size());
  double sum = 0;
  for (const float value : values) sum += (double{value} - mean) * (double{value} - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace assay::vet
