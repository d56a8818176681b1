#include "assay/measure/rank/gang.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "assay/core/clock.hpp"
#include "assay/measure/rank/session.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/process/regular_file.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kPollNs = 1'000'000;
constexpr std::int64_t kTickNs = 100'000'000;
constexpr std::int64_t kTellNs = 500'000'000;
constexpr std::int64_t kLostNs = 5'000'000'000;
constexpr std::size_t kMostGangLineBytes = 1u << 20;
constexpr std::size_t kMostMeetingBytes = 4096;
// Below the range that kernels take ports of outgoing connections from.
constexpr int kLowestPort = 20'000;
constexpr int kHighestPort = 32'000;

sockaddr_in socket_address(const std::string& address, std::int64_t port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &where.sin_addr);
  return where;
}

process::Fd new_socket() {
  process::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) fail(ErrorKind::failure, "cannot make a socket: {}", std::strerror(errno));
  const int yes = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

bool bind_to(int fd, const std::string& address, std::int64_t port) {
  const auto where = socket_address(address, port);
  return bind(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
}

/// A port that nobody listens on, for the worker of this rank.
std::int64_t find_port(const std::string& address) {
  std::random_device random;
  for (int tries = 0; tries < 200; ++tries) {
    const auto port = kLowestPort + static_cast<std::int64_t>(random() % (kHighestPort - kLowestPort));
    const process::Fd fd = new_socket();
    if (bind_to(fd.get(), address, port) && listen(fd.get(), 1) == 0) return port;
  }
  fail(ErrorKind::failure, "no free port between {} and {} on {}", kLowestPort, kHighestPort, address);
}

[[noreturn]] void lost(std::int64_t rank, std::int64_t silent_ns) {
  worker_failed(OutcomeKind::timed_out,
                fmt::format("nothing was heard of rank {} for {:.1f} s: its host is cut off, or it was stopped", rank,
                            static_cast<double>(silent_ns) / 1e9));
}

}  // namespace

/// One connection: JSON lines, never waiting.
class Gang::Wire {
 public:
  explicit Wire(process::Fd fd) : fd_(std::move(fd)), heard_ns_(monotonic_ns()) {}

  void send(const json& message) {
    out_ += message.dump() + "\n";
    flush();
  }

