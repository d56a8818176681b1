#include "assay/core/primitive.hpp"

#include <algorithm>

namespace assay {
namespace {

/// Beyond any memory, and so small that products of two of them are exact.
constexpr std::int64_t kMostSize = std::int64_t{1} << 40;

const std::vector<std::string> kPasses{"forward", "backward_data", "backward_weights"};

/// Axes first, then what every convolution has. Windows are the same along each axis.
std::vector<PrimitiveOption> convolution(std::vector<PrimitiveOption> axes, std::int64_t channels) {
  axes.insert(axes.end(), {{"channels_in", channels},
                           {"channels_out", channels},
                           {"kernel", 3},
                           {"stride", 1},
                           {"padding", 1, 0},
                           {"groups", 1},
                           {"pass", 0, 1, kPasses}});
  return axes;
}

std::vector<Primitive> make_primitives() {
  const std::vector<PrimitiveOption> matrices{{"m", 1024}, {"n", 1024}, {"k", 1024}};
  const std::vector<PrimitiveOption> arrays{{"elements", std::int64_t{1} << 25}};
  return {
      {"gemm", "matrix product, m x k times k x n", matrices},
      {"batched_gemm", "a matrix product for each sample", {{"m", 128}, {"n", 128}, {"k", 64}}, true},
      {"conv1d", "convolution along one axis", convolution({{"width", 1024}}, 256), true},
      {"conv2d", "convolution of images", convolution({{"height", 56}, {"width", 56}}, 64), true},
      {"conv3d", "convolution of volumes", convolution({{"depth", 8}, {"height", 28}, {"width", 28}}, 64), true},
      {"attention",
       "scaled dot-product attention, every position to every other",
       {{"heads", 12}, {"sequence", 128}, {"head_features", 64}},
       true},
      {"rnn",
       "one recurrent layer, forward in time",
       {{"features", 512}, {"hidden", 512}, {"sequence", 25}, {"cell", 0, 1, {"lstm", "gru"}}},
       true},
      {"embedding",
       "rows of a table, looked up by random numbers",
       {{"rows", 100'000}, {"features", 64}, {"lookups", 128}},
       true},
      {"layer_norm",
       "each position to mean 0 and variance 1, then scaled and shifted",
       {{"sequence", 128}, {"features", 768}},
       true},
      {"copy", "a = b in memory", arrays},
      {"triad", "a = b + 3 c in memory", arrays},
      {"tasks",
       "tasks handed to a pool of threads one by one, and the wait for all",
       {{"tasks", 10'000}, {"work", 100, 0}}},
      {"host_to_device", "from memory of the host to that of the device", arrays},
      {"all_reduce", "the sum over ranks, for each", {}, false, true},
      {"all_gather", "the parts of all ranks, for each", {}, false, true},
      {"reduce_scatter", "the sum over ranks, a part for each", {}, false, true},
      {"all_to_all", "from each rank a part to each other", {}, false, true},
      {"broadcast", "from rank 0 to all", {}, false, true},
      {"ping_pong", "from rank 0 to rank 1 and back", {}, false, true},
  };
}

std::string list_of_options(const Primitive& primitive) {
  std::string all;
  for (const auto& option : primitive.options) all += (all.empty() ? "" : ", ") + option.name;
  return all;
}

std::int64_t integer_of(const Primitive& primitive, const PrimitiveOption& option, const Scalar& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < option.least || *number > kMostSize) {
    fail(ErrorKind::usage, "{}: option '{}' is an integer from {} to {}, not {}.", primitive.name, option.name,
         option.least, kMostSize, mapping::scalar_to_json(value).dump());
  }
  return *number;
}

std::string choice_of(const Primitive& primitive, const PrimitiveOption& option, const Scalar& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && std::find(option.choices.begin(), option.choices.end(), *text) != option.choices.end())
    return *text;
  std::string all;
  for (const auto& choice : option.choices) all += (all.empty() ? "" : ", ") + choice;
  fail(ErrorKind::usage, "{}: option '{}' is one of {}, not {}.", primitive.name, option.name, all,
       mapping::scalar_to_json(value).dump());
}

void check_convolution(const Primitive& primitive, const PrimitiveOptions& options) {
  const auto sizes = convolution_sizes(options);
  if (sizes.empty()) return;
  for (const auto size : sizes) {
    if (windows_along(options, size) < 1) {
      fail(ErrorKind::usage, "{}: option 'kernel' {} does not fit {} values with padding {}.", primitive.name,
           options.at("kernel"), size, options.at("padding"));
    }
  }
  const auto groups = options.at("groups");
  for (const char* channels : {"channels_in", "channels_out"}) {
    if (options.at(channels) % groups == 0) continue;
    fail(ErrorKind::usage, "{}: option '{}' {} cannot be dealt out to {} groups.", primitive.name, channels,
         options.at(channels), groups);
  }
}

}  // namespace

const std::vector<Primitive>& all_primitives() {
  static const std::vector<Primitive> all = make_primitives();
  return all;
}

const Primitive* find_primitive(const std::string& name) {
  const auto& all = all_primitives();
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return it == all.end() ? nullptr : &*it;
}

PrimitiveOptions primitive_options(const Primitive& primitive, const Workload& workload) {
  PrimitiveOptions options;
  for (const auto& option : primitive.options) {
    const auto given = workload.options.find(option.name);
    const bool is_given = given != workload.options.end();
    if (option.choices.empty()) {
      options.integers[option.name] = is_given ? integer_of(primitive, option, given->second) : option.standard;
    } else {
      options.choices[option.name] = is_given ? choice_of(primitive, option, given->second) : option.choices.front();
    }
  }
  for (const auto& [name, value] : workload.options) {
    if (options.integers.count(name) + options.choices.count(name) > 0) continue;
    fail(ErrorKind::usage, "{} has no option {}. It has: {}.", primitive.name, shown(name), list_of_options(primitive));
  }
  if (!primitive.has_samples && workload.batch != 1)
    fail(ErrorKind::usage, "batch {}: {} has no samples. Use batch 1.", workload.batch, primitive.name);
  check_convolution(primitive, options);
  return options;
}

std::vector<std::int64_t> convolution_sizes(const PrimitiveOptions& options) {
  std::vector<std::int64_t> sizes;
  for (const char* axis : {"depth", "height", "width"}) {
    if (const auto it = options.integers.find(axis); it != options.integers.end()) sizes.push_back(it->second);
  }
  return sizes;
}

std::int64_t windows_along(const PrimitiveOptions& options, std::int64_t size) {
  const auto room = size + 2 * options.at("padding") - options.at("kernel");
  return room < 0 ? 0 : room / options.at("stride") + 1;
}

}  // namespace assay
