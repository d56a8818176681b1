#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/model/tables/prototype.hpp"
#include "assay/predict/layer_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto read :
       {assay::predict::layer_sources::onnxruntime.read, assay::predict::layer_sources::benchmark_app.read}) {
    try {
      static_cast<void>(assay::to_json(read(text, "profile", 1)).dump());  // what is taken can be written
    } catch (const assay::Error&) {
    }
  }
  try {
    static_cast<void>(assay::model::csv_of(assay::model::import_prototype({{"run", std::string(text)}})));
  } catch (const assay::Error&) {
  }
  return 0;
}
