#include "cli/version.hpp"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include "assay/core/version.hpp"

namespace assay::cli {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kChecks = ", with sanitizers";
#else
constexpr const char* kChecks = "";
#endif

}  // namespace

std::string version_text() {
  utsname system{};
  uname(&system);
  return fmt::format("assay {}\nbuild: {}, {}{}\nplatform: {} {}, glibc {}", kVersion, ASSAY_BUILD_TYPE, kCompiler,
                     kChecks, system.sysname, system.machine, gnu_get_libc_version());
}

}  // namespace assay::cli
