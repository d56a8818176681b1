#include "assay/store/records/receipt.hpp"

#include <fmt/ranges.h>
#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "assay/core/text/hash.hpp"

namespace assay::store {

std::string new_claim() {
  std::array<unsigned char, 16> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0) have += static_cast<std::size_t>(got);
    ASSAY_CHECK(got > 0 || errno == EINTR);
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string agent_of(const Owner& owner) {
  return fmt::format("{}:{}:{}", owner.boot_id, owner.pid, owner.start_ticks);
}

std::string this_user() {
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr && entry->pw_name != nullptr ? entry->pw_name : std::to_string(geteuid());
}

std::string link_of(const std::string& previous, const std::string& hash) {
  return hash_hex(previous + hash);
}

}  // namespace assay::store