  void flush() {
    while (!out_.empty() && fd_) {
      const ssize_t sent = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) return;  // full, or gone: reading finds out
      out_.erase(0, static_cast<std::size_t>(sent));
    }
  }

  /// The next message; null where none is there. Ends where the other side has.
  std::optional<json> receive() {
    std::array<char, 4096> bytes{};
    while (fd_) {
      const ssize_t got = recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (got <= 0) {
        fd_.reset();
        break;
      }
      heard_ns_ = monotonic_ns();
      in_.append(bytes.data(), static_cast<std::size_t>(got));
      if (in_.size() > kMostGangLineBytes) assay::fail(ErrorKind::bad_input, "a rank sent a line without end");
    }
    const auto end = in_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    json message = parse_json(in_.substr(0, end), {kMostGangLineBytes, 8, 100'000});
    in_.erase(0, end + 1);
    return message;
  }

  bool ended() const { return !fd_ && in_.find('\n') == std::string::npos; }
  std::int64_t silent_ns() const { return monotonic_ns() - heard_ns_; }

 private:
  process::Fd fd_;
  std::string in_;
  std::string out_;
  std::int64_t heard_ns_;
};

struct Gang::Member {
  std::int64_t rank = 0;
  Wire wire;
  bool left = false;
};

Gang::Gang(const Meeting& meeting, std::filesystem::path directory, std::int64_t rank, std::int64_t ranks)
    : meeting_(meeting),
      directory_(std::move(directory)),
      rank_(rank),
      ranks_(ranks),
      address_(meeting.one_host ? "127.0.0.1" : address_on(meeting.interface)),
      port_(find_port(address_)),
      peers_(static_cast<std::size_t>(ranks)) {
  peers_[static_cast<std::size_t>(rank)] = fmt::format("{}:{}", address_, port_);
}

Gang::~Gang() = default;

std::vector<std::string> Gang::meet(double limit_seconds, const Tick& tick) {
  const std::int64_t deadline = monotonic_ns() + static_cast<std::int64_t>(limit_seconds * 1e9);
  rank_ == 0 ? gather(tick, deadline) : join(tick, deadline);
  if (rank_ == 0) {
    tell_all({{"type", "peers"}, {"peers", peers_}});
  } else {
    wait(tick, [&] { return !peers_.back().empty() && !peers_.front().empty(); });
  }
  return peers_;
}

/// Rank 0: listens, says where, and waits for everybody.
void Gang::gather(const Tick& tick, std::int64_t deadline_ns) {
  const process::Fd listener = new_socket();
  sockaddr_in where{};
  socklen_t size = sizeof where;
  if (!bind_to(listener.get(), address_, 0) || listen(listener.get(), static_cast<int>(ranks_)) != 0 ||
      getsockname(listener.get(), reinterpret_cast<sockaddr*>(&where), &size) != 0) {
    assay::fail(ErrorKind::failure, "rank 0 cannot listen on {}: {}", address_, std::strerror(errno));
  }
  const auto file = directory_ / kMeetingFile;
  const auto unfinished = directory_ / (std::string(kMeetingFile) + ".part");
  write_file(unfinished, json{{"address", address_}, {"port", ntohs(where.sin_port)}}.dump());
  std::filesystem::rename(unfinished, file);

  std::vector<Wire> strangers;
  std::int64_t ticked_ns = 0;
  while (members_.size() + 1 < static_cast<std::size_t>(ranks_)) {
    if (process::Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)); fd) {
      strangers.emplace_back(std::move(fd));
    }
    for (auto it = strangers.begin(); it != strangers.end();) {
      const auto hello = it->receive();
      if (!hello && !it->ended()) {
        ++it;
        continue;
      }
      if (hello && hello->value("token", "") == meeting_.token) {
        const auto rank = hello->value("rank", std::int64_t{-1});
        if (rank < 1 || rank >= ranks_ || !peers_[static_cast<std::size_t>(rank)].empty()) {
          assay::fail(ErrorKind::failure, "rank {} came twice or is not one of {}", rank, ranks_);
        }
        peers_[static_cast<std::size_t>(rank)] = hello->value("worker", "");
        members_.push_back(std::make_unique<Member>(Member{rank, std::move(*it), false}));
      }
      it = strangers.erase(it);
    }
    if (monotonic_ns() > deadline_ns) {
      worker_failed(OutcomeKind::timed_out,
                    fmt::format("only {} of {} ranks came to {}", members_.size() + 1, ranks_, address_));
    }
    if (monotonic_ns() - ticked_ns > kTickNs) {
      tick();
      attend();
      ticked_ns = monotonic_ns();
    }
    sleep_until_ns(monotonic_ns() + kPollNs);
  }
}

