#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/predict/layers.hpp"

namespace assay::predict {

/// What other programs write that a layer table can be read from: a source in layer_sources/ each, and a line of
/// layer_sources.inc.
struct LayerSource {
  bool (*recognises)(std::string_view text);  ///< by the first characters, and by names that no other has
  /// Throws Error{bad_input} that begins with `name` for what is not in this form.
  LayerTable (*read)(std::string_view text, const std::string& name, std::int64_t batch);
};

namespace layer_sources {
#define LAYER_SOURCE(name) extern const LayerSource name;
#include "assay/predict/layer_sources/layer_sources.inc"
#undef LAYER_SOURCE
}  // namespace layer_sources

/// The layers of a text, by the first source that recognises it; the last one takes every text.
LayerTable import_layers(std::string_view text, const std::string& name, std::int64_t batch);

/// Whether a text is a JSON object: its first character that is not blank is a brace, and a quote or the end follows.
bool is_json_object(std::string_view text);

}  // namespace assay::predict
