#include "workers/onednn/call.hpp"

#include <algorithm>

namespace assay::onednn {
namespace {

using Type = dnnl::memory::data_type;

Type type_of(const std::string& precision) {
  if (precision == "bf16") return Type::bf16;
  return precision == "int8" ? Type::s8 : Type::f32;
}

std::int64_t product(const Sizes& shape) {
  std::int64_t all = 1;
  for (const auto size : shape) all *= size;
  return all;
}

}  // namespace

Workshop::Workshop(const Workload& workload, const PrimitiveOptions& options, const Source& source)
    : options_(options),
      source_(source),
      batch_(workload.batch),
      type_(type_of(workload.precision)),
      engine_(dnnl::engine::kind::cpu, 0),
      stream_(engine_) {}

Type Workshop::result_type() const {
  return type_ == Type::s8 ? Type::s32 : type_;
}

dnnl::memory::desc Workshop::any(const Sizes& shape, Type type) {
  return {shape, type, dnnl::memory::format_tag::any};
}

dnnl::memory::desc Workshop::plain(const Sizes& shape, Type type) {
  Sizes strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return {shape, type, strides};
}

dnnl::memory Workshop::filled(const std::string& name, const dnnl::memory::desc& wanted) {
  auto values = source_(name, wanted.dims());
  dnnl::memory given(plain(wanted.dims(), Type::f32), engine_, values.data());
  dnnl::memory tensor(wanted, engine_);
  dnnl::reorder(given, tensor).execute(stream_, given, tensor);
  stream_.wait();
  return tensor;
}

std::vector<float> Call::result() const {
  dnnl::memory output = arguments_.at(output_);
  const auto shape = output.get_desc().dims();
  std::vector<float> values(static_cast<std::size_t>(product(shape)));
  dnnl::memory plain(Workshop::plain(shape, Type::f32), output.get_engine(), values.data());
  dnnl::stream stream = stream_;
  dnnl::reorder(output, plain).execute(stream, output, plain);
  stream.wait();
  return values;
}

}  // namespace assay::onednn
