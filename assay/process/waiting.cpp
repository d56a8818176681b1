#include "assay/process/waiting.hpp"

#include "assay/core/clock.hpp"

namespace assay::process {
namespace {

class RealWaiting final : public Waiting {
 public:
  std::int64_t now_ns() override { return monotonic_ns(); }
  int poll(std::vector<pollfd>& fds, std::int64_t patience_ns) override {
    const timespec timeout{patience_ns / 1'000'000'000, patience_ns % 1'000'000'000};
    return ppoll(fds.data(), fds.size(), &timeout, nullptr);
  }
};

}  // namespace

Waiting& real_waiting() {
  static RealWaiting waiting;
  return waiting;
}

}  // namespace assay::process
