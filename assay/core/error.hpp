#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace assay {

/// Why a command cannot go on. The kind sets the exit code of the program.
enum class ErrorKind {
  failure,      ///< anything else; exit code 1
  usage,        ///< the user's command line or file is wrong; exit code 2
  no_space,     ///< the disk that holds the store is full; exit code 1
  not_durable,  ///< the disk refused to make data durable; exit code 1
  bad_input,    ///< text from outside broke a rule of its format; exit code 1
  away,         ///< the store cannot be used now, but may be later; exit code 1
  forbidden,    ///< the store denies this user the right; exit code 1
};

/// Ends a command. Thrown anywhere, caught once in cli/main.cpp.
/// The message says what happened, the offending value, and what to do next.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  ErrorKind kind() const { return kind_; }
  int exit_code() const { return kind_ == ErrorKind::usage ? 2 : 1; }

 private:
  ErrorKind kind_;
};

/// Throws an Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// `text` in quotes, shortened to `limit` bytes, with control characters and malformed UTF-8 made visible: fit for an
/// error message, and for a record that keeps the message.
std::string shown(const std::string& text, std::size_t limit = 60);

/// A path as shown() has it, but whole: its end is what names the file, and a reader opens it.
std::string shown_path(const std::string& path);

/// A call on a file that failed.
class FileError : public Error {
 public:
  FileError(ErrorKind kind, const std::string& message, int number) : Error(kind, message), number_(number) {}
  int number() const { return number_; }  ///< the errno

 private:
  int number_;
};

/// Throws FileError for a call that failed with `error` (an errno): of kind no_space where the disk, a quota or a limit
/// on file size is exhausted, else failure. "cannot {what} {path}: why."
[[noreturn]] void file_failed(int error, const char* what, const std::string& path);

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace assay

/// A programmer's mistake ends the program, in release builds too.
#define ASSAY_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::assay::check_failed(#condition, __FILE__, __LINE__))
