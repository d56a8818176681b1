#include "assay/vet/install_environment.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "assay/core/text/utf8.hpp"

namespace assay::vet {
namespace {

// Where files are, and the user's language: as workers get them.
constexpr std::array kPlaces{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"};
constexpr std::array kProxies{"http_proxy", "https_proxy", "all_proxy", "no_proxy",
                              "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"};
constexpr std::array kCertificates{"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"};
constexpr std::array kPip{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "PIP_DEFAULT_TIMEOUT"};
constexpr std::array kCompilers{"CC", "CXX", "CCACHE_DIR"};

bool is_passed_on(std::string_view name) {
  const auto is_among = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  return is_among(kPlaces) || is_among(kProxies) || is_among(kCertificates) || is_among(kPip) || is_among(kCompilers);
}

}  // namespace

std::vector<std::string> install_environment(const std::filesystem::path& folder) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (is_passed_on(text.substr(0, text.find('=')))) out.emplace_back(text);
  }
  out.push_back(fmt::format("{}={}", kInstallVariable, folder.string()));
  return out;
}

std::string about_withheld_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    if (name.starts_with("PIP_") && !is_passed_on(name)) names.push_back(printable(std::string(name), 100));
  }
  if (names.empty()) return "";
  std::sort(names.begin(), names.end());
  return fmt::format(
      " Assay does not pass on {}: use pip's configuration file instead (`pip config set global.index-url URL`).",
      fmt::join(names, ", "));
}

}  // namespace assay::vet
