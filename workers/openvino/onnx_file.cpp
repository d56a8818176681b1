#include "workers/common/graph_values.hpp"
#include "workers/common/network_file.hpp"
#include "workers/openvino/network.hpp"

namespace assay::openvino {
namespace {

/// The shape of an input once the batch is in its first dimension.
ov::PartialShape with_batch(const ov::Output<ov::Node>& input, std::int64_t batch) {
  const std::string name = input.get_any_name();
  ov::PartialShape shape = input.get_partial_shape();
  if (shape.rank().is_dynamic() || shape.size() == 0) {
    worker::refuse("input {} has no first dimension for the batch (its shape is {}).", shown(name), shape.to_string());
  }
  if (shape[0].is_static() && shape[0].get_length() != batch) {
    worker::refuse("batch {}: input {} has the fixed shape {}. Use batch {}, or an open first dimension.", batch,
                   shown(name), shape.to_string(), shape[0].get_length());
  }
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (shape[i].is_static()) continue;
    worker::refuse("input {}: dimension {} of {} is open, and only the first may be. Fix it in the file.", shown(name),
                   i, shape.to_string());
  }
  shape[0] = batch;
  return shape;
}

/// Real values are standard normal. What integers mean is not known: 0 and 1 are valid for most.
ov::Tensor drawn(const ov::Output<ov::Node>& input, const worker::Prepare& prepare) {
  const std::string name = input.get_any_name();
  const auto shape = input.get_shape();
  const auto type = input.get_element_type();
  const worker::Shape sizes(shape.begin(), shape.end());
  ov::Tensor tensor(type, shape);
  if (type == ov::element::f32) {
    const auto value = worker::draw_normal(prepare, "input/" + name, sizes);
    std::memcpy(tensor.data(), value.data.get(), value.bytes());
    return tensor;
  }
  const auto value = worker::draw_below(prepare, "input/" + name, sizes, 2);
  const auto* numbers = static_cast<const std::int64_t*>(value.data.get());
  if (type == ov::element::i64) {
    std::copy_n(numbers, value.elements(), tensor.data<std::int64_t>());
  } else if (type == ov::element::i32) {
    std::copy_n(numbers, value.elements(), tensor.data<std::int32_t>());
  } else if (type == ov::element::boolean) {
    std::copy_n(numbers, value.elements(), static_cast<char*>(tensor.data()));
  } else {
    worker::refuse("input {} is of type {}; there is f32, i64, i32 and boolean.", shown(name), type.get_type_name());
  }
  return tensor;
}

}  // namespace

Network read_onnx(ov::Core& core, const worker::Prepare& prepare) {
  worker::check_unchanged(*prepare.file);
  if (prepare.values) worker::refuse("values: they belong to a graph of Assay's, not to {}.", prepare.file->path);
  Network network;
  try {
    network.model = core.read_model(prepare.file->path);
  } catch (const ov::Exception& error) {
    worker::refuse("{} cannot be read as ONNX: {}", prepare.file->path, error.what());
  }
  std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
  for (const auto& input : network.model->inputs()) shapes[input] = with_batch(input, prepare.workload.batch);
  network.model->reshape(shapes);
  for (const auto& input : network.model->inputs()) network.inputs.push_back(drawn(input, prepare));
  return network;
}

}  // namespace assay::openvino
