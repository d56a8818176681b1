#include "workers/libtorch/tensors.hpp"

namespace assay::libtorch {

Tensor Form::of(const Tensor& tensor) const {
  Tensor out = tensor.is_floating_point() ? tensor.to(precision) : tensor;
  return channels_last && out.dim() == 4 ? out.contiguous(at::MemoryFormat::ChannelsLast) : out;
}

Form form_of(const worker::Prepare& prepare) {
  Form form;
  const auto& precision = prepare.workload.precision;
  if (precision != "fp32" && precision != "bf16") {
    worker::refuse("precision {} is unknown here. There is fp32 and bf16.", shown(precision));
  }
  if (precision == "bf16") form.precision = at::kBFloat16;
  const auto& layout = prepare.settings.layout;
  if (layout && *layout != "nchw" && *layout != "nhwc") {
    worker::refuse("layout {} is unknown here. There is nchw and nhwc.", shown(*layout));
  }
  form.channels_last = layout == "nhwc";
  return form;
}

Tensor tensor_of(const worker::Value& value) {
  const auto type = value.type == worker::ValueType::real ? at::kFloat : at::kLong;
  void* const data = const_cast<void*>(value.data.get());  // only read: the copy follows at once
  return at::from_blob(data, value.shape, at::TensorOptions(type)).clone();
}

std::string layout_of(const Tensors& inputs) {
  for (const auto& input : inputs) {
    if (input.dim() == 4) return input.stride(1) == 1 && !input.is_contiguous() ? "nhwc" : "nchw";
  }
  return "";
}

}  // namespace assay::libtorch
