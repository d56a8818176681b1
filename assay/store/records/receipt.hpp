#pragma once

#include <string>

#include "assay/store/run_queue.hpp"

// A store notes of every record who wrote it and what its content hashes to. The receipts of one writer are a chain, so
// that a record that was changed, removed or slipped in by other means than Assay shows (docs/storing.md).

namespace assay::store {

/// The process in words that name it for ever.
std::string agent_of(const Owner& owner);

/// The user that this process works as: its name, or its number where it has none.
std::string this_user();

/// The link of a chain after `previous`, which is empty for the first.
std::string link_of(const std::string& previous, const std::string& hash);

}  // namespace assay::store
