#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "assay/core/record.hpp"
#include "assay/core/text/json.hpp"
#include "assay/store/records/digest.hpp"

namespace assay::store {

/// What of a record is no column of its own.
struct RecordBody {
  std::string json;                               ///< the rest, without samples; refers to `contents` by hash
  std::string samples;                            ///< of all ranks, one after the other
  std::map<std::string, std::string> contents;    ///< hash -> JSON text that other records are likely to share
  std::string digest;                             ///< JSON of the Digest
  std::optional<std::int64_t> peak_memory_bytes;  ///< of all ranks together; null where one does not know its own
};

RecordBody fold(const Record& record);

/// Finds the JSON text of a hash.
using ContentLookup = std::function<json(const std::string& hash)>;

/// Adds to `record`, which has all that columns hold, what `text` and `samples` hold.
/// Throws Error{bad_input} where they contradict each other or are newer than this program.
void unfold(const std::string& text, const std::string& samples, const ContentLookup& content, Record& record);

/// JSON text for a column: text that is no UTF-8 is mended instead of refused, because a finished run is never lost.
std::string json_text(const json& value);

/// Reads the text of a column.
json parse_column(const std::string& text);

/// `value` without the null members of its objects, which read back as absent.
json without_nulls(const json& value);

/// `text` if it is UTF-8, else with the broken bytes replaced, so that every reader of the file can decode it.
std::string as_utf8(const std::string& text);

}  // namespace assay::store
