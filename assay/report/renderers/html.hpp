#pragma once

#include <string>

#include "assay/report/document.hpp"

namespace assay::report {

/// A document as elements of HTML; a heading of it is an h3, for a page whose parts have an h2. Text of a store is
/// never taken for markup, and nothing in it needs a script or a style of its own.
std::string as_html(const Document& document);

}  // namespace assay::report
