#include "assay/load/server/null_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <queue>
#include <thread>
#include <vector>

#include "assay/core/clock.hpp"
#include "assay/core/error.hpp"
#include "assay/core/text/number.hpp"
#include "assay/core/text/units.hpp"
#include "assay/load/open_files.hpp"
#include "assay/process/descriptor.hpp"

namespace assay::load {
namespace null {

constexpr std::size_t kMostRequest = 16U << 20U;
constexpr std::int64_t kMostTokens = 100'000;
constexpr std::int64_t kNsOfSecond = 1'000'000'000;
constexpr std::size_t kMostConnections = 65'536;
constexpr int kRetryMs = 100;  // after the kernel gave no descriptor

/// Whether a connection waits, but there is no descriptor or memory for it now.
bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/// What a request asks for.
struct Asked {
  bool completion = false;
  bool chat = false;
  bool stream = false;
  std::int64_t tokens = 0;
  std::int64_t words = 0;
};

std::int64_t number_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + key.size());
  return take_number<std::int64_t>(text).value_or(0);
}

/// The size of a request that is complete; 0 where it is not yet.
std::size_t request_size(std::string_view in) {
  const auto head = in.find("\r\n\r\n");
  if (head == std::string_view::npos) return 0;
  auto body = number_after(in.substr(0, head), "\r\nContent-Length: ");
  if (body == 0) body = number_after(in.substr(0, head), "\r\ncontent-length: ");
  const auto size = head + 4 + static_cast<std::size_t>(std::clamp<std::int64_t>(body, 0, kMostRequest));
  return in.size() < size ? 0 : size;
}

/// Where the text of a prompt or of a message begins; beyond the end if it has no text.
std::size_t text_begin(std::string_view body) {
  for (const std::string_view key : {"\"prompt\":", "\"content\":"}) {
    const auto at = body.find(key);
    if (at != std::string_view::npos) return body.find('"', at + key.size());
  }
  return std::string_view::npos;
}

/// Of requests as this program's client and common ones write them; others get an answer too.
Asked asked_of(std::string_view request) {
  Asked asked;
  const auto line = request.substr(0, request.find("\r\n"));
  asked.completion = line.find("/completions") != std::string_view::npos;
  if (!asked.completion) return asked;
  asked.chat = line.find("/chat/") != std::string_view::npos;
  const auto body = request.substr(request.find("\r\n\r\n"));
  asked.stream =
      body.find("\"stream\":true") != std::string_view::npos || body.find("\"stream\": true") != std::string_view::npos;
  asked.tokens = number_after(body, "\"max_tokens\":");
  if (asked.tokens == 0) asked.tokens = number_after(body, "\"max_tokens\": ");
  asked.tokens = std::clamp<std::int64_t>(asked.tokens, 1, kMostTokens);
  const auto prompt = body.substr(std::min(text_begin(body), body.size()));
  asked.words = std::count(prompt.begin(), prompt.end(), ' ');
  return asked;
}

std::string as_chunk(const std::string& text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

std::string as_event(const std::string& text) {
  return as_chunk("data: " + text + "\n\n");
}

std::string usage_text(const Asked& asked, std::int64_t tokens) {
  return fmt::format(R"("usage":{{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{}}})", asked.words, tokens,
                     asked.words + tokens);
}

/// What an answer, or an event of it, says that it is; some clients leave out others.
const char* object_of(const Asked& asked) {
  if (!asked.chat) return "text_completion";
  return asked.stream ? "chat.completion.chunk" : "chat.completion";
}

std::string whole_answer(const Asked& asked) {
  if (!asked.completion) return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  const auto text = asked.chat ? R"("message":{"role":"assistant","content":" x"})" : R"("text":" x")";
  const auto body =
      fmt::format(R"({{"id":"null","object":"{}","choices":[{{"index":0,{},"finish_reason":"length"}}],{}}})",
                  object_of(asked), text, usage_text(asked, asked.tokens));
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", body.size(),
                     body);
}

process::Fd listening_socket(std::int64_t port) {
  process::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (!fd || bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd.get(), 65535) != 0) {
    fail(ErrorKind::failure, "the built-in server cannot listen on 127.0.0.1:{}: {}.", port, std::strerror(errno));
  }
  return fd;
}

}  // namespace null

using null::Asked;

class NullServer::Loop {
 public:
  explicit Loop(const NullService& service);
  ~Loop();
  int port() const;
  std::int64_t served() const { return served_; }

