#include "assay/platform/inherited_number.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "assay/core/text/number.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/platform/proc.hpp"
#include "assay/platform/process.hpp"

namespace assay::platform {
namespace {

/// The soft limit in "Max file locks            12  unlimited  locks"; null where it says unlimited.
std::optional<std::int64_t> number_in(const std::string& limits) {
  constexpr std::string_view kName = "Max file locks";
  const auto line = limits.find(kName);
  const auto begin = line == std::string::npos ? line : limits.find_first_not_of(' ', line + kName.size());
  if (begin == std::string::npos) return std::nullopt;
  auto rest = std::string_view(limits).substr(begin);
  return take_number<std::int64_t>(rest);
}

}  // namespace

bool set_inherited_number(std::int64_t number) {
  rlimit limit{};
  if (getrlimit(RLIMIT_LOCKS, &limit) != 0) return false;
  limit.rlim_cur = static_cast<rlim_t>(number);
  return setrlimit(RLIMIT_LOCKS, &limit) == 0;
}

std::vector<NumberedProcess> numbered_processes() {
  std::vector<NumberedProcess> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string entry = it->path().filename().string();
    const auto pid = parse_number<pid_t>(entry);
    if (!pid || *pid == getpid()) continue;
    const auto number = number_in(read_small_file(it->path().string() + "/limits").value_or(""));
    if (!number || !start_ticks(*pid)) continue;  // one that has ended still has limits
    found.push_back({*pid, printable(read_word(it->path().string() + "/comm").value_or(""), 32), *number});
  }
  return found;
}

}  // namespace assay::platform
