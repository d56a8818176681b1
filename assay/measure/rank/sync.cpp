#include "assay/measure/rank/sync.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"
#include "assay/process/regular_file.hpp"

namespace assay::measure {

/// All zero at first, as a new file is.
struct Sync::Words {
  std::atomic<std::uint32_t> prepared;
  std::atomic<std::uint32_t> started;  ///< 1 when the deadline is set
  std::atomic<std::int64_t> deadline_ns;
  std::atomic<std::uint32_t> turn;
  std::atomic<std::uint32_t> arrived;     ///< members that have ended the present turn
  std::atomic<std::uint32_t> stop_after;  ///< 1 + the last turn, 0 while open
  std::atomic<std::uint32_t> aborted;     ///< 1 + the process that failed first, 0 while none
  std::atomic<std::int64_t> median_ns;    ///< of the samples so far, 0 before there are any
};

namespace {

constexpr std::int64_t kTickNs = 20'000'000;
constexpr std::int64_t kLeadNs = 2'000'000;  // every waiter is awake again well within this

/// Sleeps while `word` is `seen`, at most one tick.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  const timespec limit{0, kTickNs};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

Sync::Sync(const std::filesystem::path& directory) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);
  const auto file = directory / "sync";
  const process::Fd opened = process::open_or_fail(file, O_RDWR | O_CREAT, "make");
  // Real blocks, not a hole: a store into a mapped hole on a full disk ends the process by SIGBUS.
  struct stat status {};
  const bool made = fstat(opened.get(), &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(Words));
  if (const int error = made ? 0 : posix_fallocate(opened.get(), 0, sizeof(Words)); error != 0) {
    file_failed(error, "make", file.string());
  }
  void* memory = mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED, opened.get(), 0);
  if (memory == MAP_FAILED) file_failed(errno, "map", file.string());
  words_ = static_cast<Words*>(memory);
}

Sync::~Sync() {
  munmap(words_, sizeof(Words));
}

void Sync::start_together(std::int64_t count, const Tick& tick) {
  if (words_->prepared.fetch_add(1) + 1 == static_cast<std::uint32_t>(count)) {
    words_->deadline_ns = monotonic_ns() + (count > 1 ? kLeadNs : 0);
    words_->started = 1;
    futex_wake_all(words_->started);
  }
  while (words_->started == 0) {
    futex_wait(words_->started, 0);
    tick();
  }
  sleep_until_ns(words_->deadline_ns);
}

bool Sync::wait_turn(std::int64_t turn, const Tick& tick) {
  while (true) {
    const std::uint32_t seen = words_->turn;
    const std::uint32_t stop = words_->stop_after;
    if (stop != 0 && static_cast<std::uint32_t>(turn) >= stop) return false;
    if (seen == static_cast<std::uint32_t>(turn)) return true;
    futex_wait(words_->turn, seen);
    tick();
  }
}

std::int64_t Sync::stopped_at() const {
  return words_->stop_after;
}

void Sync::wait_last_turn(std::int64_t turn, const Tick& tick) {
  std::uint32_t seen = 0;
  while ((seen = words_->turn) != static_cast<std::uint32_t>(turn)) {
    futex_wait(words_->turn, seen);
    tick();
  }
}

void Sync::end_turn(std::int64_t turn, std::int64_t members, const std::function<bool()>& decide) {
  if (words_->arrived.fetch_add(1) + 1 < static_cast<std::uint32_t>(members)) return;
  words_->arrived = 0;
  if (decide()) words_->stop_after = static_cast<std::uint32_t>(turn + 1);
  words_->turn = static_cast<std::uint32_t>(turn + 1);
  futex_wake_all(words_->turn);
}

void Sync::tell_median(std::int64_t ns) {
  words_->median_ns = ns;
}

std::optional<std::int64_t> Sync::median_so_far() const {
  const std::int64_t ns = words_->median_ns;
  return ns > 0 ? std::optional(ns) : std::nullopt;
}

void Sync::abort(std::int64_t process) {
  std::uint32_t none = 0;
  words_->aborted.compare_exchange_strong(none, static_cast<std::uint32_t>(process + 1));
}

std::optional<std::int64_t> Sync::aborted_by() const {
  const std::uint32_t process = words_->aborted;
  if (process == 0) return std::nullopt;
  return static_cast<std::int64_t>(process) - 1;
}

}  // namespace assay::measure
