#include <cstdint>
#include <string_view>

#include "assay/model/prediction.hpp"

/// Whatever the text, a model that says something of a point, or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  try {
    const auto read = model::parse_model({reinterpret_cast<const char*>(data), size}, "input");
    const auto factors = model::factors_of(read);
    static_cast<void>(model::predict(read, factors, std::vector<double>(factors.size(), 2)));
  } catch (const Error&) {
  }
  return 0;
}
