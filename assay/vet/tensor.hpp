#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::vet {

/// What a worker computed.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// The tensor `name` of a safetensors file that a worker has written. Throws Error{bad_input} where it is not there.
Tensor read_tensor(const std::filesystem::path& path, const std::string& name);

/// ||got - wanted|| / ||wanted||, of as many values each.
double relative_error(const std::vector<float>& got, const std::vector<float>& wanted);

/// Standard deviation; not finite where a value is not.
double spread(const std::vector<float>& values);

}  // namespace assay::vet
