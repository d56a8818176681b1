#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>

#include "assay/model/fitting/fit.hpp"

// assay-fit: reads a FitRequest as JSON from stdin, writes the Model as JSON to stdout, and "done of" lines to stderr.
// A program of its own, because pagmo takes longer to load than `assay` takes to start.

namespace assay::model {
namespace {

constexpr JsonLimits kLimits{256u << 20, 16, 10'000'000};

int run() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  const auto request = from_json<FitRequest>(parse_json(text, kLimits), "request");
  const bool shows = isatty(STDERR_FILENO) != 0;
  const auto model = fit(request, [&](std::size_t done, std::size_t of) {
    if (shows) std::fprintf(stderr, "\rassay: fitting %zu of %zu%s", done, of, done == of ? "\r\033[K" : "");
  });
  const auto out = to_json(model).dump() + "\n";
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::model

int main() {
  try {
    return assay::model::run();
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "assay: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-fit: internal error: %s. Please report this.\n", error.what());
    return 1;
  }
}
