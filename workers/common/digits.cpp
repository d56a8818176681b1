#include "workers/common/digits.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "assay/core/text/hash.hpp"

namespace assay::worker {
namespace {

constexpr std::int64_t kDigitPixels = 64;
constexpr std::int64_t kDigitCount = kDigitsTrained + kDigitsHeldOut;
// Pixels are 0 to 16, with a mean of 4.9 and a deviation of 6.0.
constexpr float kPixelMiddle = 5, kPixelScale = 6;
constexpr std::string_view kPixelColumns = "0123456789abcdefg";

using Numbers = std::vector<std::int64_t>;

void refuse_other_network(const Graph& graph) {
  const auto& inputs = graph.inputs;
  const auto output =
      std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) { return node.name == graph.output; });
  const bool fits = inputs.size() == 1 && inputs[0].type == "real" && inputs[0].shape == Shape{1, 8, 8} &&
                    output != graph.nodes.end() && output->shape == Shape{10} && graph.loss == "cross_entropy";
  if (fits) return;
  std::vector<std::string> shapes;
  for (const auto& input : inputs) shapes.push_back(fmt::format("{}", input.shape));
  refuse(
      "data 'digits' for {}: it has inputs of {} and an output of {}, and digits are [1, 8, 8] in 10 classes. "
      "Networks for them are lenet and mlp.",
      graph.name, fmt::join(shapes, ", "), output == graph.nodes.end() ? Shape{} : output->shape);
}

/// The numbers below `count` in an order that follows from `name`.
Numbers shuffled(std::int64_t count, const std::string& name) {
  std::vector<std::pair<std::string, std::int64_t>> hashed;
  hashed.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) hashed.emplace_back(hash_hex(fmt::format("assay digits {} {}", name, i)), i);
  std::sort(hashed.begin(), hashed.end());
  Numbers order;
  order.reserve(hashed.size());
  for (const auto& [hash, number] : hashed) order.push_back(number);
  return order;
}

/// Samples by number, as a batch.
DigitSamples chosen(const DigitSamples& from, const std::int64_t* begin, std::int64_t count) {
  const auto* const images = static_cast<const float*>(from.images.data.get());
  const auto* const labels = static_cast<const std::int64_t*>(from.labels.data.get());
  auto [taken_images, pixels] = make_real({count, 1, 8, 8});
  auto [taken_labels, classes] = make_integer({count});
  for (std::int64_t i = 0; i < count; ++i) {
    std::copy_n(images + begin[i] * kDigitPixels, kDigitPixels, pixels + i * kDigitPixels);
    classes[i] = labels[begin[i]];
  }
  return {std::move(taken_images), std::move(taken_labels)};
}

bool is_digit_row(std::string_view line) {
  return line.size() == kDigitPixels + 2 && line.find_first_not_of(kPixelColumns) == kDigitPixels &&
         line[kDigitPixels] == ' ' && line.back() >= '0' && line.back() <= '9';
}

/// All samples in the order of the text: rows of 64 pixels in base 17, and the digit.
DigitSamples read_digits(std::string_view text) {
  auto [images, pixels] = make_real({kDigitCount, 1, 8, 8});
  auto [labels, classes] = make_integer({kDigitCount});
  std::int64_t rows = 0;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line[0] == '#') continue;
    if (rows == kDigitCount || !is_digit_row(line)) {
      throw std::runtime_error("the file of digits is damaged. Install the worker again.");
    }
    for (const char digit : line.substr(0, kDigitPixels)) {
      *pixels++ = (static_cast<float>(kPixelColumns.find(digit)) - kPixelMiddle) / kPixelScale;
    }
    classes[rows++] = line.back() - '0';
  }
  if (rows != kDigitCount) throw std::runtime_error("the file of digits is cut off. Install the worker again.");
  return {std::move(images), std::move(labels)};
}

}  // namespace

Lessons::Lessons(const Prepare& prepare, const Graph& graph, std::string_view text)
    : batch_(prepare.workload.batch), seed_(prepare.seed), steps_(steps_of_epoch(batch_)) {
  const auto how = learning_of(prepare.workload);
  ASSAY_CHECK(how && steps_ >= 1);
  how_ = *how;
  refuse_other_network(graph);
  if (std::max(prepare.ranks, prepare.instances) > 1) {
    refuse("data 'digits': one process learns, and there are several.");
  }
  auto order = shuffled(kDigitCount, "split 0");
  const auto middle = order.begin() + kDigitsHeldOut;
  std::sort(order.begin(), middle);
  std::sort(middle, order.end());
  const auto all = read_digits(text);
  held_out_ = chosen(all, order.data(), kDigitsHeldOut);
  trained_ = chosen(all, order.data() + kDigitsHeldOut, kDigitsTrained);
  begin();
}

void Lessons::begin() {
  epoch_ = at_ = 0;
  draw();
}

DigitSamples Lessons::next() {
  if (at_ == steps_) turn();  // nobody asked for it
  return chosen(trained_, order_.data() + batch_ * at_++, batch_);
}

void Lessons::turn() {
  if (at_ != steps_) return;
  ++epoch_;
  at_ = 0;
  draw();
}

void Lessons::draw() {
  order_ = shuffled(kDigitsTrained, fmt::format("{} {}", seed_, epoch_));
}

}  // namespace assay::worker