 private:
  static constexpr std::uint64_t kListener = UINT64_MAX;
  static constexpr std::uint64_t kTimer = UINT64_MAX - 1;
  static constexpr std::uint64_t kEnd = UINT64_MAX - 2;

  struct Peer {
    process::Fd fd;
    std::string in;
    std::string out;
    Asked asked;
    std::int64_t chunk = 0;        ///< of the answer under way
    std::uint64_t generation = 0;  ///< of the connection in this place
    bool busy = false;
  };
  struct Wake {
    std::int64_t at_ns;
    std::size_t slot;
    std::uint64_t generation;
    bool operator>(const Wake& other) const { return at_ns > other.at_ns; }
  };

  void run();
  void watch(int fd, std::uint32_t events, std::uint64_t data);
  void accept_all();
  void stop_accepting();
  void accept_again();
  void receive(std::size_t slot);
  void next_request(std::size_t slot, std::int64_t now);
  std::int64_t service_end(std::int64_t now);
  void wake(std::int64_t now);
  void answer(std::size_t slot, std::int64_t now);
  void flush(std::size_t slot);
  void close(std::size_t slot);
  void finish_answer(std::size_t slot, std::int64_t now);

  NullService service_;
  process::Fd epoll_;
  process::Fd timer_;
  process::Fd end_;
  process::Fd listener_;
  bool accepting_ = true;
  std::vector<Peer> peers_;
  std::vector<std::size_t> free_;
  std::priority_queue<Wake, std::vector<Wake>, std::greater<>> wakes_;
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> free_at_;
  std::int64_t first_ns_ = 0;
  std::int64_t timer_ns_ = 0;
  std::atomic<std::int64_t> served_ = 0;
  std::array<char, 65536> buffer_{};
  std::thread thread_;
};

NullServer::Loop::Loop(const NullService& service)
    : service_(service),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      end_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      listener_(null::listening_socket(service.port)) {
  allow_connections(null::kMostConnections);
  for (std::int64_t i = 0; i < service.workers; ++i) free_at_.push(0);
  watch(listener_.get(), EPOLLIN, kListener);
  watch(timer_.get(), EPOLLIN | EPOLLET, kTimer);
  watch(end_.get(), EPOLLIN, kEnd);
  thread_ = std::thread([this] { run(); });
}

NullServer::Loop::~Loop() {
  const std::uint64_t one = 1;
  if (write(end_.get(), &one, sizeof one) == sizeof one) thread_.join();
}

int NullServer::Loop::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void NullServer::Loop::watch(int fd, std::uint32_t events, std::uint64_t data) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = data;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    fail(ErrorKind::failure, "the kernel does not watch a descriptor: {}.", std::strerror(errno));
  }
}

void NullServer::Loop::run() {
  std::array<epoll_event, 64> events{};
  while (true) {
    if (!wakes_.empty() && wakes_.top().at_ns != timer_ns_) {
      timer_ns_ = wakes_.top().at_ns;
      itimerspec when{};
      when.it_value = {timer_ns_ / null::kNsOfSecond, timer_ns_ % null::kNsOfSecond};
      timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
    }
    const int patience = accepting_ ? -1 : null::kRetryMs;
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), patience);
    if (count == 0) accept_again();
    wake(monotonic_ns());
    for (int i = 0; i < count; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == kEnd) return;
      if (event.data.u64 == kTimer) continue;
      if (event.data.u64 == kListener) {
        accept_all();
        continue;
      }
      if ((event.events & EPOLLOUT) != 0) flush(event.data.u64);
      if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) receive(event.data.u64);
    }
  }
}

void NullServer::Loop::accept_all() {
  while (true) {
    process::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (null::is_shortage(errno)) stop_accepting();
      return;
    }
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (free_.empty()) {
      free_.push_back(peers_.size());
      peers_.emplace_back();
    }
    const auto slot = free_.back();
    free_.pop_back();
    peers_[slot].fd = std::move(fd);
    watch(peers_[slot].fd.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, slot);
  }
}

/// The listener stays readable while a connection waits: watched on, it would wake the loop without end.
void NullServer::Loop::stop_accepting() {
  if (!accepting_) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
  accepting_ = false;
}

void NullServer::Loop::accept_again() {
  if (accepting_) return;
  watch(listener_.get(), EPOLLIN, kListener);
  accepting_ = true;
}

