#include "assay/store/stores/postgres/tls.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>

#include "assay/core/text/items.hpp"
#include "assay/store/stores/postgres/libpq.hpp"

namespace assay::store::postgres {
namespace {

/// What a URL says, by name. Empty where libpq cannot read it: the connection will say so.
std::map<std::string, std::string> said_in(const std::string& url) {
  const auto& pq = Libpq::get();
  const std::unique_ptr<ConnectionOption, void (*)(ConnectionOption*)> options(pq.parse(url.c_str(), nullptr),
                                                                               pq.free_options);
  std::map<std::string, std::string> out;
  for (const auto* one = options.get(); one != nullptr && one->keyword != nullptr; ++one) {
    if (one->value != nullptr) out[one->keyword] = one->value;
  }
  return out;
}

/// What the URL says, else the environment; as libpq does it, except for service files.
std::string setting(const std::map<std::string, std::string>& said, const char* keyword, const char* variable) {
  if (const auto found = said.find(keyword); found != said.end()) return found->second;
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

bool all_local(const std::string& hosts) {
  const auto all = items_of(hosts);
  return std::all_of(all.begin(), all.end(), [](auto host) { return is_local_host(std::string(host)); });
}

}  // namespace

bool is_local_host(const std::string& host) {
  return host.empty() || host[0] == '/' || host[0] == '@' || host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

const char* default_sslmode(const std::string& url) {
  const auto said = said_in(url);
  if (!setting(said, "sslmode", "PGSSLMODE").empty() || !setting(said, "service", "PGSERVICE").empty()) return nullptr;
  const auto addresses = setting(said, "hostaddr", "PGHOSTADDR");
  return all_local(addresses.empty() ? setting(said, "host", "PGHOST") : addresses) ? "prefer" : "require";
}

bool is_insecure(const std::string& text) {
  constexpr std::array kWords{"does not support SSL", "SSL error", "certificate", "requires encryption"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* words) { return text.find(words) != std::string::npos; });
}

}  // namespace assay::store::postgres
