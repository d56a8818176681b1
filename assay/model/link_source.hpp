#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/links/link_points.hpp"

namespace assay::model {

/// What a person says of a text beside the text itself.
struct LinkRequest {
  std::string name;                        ///< of the file, for messages and runs
  std::optional<std::int64_t> ranks;       ///< needed where the text does not have it
  std::optional<Collective> collective{};  ///< the same
};

/// What programs that measure collectives print: a source in link_sources/ each, and a line of link_sources.inc.
struct LinkSource {
  const char* name;  ///< as --format takes it
  const char* sign;  ///< what it is recognised by, for a message
  bool (*recognises)(std::string_view text);
  /// A table of the text is a run. Throws Error{bad_input} that names file and line where the text breaks the format or
  /// a limit, and Error{usage} where the request must say more or contradicts it.
  std::vector<LinkPoint> (*read)(std::string_view text, const LinkRequest& request);
};

namespace link_sources {
#define LINK_SOURCE(name) extern const LinkSource name;
#include "assay/model/link_sources/link_sources.inc"
#undef LINK_SOURCE
}  // namespace link_sources

/// All of them.
const std::vector<const LinkSource*>& all_link_sources();

/// The one of that name; where the name is empty, the first that recognises the text. Throws Error{bad_input} where
/// none does.
const LinkSource& link_source_for(const std::string& name, std::string_view text, const std::string& file);

/// The points of a text. Throws Error{bad_input} where it has none, and what the source throws.
std::vector<LinkPoint> import_points(const LinkSource& source, std::string_view text, const LinkRequest& request);

}  // namespace assay::model