void NullServer::Loop::receive(std::size_t slot) {
  auto& peer = peers_[slot];
  while (peer.fd) {
    const auto count = recv(peer.fd.get(), buffer_.data(), buffer_.size(), 0);
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0 || peer.in.size() > null::kMostRequest) return close(slot);
    peer.in.append(buffer_.data(), static_cast<std::size_t>(count));
  }
  if (peer.fd && !peer.busy) next_request(slot, monotonic_ns());
}

void NullServer::Loop::next_request(std::size_t slot, std::int64_t now) {
  auto& peer = peers_[slot];
  const auto size = null::request_size(peer.in);
  if (size == 0) return;
  peer.asked = null::asked_of(std::string_view(peer.in).substr(0, size));
  peer.in.erase(0, size);
  peer.busy = true;
  peer.chunk = 0;
  const auto end = service_end(now);
  if (end <= now) return answer(slot, now);
  wakes_.push({end, slot, peer.generation});
}

/// When the service of a request that arrives now ends. It is reckoned, not waited for: a timer that fires late delays
/// this answer alone.
std::int64_t NullServer::Loop::service_end(std::int64_t now) {
  if (first_ns_ == 0) first_ns_ = now;
  auto begin = now;
  if (service_.workers > 0) {
    begin = std::max(begin, free_at_.top());
    free_at_.pop();
  }
  const auto stall = first_ns_ + service_.stall_at_ns;
  if (begin >= stall && begin < stall + service_.stall_ns) begin = stall + service_.stall_ns;
  const auto end = begin + service_.service_ns;
  if (service_.workers > 0) free_at_.push(end);
  return end;
}

void NullServer::Loop::wake(std::int64_t now) {
  while (!wakes_.empty() && wakes_.top().at_ns <= now) {
    const auto one = wakes_.top();
    wakes_.pop();
    if (peers_[one.slot].generation == one.generation && peers_[one.slot].fd) answer(one.slot, one.at_ns);
  }
}

/// The next part of an answer, which was to be sent at `now`.
void NullServer::Loop::answer(std::size_t slot, std::int64_t now) {
  auto& peer = peers_[slot];
  if (!peer.asked.stream) {
    peer.out += null::whole_answer(peer.asked);
    return finish_answer(slot, now);
  }
  const auto chunks =
      service_.chunks > 0 ? service_.chunks : (peer.asked.tokens + service_.tokens - 1) / service_.tokens;
  if (peer.chunk == 0)
    peer.out += "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  static const std::string kText = null::as_event(
      R"({"id":"null","object":"text_completion","choices":[{"index":0,"text":" x","finish_reason":null}]})");
  static const std::string kDelta = null::as_event(
      R"({"id":"null","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" x"},"finish_reason":null}]})");
  do {
    peer.out += peer.asked.chat ? kDelta : kText;
    ++peer.chunk;
  } while (peer.chunk < chunks && service_.gap_ns == 0);
  if (peer.chunk < chunks) {
    wakes_.push({now + service_.gap_ns, slot, peer.generation});
    return flush(slot);
  }
  peer.out +=
      null::as_event(fmt::format(R"({{"id":"null","object":"{}","choices":[],{}}})", null::object_of(peer.asked),
                                 null::usage_text(peer.asked, chunks * service_.tokens)));
  peer.out += null::as_event("[DONE]") + "0\r\n\r\n";
  finish_answer(slot, now);
}

void NullServer::Loop::finish_answer(std::size_t slot, std::int64_t now) {
  ++served_;
  peers_[slot].busy = false;
  flush(slot);
  if (peers_[slot].fd && !peers_[slot].in.empty()) next_request(slot, now);
}

void NullServer::Loop::flush(std::size_t slot) {
  auto& peer = peers_[slot];
  if (!peer.fd || peer.out.empty()) return;
  const auto count = send(peer.fd.get(), peer.out.data(), peer.out.size(), MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN) return close(slot);
  if (count > 0) peer.out.erase(0, static_cast<std::size_t>(count));
}

void NullServer::Loop::close(std::size_t slot) {
  auto& peer = peers_[slot];
  if (!peer.fd) return;
  peer.fd.reset();
  peer.in.clear();
  peer.out.clear();
  peer.busy = false;
  ++peer.generation;
  free_.push_back(slot);
  accept_again();
}

NullServer::NullServer(const NullService& service) : loop_(std::make_unique<Loop>(service)) {}
NullServer::~NullServer() = default;

std::string NullServer::url() const {
  return fmt::format("http://127.0.0.1:{}", loop_->port());
}

std::int64_t NullServer::served() const {
  return loop_->served();
}

}  // namespace assay::load
