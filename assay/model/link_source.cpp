#include "assay/model/link_source.hpp"

#include <algorithm>

#include "assay/core/error.hpp"

namespace assay::model {

const std::vector<const LinkSource*>& all_link_sources() {
  static const std::vector<const LinkSource*> sources{
#define LINK_SOURCE(source) &link_sources::source,
#include "assay/model/link_sources/link_sources.inc"
#undef LINK_SOURCE
  };
  return sources;
}

const LinkSource& link_source_for(const std::string& name, std::string_view text, const std::string& file) {
  std::string signs;
  std::string names;
  for (const auto* source : all_link_sources()) {
    if (name.empty() ? source->recognises(text) : name == source->name) return *source;
    signs += (signs.empty() ? "" : ", nor ") + std::string(source->sign);
    names += (names.empty() ? "" : ", ") + std::string(source->name);
  }
  fail(ErrorKind::bad_input, "{}: it has neither {}. Say what it is with --format: {}.", file, signs, names);
}

std::vector<LinkPoint> import_points(const LinkSource& source, std::string_view text, const LinkRequest& request) {
  auto points = source.read(text, request);
  if (points.empty()) {
    fail(ErrorKind::bad_input, "{}: no line has a size and a time, as {} prints them.", request.name, source.name);
  }
  return points;
}

}  // namespace assay::model
