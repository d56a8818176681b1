#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/link_points.hpp"

namespace assay::model {

/// What programs that measure collectives print.
enum class ImportFormat {
  osu,         ///< OSU micro-benchmarks
  nccl_tests,  ///< nccl-tests, and rccl-tests
  csv,         ///< columns collective, ranks, bytes, seconds and, where there are several, run
};

}  // namespace assay::model

template <>
struct assay::EnumNames<assay::model::ImportFormat> {
  static constexpr std::array<const char*, 3> names{"osu", "nccl-tests", "csv"};
};

namespace assay::model {

/// What a person says of a text beside the text itself.
struct ImportRequest {
  std::string name;                        ///< of the file, for messages and runs
  std::optional<std::int64_t> ranks;       ///< needed where the text does not tell
  std::optional<Collective> collective{};  ///< the same
};

/// The format that a text is in. Throws Error{bad_input} where it is none of them.
ImportFormat guess_format(std::string_view text, const std::string& name);

/// The points of a text; a table of it is a run. Throws Error{bad_input} that names file and line where it breaks the
/// format or a limit, and Error{usage} where the request must say more or contradicts it.
std::vector<LinkPoint> import_points(ImportFormat format, std::string_view text, const ImportRequest& request);

// One source each.
std::vector<LinkPoint> import_osu(std::string_view text, const ImportRequest& request);
std::vector<LinkPoint> import_nccl(std::string_view text, const ImportRequest& request);
std::vector<LinkPoint> import_csv(std::string_view text, const ImportRequest& request);

}  // namespace assay::model
