#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/plan/catalog/environment.hpp"

/// Any bytes read as requirements and as a lock: a pin is a part of the text, exact pins add one character each and
/// leave no other, and whatever is pinned once for pip is found there.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto packages = plan::pinned_packages(text);
  const std::string exact = plan::with_exact_pins(text);
  ASSAY_CHECK(exact.size() == text.size() + packages.size());
  ASSAY_CHECK(plan::pinned_packages(exact).empty());
  for (const auto& package : packages) {
    ASSAY_CHECK(!package.name.empty() && !package.release.empty());
    ASSAY_CHECK(text.find(package.release) != std::string_view::npos);
    ASSAY_CHECK(plan::find_build(packages, package.name, package.release).has_value());
    try {
      const std::string pinned = plan::pinned_release(text, package.name);
      const std::string changed = plan::with_release(text, package.name, "1.0");
      ASSAY_CHECK(plan::pinned_release(changed, package.name) == "1.0");
      ASSAY_CHECK(changed.size() + pinned.size() == text.size() + 3);
    } catch (const Error& error) {
      ASSAY_CHECK(error.kind() == ErrorKind::usage);
    }
  }
  return 0;
}
