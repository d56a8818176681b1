#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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

/// A worker's process and the protocol spoken with it. Every wait is bounded, every line is bounded, stderr is drained.
class Session {
 public:
  /// Called a few times a second while waiting; may throw WorkerFailure to stop.
  using Tick = std::function<void()>;

  /// Starts the worker. Throws WorkerFailure{not_started} where the program cannot be started.
  Session(const std::vector<std::string>& argv, const std::vector<std::string>& environment, Tick tick);

  pid_t pid() const { return process_.pid; }

  /// Sends a signal to the worker and to those of its children that stayed in its process group (its loaders do),
  /// unless it has ended.
  void signal(int number);

  Prepared prepare(const json& request, double limit_seconds);
  /// `patience_seconds` is for the whole command.
  /// With `output`, the worker writes there what its last step computed.
  Measured measure(const std::string& detail, double seconds, std::int64_t max_samples, double patience_seconds,
                   const std::optional<std::string>& output = {});

  Evaluated evaluate(const Evaluation& evaluation, double limit_seconds);

  /// How a worker is asked to end.
  enum class Farewell { message, end_of_input };

  /// Waits for a worker that has said `error` and so must end by itself; what its exit code is does not matter.
  /// False where it is still there.
  bool wait_end(double limit_seconds);

  /// Asks the worker to end and waits; false where it had to be left to end_tree. Throws WorkerFailure where it says
  /// something more or ends badly.
  bool exit(double limit_seconds, Farewell farewell = Farewell::message);

  /// Lets stderr drain and sees whether the worker is still there, without waiting: for processes that wait for others.
  void attend();

  /// The last lines of stderr.
  const std::string& stderr_tail() const { return stderr_tail_; }
  std::optional<std::int64_t> peak_memory_bytes() const { return peak_memory_bytes_; }

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

}  // namespace assay::measure