/// Another rank: finds rank 0 and says who it is.
void Gang::join(const Tick& tick, std::int64_t deadline_ns) {
  const auto late = [&](const std::string& what) {
    if (monotonic_ns() > deadline_ns) worker_failed(OutcomeKind::timed_out, "rank 0 was not found: " + what);
    tick();
    sleep_until_ns(monotonic_ns() + 10 * kPollNs);
  };
  std::string text;
  while (text.empty()) {
    text = process::read_regular(directory_ / kMeetingFile, kMostMeetingBytes).value_or("");
    if (text.empty()) late("it left no address in the run directory, which all hosts must share");
  }
  const json meeting = parse_json(text);
  const auto address = meeting.value("address", "");
  const auto where = socket_address(address, meeting.value("port", 0));
  process::Fd fd = new_socket();
  while (connect(fd.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 && errno != EISCONN) {
    if (errno != EINPROGRESS && errno != EALREADY) fd = new_socket();
    late(fmt::format("{} does not answer", address));
  }
  members_.push_back(std::make_unique<Member>(Member{0, Wire(std::move(fd)), false}));
  members_[0]->wire.send({{"type", "hello"},
                          {"token", meeting_.token},
                          {"rank", rank_},
                          {"worker", peers_[static_cast<std::size_t>(rank_)]}});
}

void Gang::barrier(const Tick& tick) {
  const std::int64_t wanted = barriers_ + 1;
  if (rank_ == 0) {
    wait(tick, [&] { return arrived_ >= (ranks_ - 1) * wanted; });
    tell_all({{"type", "barrier"}});
    barriers_ = wanted;
  } else {
    tell_all({{"type", "barrier"}});
    wait(tick, [&] { return barriers_ >= wanted; });
  }
}

void Gang::lead(const Turn& turn) {
  tell_all({{"type", "turn"}, {"detail", turn.detail}, {"samples", turn.samples}, {"warmup", turn.warmup}});
}

Turn Gang::follow(const Tick& tick) {
  wait(tick, [&] { return !turns_.empty(); });
  Turn turn = turns_.front();
  turns_.pop_front();
  return turn;
}

void Gang::wait(const Tick& tick, const std::function<bool()>& done) {
  std::int64_t ticked_ns = monotonic_ns();
  for (;;) {
    attend();
    if (done()) return;
    if (monotonic_ns() - ticked_ns > kTickNs) {
      tick();
      ticked_ns = monotonic_ns();
    }
    sleep_until_ns(monotonic_ns() + kPollNs);
  }
}

void Gang::attend() {
  if (left_) return;
  if (monotonic_ns() - told_ns_ >= kTellNs) {
    tell_all({{"type", "alive"}});
    told_ns_ = monotonic_ns();
  }
  for (auto& one : members_) {
    one->wire.flush();
    while (const auto message = one->wire.receive()) take(*one, *message);
    if (one->left) continue;
    if (one->wire.ended()) {
      worker_failed(OutcomeKind::interrupted, fmt::format("rank {} ended before the others", one->rank));
    }
    if (one->wire.silent_ns() > kLostNs) lost(one->rank, one->wire.silent_ns());
  }
}

void Gang::take(Member& from, const json& message) {
  const auto type = message.value("type", "");
  if (type == "peers") peers_ = from_json<std::vector<std::string>>(message.at("peers"), "peers");
  if (type == "barrier") ++(rank_ == 0 ? arrived_ : barriers_);
  if (type == "turn") {
    turns_.push_back(
        {message.value("detail", ""), message.value("samples", std::int64_t{0}), message.value("warmup", false)});
  }
  if (type == "leave") from.left = true;
  if (type == "fail") {
    if (rank_ == 0) tell_all(message);
    worker_failed(
        OutcomeKind::interrupted,
        fmt::format("ended because of rank {}: {}", message.value("rank", from.rank), message.value("message", "")));
  }
}

void Gang::tell_all(const json& message) {
  for (auto& one : members_) {
    if (!one->left) one->wire.send(message);
  }
}

void Gang::fail(const std::string& message) noexcept {
  try {
    if (!left_) tell_all({{"type", "fail"}, {"rank", rank_}, {"message", message.substr(0, 1000)}});
    left_ = true;
  } catch (const std::exception&) {
    // They see that this one is gone.
  }
}

void Gang::leave() noexcept {
  try {
    tell_all({{"type", "leave"}});
    left_ = true;
  } catch (const std::exception&) {
    // The same.
  }
}

std::string address_on(const std::optional<std::string>& interface) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) fail(ErrorKind::failure, "cannot list network devices: {}", std::strerror(errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, &freeifaddrs);
  std::string seen;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_UP) == 0) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text.data(), text.size());
    seen += fmt::format(" {} ({})", one->ifa_name, text.data());
    if (interface ? one->ifa_name == *interface : (one->ifa_flags & IFF_LOOPBACK) == 0) return text.data();
  }
  fail(ErrorKind::failure, "no network device {} with an IPv4 address is up here. There is:{}.",
       interface ? shown(*interface) : "besides the loopback", seen);
}

}  // namespace assay::measure
