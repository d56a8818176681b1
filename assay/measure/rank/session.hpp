#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/text/json.hpp"
#include "assay/measure/rank/message.hpp"
#include "assay/process/spawn.hpp"

namespace assay::measure {

/// Ends the conversation with a worker; the outcome says why.
struct WorkerFailure {
  Outcome outcome;
};

[[noreturn]] void worker_failed(OutcomeKind kind, std::string message);

/// The protocol spoken with a worker.
class Session {
 public:
  virtual ~Session() = default;

  virtual pid_t pid() const = 0;

  /// Sends a signal to the worker and to those of its children that stayed in its process group (its loaders do),
  /// unless it has ended.
  virtual void signal(int number) = 0;

  virtual Prepared prepare(const json& request, double limit_seconds) = 0;
  /// `patience_seconds` is for the whole command.
  /// With `output`, the worker writes there what its last step computed.
  virtual Measured measure(const std::string& detail, double seconds, std::int64_t max_samples, double patience_seconds,
                           const std::optional<std::string>& output = {}) = 0;

  virtual Evaluated evaluate(const Evaluation& evaluation, double limit_seconds) = 0;

  /// Between steps of a worker that learns: how many held-out samples it knows by now.
  virtual Scored score(double limit_seconds) = 0;

  /// How a worker is asked to end.
  enum class Farewell { message, end_of_input };

  /// Waits for a worker that has said `error` and so must end by itself; what its exit code is does not matter.
  /// False where it is still there.
  virtual bool wait_end(double limit_seconds) = 0;

  /// Asks the worker to end and waits; false where it had to be left to end_tree. Throws WorkerFailure where it says
  /// something more or ends badly.
  virtual bool exit(double limit_seconds, Farewell farewell = Farewell::message) = 0;

  /// Lets stderr drain and sees whether the worker is still there, without waiting: for processes that wait for others.
  virtual void attend() = 0;

  /// The last lines of stderr.
  virtual const std::string& stderr_tail() const = 0;
  virtual std::optional<std::int64_t> peak_memory_bytes() const = 0;
};

/// With a worker's process. Every wait is bounded, every line is bounded, stderr is drained.
class WorkerSession final : public Session {
 public:
  /// Called a few times a second while waiting; may throw WorkerFailure to stop.
  using Tick = std::function<void()>;

  /// Starts the worker. Throws WorkerFailure{not_started} where the program cannot be started.
  WorkerSession(const std::vector<std::string>& argv, const std::vector<std::string>& environment, Tick tick);

  pid_t pid() const override { return process_.pid; }
  void signal(int number) override;
  Prepared prepare(const json& request, double limit_seconds) override;
  Measured measure(const std::string& detail, double seconds, std::int64_t max_samples, double patience_seconds,
                   const std::optional<std::string>& output = {}) override;
  Evaluated evaluate(const Evaluation& evaluation, double limit_seconds) override;
  Scored score(double limit_seconds) override;
  bool wait_end(double limit_seconds) override;
  bool exit(double limit_seconds, Farewell farewell = Farewell::message) override;
  void attend() override;
  const std::string& stderr_tail() const override { return stderr_tail_; }
  std::optional<std::int64_t> peak_memory_bytes() const override { return peak_memory_bytes_; }

 private:
  /// The next message, which must be of this type.
  json receive_a(const char* type, std::int64_t deadline_ns);
  void send(const json& message, std::int64_t deadline_ns);
  json receive(std::int64_t deadline_ns);
  std::optional<std::string> take_line();
  void wait(std::int64_t deadline_ns, bool to_write);
  void read_output();
  void read_errors();
  [[noreturn]] void report_end();
  /// A stream has ended: because the worker has, or else it broke the protocol.
  [[noreturn]] void report_end_or(const char* what);
  void reap();

  Tick tick_;
  process::Fd input_;   ///< the worker's stdin
  process::Fd output_;  ///< the worker's stdout
  process::Fd errors_;  ///< the worker's stderr
  process::Spawned process_;
  std::string buffer_;        ///< received, not yet taken as lines
  std::size_t searched_ = 0;  ///< of buffer_, known to hold no line end
  bool output_ended_ = false;
  bool process_ended_ = false;
  bool asked_to_exit_ = false;
  int wait_status_ = 0;
  std::int64_t next_tick_ns_ = 0;
  std::int64_t stderr_bytes_ = 0;
  std::string stderr_tail_;
  std::optional<std::int64_t> peak_memory_bytes_;
};

/// How a rank comes by its session: start_worker, but in tests.
using StartSession = std::function<std::unique_ptr<Session>(
    const std::vector<std::string>& argv, const std::vector<std::string>& environment, WorkerSession::Tick tick)>;
std::unique_ptr<Session> start_worker(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                                      WorkerSession::Tick tick);

}  // namespace assay::measure
