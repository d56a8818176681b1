#include "assay/load/client/client.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "assay/core/clock.hpp"
#include "assay/load/client/exchange.hpp"
#include "assay/load/client/windows.hpp"
#include "assay/load/open_files.hpp"

namespace assay::load {
namespace {

constexpr std::int64_t kProbeNs = 5'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::size_t kNothing = SIZE_MAX;

std::int64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

struct Connection {
  explicit Connection(Api api) : exchange(api) {}
  process::Fd fd;
  Exchange exchange;
  std::string out;
  std::size_t written = 0;
  std::size_t request = kNothing;  ///< whose response is awaited
  bool connected = false;
  bool used = false;  ///< an earlier request had an answer on it
};

/// One run of one schedule. Times inside are since `epoch_ns_`.
class Client {
 public:
  Client(const Target& target, const Sending& sending, std::vector<Arrival> schedule, Ledger::Rules rules)
      : target_(target), sending_(sending), ledger_(std::move(schedule), rules), closed_(rules.clients > 0) {
    last_due_ns_ = closed_ ? rules.closed_end_ns : ledger_.last_due_ns();
    epoll_ = process::Fd(epoll_create1(EPOLL_CLOEXEC));
    timer_ = process::Fd(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!epoll_ || !timer_) fail(ErrorKind::failure, "the kernel gives no epoll or timer: {}.", std::strerror(errno));
    watch(timer_.get(), EPOLLIN | EPOLLET, kTimer);
    if (sending.stop_fd >= 0) watch(sending.stop_fd, EPOLLIN, kStop);
    prepare_head();
  }

  Sent run();

 private:
  static constexpr std::uint64_t kTimer = UINT64_MAX;
  static constexpr std::uint64_t kStop = UINT64_MAX - 1;

  std::int64_t now() const { return monotonic_ns() - epoch_ns_; }
  void watch(int fd, std::uint32_t events, std::uint64_t data);
  void prepare_head();
  void set_timer();
  bool over(std::int64_t now_ns) const;
  void keep_time(std::int64_t now_ns);
  bool send_due();
  void time_out(std::int64_t now_ns);

  void send(std::size_t index);
  std::size_t free_connection();
  bool open(std::size_t slot);
  void write_out(Connection& connection, std::size_t slot);
  void handle(std::size_t slot, std::uint32_t events);
  void receive(Connection& connection, std::size_t slot, bool ended);
  void finish(std::size_t slot, RequestOutcome outcome, bool keep);
  void broken(std::size_t slot, bool reset);
  void close(std::size_t slot);

  Target target_;
  Sending sending_;
  Ledger ledger_;
  bool closed_;
  std::int64_t last_due_ns_ = 0;
  std::int64_t epoch_ns_ = 0;
  std::int64_t timer_ns_ = -1;
  std::int64_t next_probe_ns_ = 0;
  std::int64_t cpu_at_ns_ = 0;
  std::int64_t cpu_begin_ns_ = 0;
  std::size_t noticed_ = 0;
  std::size_t oldest_ = 0;  ///< requests before it have ended
  process::Fd epoll_;
  process::Fd timer_;
  std::string head_;
  std::string body_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::size_t> idle_;       ///< connected, with nothing under way; the last is used first
  std::vector<std::size_t> empty_;      ///< places without a connection
  std::vector<std::size_t> slot_of_;    ///< of each request that was taken; kNothing once it has ended
  std::vector<std::int64_t> taken_ns_;  ///< when each of them was
  WindowCollector windows_;
  std::int64_t opened_ = 0;
  bool stopped_ = false;
  std::array<char, 65536> buffer_{};
};

void Client::watch(int fd, std::uint32_t events, std::uint64_t data) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = data;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    fail(ErrorKind::failure, "the kernel does not watch a descriptor: {}.", std::strerror(errno));
  }
}

