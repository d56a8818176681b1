#include "assay/predict/layer_source.hpp"

#include <array>

namespace assay::predict {

LayerTable import_layers(std::string_view text, const std::string& name, std::int64_t batch) {
  const std::array sources{
#define LAYER_SOURCE(source) &layer_sources::source,
#include "assay/predict/layer_sources/layer_sources.inc"
#undef LAYER_SOURCE
  };
  for (const auto* source : sources) {
    if (source->recognises(text)) return source->read(text, name, batch);
  }
  std::string known;
  for (const auto* source : sources) known += (known.empty() ? "" : ", ") + std::string(source->description);
  fail(ErrorKind::bad_input, "{}: this is not one of these: {}.", name, known);
}

bool is_json_object(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto brace = text.find_first_not_of(kBlank);
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const auto quote = text.find_first_not_of(kBlank, brace + 1);
  return quote != std::string_view::npos && (text[quote] == '"' || text[quote] == '}');
}

}  // namespace assay::predict
