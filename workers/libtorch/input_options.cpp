#include "workers/libtorch/input_options.hpp"

#include <algorithm>

#include "assay/core/text/number.hpp"
#include "workers/common/options.hpp"

namespace assay::libtorch {
namespace {

constexpr std::size_t kMostInputs = 8;
constexpr std::size_t kMostDimensions = 7;
constexpr std::int64_t kMostElements = std::int64_t{1} << 32;  // of an input with its batch
constexpr std::string_view kInteger = "integer:";

[[noreturn]] void malformed(const std::string& name, const std::string& text) {
  worker::refuse("option {}: {} is not a shape. Write the sizes of a sample, such as 3x224x224, or integer:128.", name,
                 shown(text));
}

std::int64_t size_of(std::string_view part, const std::string& name, const std::string& text) {
  const auto size = parse_number<std::int64_t>(part);
  if (!size || *size < 1) malformed(name, text);
  return *size;
}

InputOption parse_input(const std::string& name, const std::string& text, std::int64_t batch) {
  InputOption input{name, {}, text.starts_with(kInteger)};
  std::string_view rest = text;
  if (input.integer) rest.remove_prefix(kInteger.size());
  std::int64_t elements = batch;
  while (true) {
    const auto end = std::min(rest.find('x'), rest.size());
    const std::int64_t size = size_of(rest.substr(0, end), name, text);
    if (input.shape.size() == kMostDimensions || size > kMostElements / elements) {
      worker::refuse("option {}: {} is too large; there are at most {} sizes and {} values with the batch.", name,
                     shown(text), kMostDimensions, kMostElements);
    }
    elements *= size;
    input.shape.push_back(size);
    if (end == rest.size()) return input;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<InputOption> input_options(const Workload& workload) {
  std::vector<InputOption> inputs;
  for (std::size_t i = 1; i <= kMostInputs; ++i) {
    const std::string name = i == 1 ? "input" : fmt::format("input{}", i);
    const auto given = workload.options.find(name);
    if (given == workload.options.end()) break;
    inputs.push_back(parse_input(name, worker::scalar_text(given->second), workload.batch));
  }
  for (const auto& [name, value] : workload.options) {
    const auto is_it = [&](const InputOption& input) { return input.name == name; };
    if (std::any_of(inputs.begin(), inputs.end(), is_it)) continue;
    worker::refuse("option {} is unknown here. There is input, then input2 to input{} in this order.", shown(name),
                   kMostInputs);
  }
  if (inputs.empty()) {
    worker::refuse(
        "a TorchScript file does not say what it takes. Give the sizes of a sample: --option "
        "input=3x224x224.");
  }
  return inputs;
}

}  // namespace assay::libtorch
