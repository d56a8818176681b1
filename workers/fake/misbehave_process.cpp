#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>

#include "assay/core/clock.hpp"
#include "workers/fake/misbehave.hpp"

namespace assay::fake {
namespace {

constexpr unsigned kOrphanSeconds = 1000;  // a test that loses one is not haunted for ever
constexpr int kFirstChildren = 50;
constexpr int kMostProcesses = 500;
constexpr std::int64_t kPauseNs = 10'000'000;
constexpr std::size_t kGrowthBytes = 50'000'000;
constexpr std::size_t kMostBytes = 16'000'000'000;

[[noreturn]] void linger() {
  // An absolute deadline: signals that merely interrupt do not shorten it.
  sleep_until_ns(monotonic_ns() + std::int64_t{kOrphanSeconds} * 1'000'000'000);
  _exit(0);
}

[[noreturn]] void spawn_on(std::atomic<int>& processes) {
  while (processes.fetch_add(1) < kMostProcesses) {
    if (fork() == 0) continue;  // the child spawns too
    sleep_until_ns(monotonic_ns() + kPauseNs);
  }
  linger();
}

}  // namespace

void hang() {
  linger();
}

void fork_setsid() {
  const pid_t child = fork();
  if (child != 0) return;  // the middle process is left as a zombie too
  setsid();
  if (fork() != 0) _exit(0);
  linger();  // with every descriptor still open, the protocol's among them
}

void fork_tree() {
  void* shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::bad_alloc();
  auto& processes = *new (shared) std::atomic<int>(kFirstChildren);
  for (int i = 0; i < kFirstChildren; ++i) {
    if (fork() == 0) spawn_on(processes);
  }
}

void grow_memory() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t bytes = 0; bytes < kMostBytes; bytes += kGrowthBytes) {
    void* block = mmap(nullptr, kGrowthBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return;
    for (std::size_t i = 0; i < kGrowthBytes; i += page) static_cast<volatile char*>(block)[i] = 1;
    sleep_until_ns(monotonic_ns() + kPauseNs);
  }
}

void crash(int signal) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace assay::fake
