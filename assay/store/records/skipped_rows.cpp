#include "assay/store/records/skipped_rows.hpp"

#include <cstdio>

#include "assay/core/text/utf8.hpp"

namespace assay::store {
namespace {

constexpr std::size_t kMostNamed = 20;

}  // namespace

OnSkipped skipped_to_stderr() {
  return [](const std::string& sentence) { std::fprintf(stderr, "assay: %s\n", sentence.c_str()); };
}

void SkippedRows::report(const std::string& name, const std::string& why) {
  if (named_.size() > kMostNamed || !named_.insert(name).second) return;
  if (named_.size() > kMostNamed) {
    on_skipped_("skipped more rows that cannot be read; `assay store verify` names records that were altered");
    return;
  }
  on_skipped_(printable(fmt::format("skipped {}: {}", name, why), 500));
}

}  // namespace assay::store
