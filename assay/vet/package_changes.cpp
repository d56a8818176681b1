#include "assay/vet/package_changes.hpp"

#include <algorithm>
#include <cctype>

#include "assay/core/error.hpp"

namespace assay::vet {
namespace {

constexpr JsonLimits kChangesLimits{.bytes = 1u << 16, .depth = 8, .values = 1000};
constexpr std::size_t kLongestPackage = 100;

/// Letters, digits, - _ . and, in releases, +: nothing that would be an option of pip's or another folder.
bool is_package_word(const std::string& text, bool release) {
  const auto allowed = [&](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || (release && c == '+'));
  };
  return !text.empty() && text.size() <= kLongestPackage && std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

PackageChanges read_package_changes(const std::filesystem::path& worker_folder) {
  const auto file = worker_folder / "packages.json";
  if (std::error_code ignored; !std::filesystem::exists(file, ignored)) return {};
  auto changes = from_json<PackageChanges>(parse_json(plan::read_worker_file(file), kChangesLimits), file.string());
  for (const auto& name : changes.left_out) {
    if (is_package_word(name, false)) continue;
    fail(ErrorKind::usage, "{}: left_out: {} is not the name of a package.", file.string(), shown(name));
  }
  if (changes.also_named) (void)other_name(*changes.also_named, "0");
  return changes;
}

plan::PinnedPackage other_name(const std::string& also_named, const std::string& release) {
  std::string text = also_named;
  constexpr std::string_view kRelease = "{release}";
  if (const auto at = text.find(kRelease); at != std::string::npos) text.replace(at, kRelease.size(), release);
  const auto equal = text.find("==");
  const auto name = text.substr(0, equal);
  const auto other = equal == std::string::npos ? "" : text.substr(equal + 2);
  if (!is_package_word(name, false) || !is_package_word(other, true)) {
    fail(ErrorKind::usage, "also_named: {} is not NAME==RELEASE, such as vllm=={{release}}+cpu.", shown(also_named));
  }
  return {name, other};
}

}  // namespace assay::vet
