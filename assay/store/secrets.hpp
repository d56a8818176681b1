#pragma once

#include <string>

namespace assay::store {

/// Whether `text` repeats a part of what may be secret in a URL: a password that was not escaped is cut into parts that
/// are taken for others.
bool repeats_secret(const std::string& url, const std::string& text);

}  // namespace assay::store
