#include <cstdint>
#include <string_view>

#include "assay/core/error.hpp"
#include "assay/model/tables/llama_bench.hpp"

/// Whatever the text, a frame or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)assay::model::is_llama_bench(text);
  try {
    (void)assay::model::import_llama_bench(text);
  } catch (const assay::Error&) {
  }
  return 0;
}