void Client::prepare_head() {
  const bool post = sending_.form.api != Api::http || !sending_.form.body.empty();
  head_ = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: assay\r\nAccept: */*\r\n", post ? "POST" : "GET",
                      target_.path, target_.host);
  if (!sending_.authorization.empty()) head_ += "Authorization: " + sending_.authorization + "\r\n";
  if (post) head_ += "Content-Type: application/json\r\nContent-Length: ";
}

/// For the next deadline, or the next probe of the client's own lateness.
void Client::set_timer() {
  const auto wanted = std::min(ledger_.next_due().value_or(INT64_MAX), next_probe_ns_);
  if (wanted == timer_ns_) return;
  timer_ns_ = wanted;
  const auto at = epoch_ns_ + std::max<std::int64_t>(wanted, 0) + (wanted <= 0 ? 1 : 0);
  itimerspec when{};
  when.it_value = {at / kSecondNs, at % kSecondNs};
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

bool Client::over(std::int64_t now_ns) const {
  if (stopped_ || ledger_.complete()) return true;
  return now_ns > last_due_ns_ && now_ns - last_due_ns_ > sending_.drain_ns;
}

/// Notes how late the client is for what was due and for its probe, and its CPU time once in a while.
void Client::keep_time(std::int64_t now_ns) {
  ledger_.notice(now_ns);
  for (; noticed_ < ledger_.requests().size() && ledger_.requests()[noticed_].noticed_ns; ++noticed_) {
    const auto& request = ledger_.requests()[noticed_];
    windows_.add(request.due_ns, *request.noticed_ns - request.due_ns, true);
  }
  if (now_ns < next_probe_ns_) return;
  // Probes that were missed count as often as they were due.
  for (; next_probe_ns_ <= now_ns; next_probe_ns_ += kProbeNs)
    windows_.add(next_probe_ns_, now_ns - next_probe_ns_, false);
  if (now_ns - cpu_at_ns_ >= kSecondNs / 10) {
    windows_.cpu(now_ns, thread_cpu_ns() - cpu_begin_ns_);
    cpu_at_ns_ = now_ns;
    time_out(now_ns);
  }
}

/// False where more is to be sent at once.
bool Client::send_due() {
  keep_time(now());
  // A backlog is sent in parts, so that responses that have come are stamped in between.
  for (int i = 0; i < 32; ++i) {
    const auto index = ledger_.take();
    if (!index) return true;
    send(*index);
  }
  return false;
}

void Client::time_out(std::int64_t now_ns) {
  while (oldest_ < slot_of_.size() && slot_of_[oldest_] == kNothing) ++oldest_;
  // In the order in which they were taken: the first that is young enough ends it.
  for (auto i = oldest_; i < slot_of_.size() && now_ns - taken_ns_[i] > sending_.timeout_ns; ++i) {
    if (slot_of_[i] != kNothing) finish(slot_of_[i], RequestOutcome::timed_out, false);
  }
}

std::size_t Client::free_connection() {
  if (!idle_.empty()) {
    const auto slot = idle_.back();
    idle_.pop_back();
    return slot;
  }
  if (empty_.empty()) {
    connections_.push_back(std::make_unique<Connection>(sending_.form.api));
    return connections_.size() - 1;
  }
  const auto slot = empty_.back();
  empty_.pop_back();
  return slot;
}

bool Client::open(std::size_t slot) {
  auto& connection = *connections_[slot];
  connection.fd = begin_connection(target_);
  connection.connected = connection.used = false;
  if (!connection.fd) return false;
  watch(connection.fd.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, slot);
  ++opened_;
  return true;
}

void Client::send(std::size_t index) {
  const auto slot = free_connection();
  auto& connection = *connections_[slot];
  auto& request = ledger_.at(index);
  slot_of_.push_back(slot);
  taken_ns_.push_back(now());
  connection.request = index;
  connection.written = 0;
  connection.out = head_;
  if (head_.ends_with("Length: ")) {
    body_.clear();
    append_body(body_, sending_.form, ledger_.arrival(index), sending_.prefix_words);
    connection.out += std::to_string(body_.size());
    connection.out += "\r\n\r\n";
    connection.out += body_;
  } else {
    connection.out += "\r\n";
  }
  connection.exchange.begin(request);
  if (connection.fd) {
    request.connected_ns = now();
    request.kept_connection = true;
    return write_out(connection, slot);
  }
  // A connection that needs a moment is written to once the kernel says that it stands.
  if (!open(slot)) finish(slot, RequestOutcome::cannot_connect, false);
}

void Client::write_out(Connection& connection, std::size_t slot) {
  while (connection.written < connection.out.size()) {
    const auto count = ::send(connection.fd.get(), connection.out.data() + connection.written,
                              connection.out.size() - connection.written, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) return broken(slot, true);
    connection.written += static_cast<std::size_t>(count);
  }
  ledger_.at(connection.request).sent_ns = now();
}

void Client::handle(std::size_t slot, std::uint32_t events) {
  auto& connection = *connections_[slot];
  if (!connection.fd) return;  // closed earlier in this turn
  if (connection.request == kNothing) {
    // Nothing is awaited: whatever comes, an end or bytes, makes it useless.
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0) return;
    idle_.erase(std::find(idle_.begin(), idle_.end(), slot));
    return close(slot);
  }
  if (!connection.connected) {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) return finish(slot, RequestOutcome::cannot_connect, false);
    if ((events & EPOLLOUT) == 0) return;
    connection.connected = true;
    ledger_.at(connection.request).connected_ns = now();
  }
  const auto request = connection.request;
  if ((events & EPOLLOUT) != 0 && connection.written < connection.out.size()) write_out(connection, slot);
  if (connection.request != request || !connection.fd) return;  // broken, or sent again
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    receive(connection, slot, (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
  }
}

/// Where more comes later the kernel says so again; `ended` is that it will not.
void Client::receive(Connection& connection, std::size_t slot, bool ended) {
  while (true) {
    const auto count = recv(connection.fd.get(), buffer_.data(), buffer_.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return broken(slot, count < 0);
    const auto size = static_cast<std::size_t>(count);
    if (connection.exchange.read({buffer_.data(), size}, now())) {
      // Where the end of the connection came with the end of the response, nothing more will be said of it.
      const bool usable = connection.written == connection.out.size() && !ended;
      return finish(slot, connection.exchange.outcome(), usable && connection.exchange.keeps_connection());
    }
    if (size < buffer_.size() && !ended) return;
  }
}

/// The connection has ended before the response has. A kept one may have been closed while the request was on its way:
/// such a request is sent again on a new one, once, and its time still counts from the schedule.
void Client::broken(std::size_t slot, bool reset) {
  auto& connection = *connections_[slot];
  const auto index = connection.request;
  if (connection.used && !connection.exchange.begun()) {
    close(slot);
    ledger_.at(index).sent_ns.reset();
    ledger_.at(index).connected_ns.reset();
    ledger_.at(index).kept_connection = false;
    empty_.pop_back();
    connection.written = 0;
    connection.request = index;
    connection.exchange.begin(ledger_.at(index));
    if (!open(slot)) finish(slot, RequestOutcome::cannot_connect, false);
    return;
  }
  connection.exchange.end(reset, now());
  finish(slot, connection.exchange.outcome(), false);
}

void Client::finish(std::size_t slot, RequestOutcome outcome, bool keep) {
  auto& connection = *connections_[slot];
  const auto index = connection.request;
  ledger_.finish(index, outcome, now());
  slot_of_[index] = kNothing;
  connection.request = kNothing;
  if (!keep) return close(slot);
  connection.used = true;
  idle_.push_back(slot);
}

void Client::close(std::size_t slot) {
  auto& connection = *connections_[slot];
  connection.fd.reset();
  connection.connected = connection.used = false;
  connection.request = kNothing;
  empty_.push_back(slot);
}

Sent Client::run() {
  StealSampler steal;
  std::array<epoll_event, 64> events{};
  epoch_ns_ = monotonic_ns() + 1'000'000;  // so that the first deadline is not past
  next_probe_ns_ = kProbeNs;
  cpu_begin_ns_ = thread_cpu_ns();
  while (!over(now())) {
    const bool all_sent = send_due();
    set_timer();
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), all_sent ? -1 : 0);
    for (int i = 0; i < count; ++i) {
      // Responses wait in the kernel, deadlines do not.
      if (i % 8 == 0) send_due();
      const auto data = events[static_cast<std::size_t>(i)].data.u64;
      if (data == kStop) stopped_ = true;
      if (data != kStop && data != kTimer) handle(data, events[static_cast<std::size_t>(i)].events);
    }
  }
  Sent sent;
  sent.elapsed_ns = now();
  sent.cpu_ns = thread_cpu_ns() - cpu_begin_ns_;
  windows_.cpu(sent.elapsed_ns, sent.cpu_ns);
  ledger_.close(sent.elapsed_ns);
  steal.finish();
  sent.windows = windows_.windows(sent.elapsed_ns, epoch_ns_, steal);
  sent.requests = ledger_.requests();
  sent.connections = opened_;
  sent.most_under_way = static_cast<std::int64_t>(ledger_.most_under_way());
  sent.waited = static_cast<std::int64_t>(ledger_.waited());
  sent.stopped = stopped_;
  return sent;
}

}  // namespace

Sent send_schedule(const Target& target, const Sending& sending, std::vector<Arrival> schedule, Ledger::Rules rules) {
  rules.connections = allow_connections(sending.connections);
  const auto client = std::make_unique<Client>(target, sending, std::move(schedule), rules);
  auto sent = client->run();
  sent.connection_cap = static_cast<std::int64_t>(rules.connections);
  return sent;
}

}  // namespace assay::load
