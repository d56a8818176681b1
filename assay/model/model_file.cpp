#include "assay/core/text/file.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/model/model.hpp"

namespace assay::model {
namespace {

constexpr JsonLimits kLimits{.bytes = 16u << 20, .depth = 32, .values = 1'000'000};

}  // namespace

Model parse_model(std::string_view text, const std::string& name) {
  return naming(name, [&] {
    auto model = from_json<Model>(parse_json(text, kLimits), "model");
    check(model);
    return model;
  });
}

Model read_model(const std::string& path) {
  return parse_model(read_file(path, kLimits.bytes), path);
}

}  // namespace assay::model
