#include "assay/predict/layer_source.hpp"

#include <algorithm>
#include <array>

namespace assay::predict {

LayerTable import_layers(std::string_view text, const std::string& name, std::int64_t batch) {
  const std::array sources{
#define LAYER_SOURCE(source) &layer_sources::source,
#include "assay/predict/layer_sources/layer_sources.inc"
#undef LAYER_SOURCE
  };
  const auto found =
      std::find_if(sources.begin(), sources.end(), [&](const auto* one) { return one->recognises(text); });
  ASSAY_CHECK(found != sources.end());
  return (*found)->read(text, name, batch);
}

bool is_json_object(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto brace = text.find_first_not_of(kBlank);
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const auto quote = text.find_first_not_of(kBlank, brace + 1);
  return quote != std::string_view::npos && (text[quote] == '"' || text[quote] == '}');
}

}  // namespace assay::predict
