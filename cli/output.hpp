#pragma once

#include <cstdio>
#include <string>

namespace assay::cli {

/// A file that is complete after finish(), or an Error that names it; stdout where no name is given.
class Output {
 public:
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const std::string& text);
  void finish();

 private:
  [[noreturn]] void cannot();

  std::string path_;
  FILE* file_;
};

/// A whole file at once.
void write_output(const std::string& path, const std::string& text);

}  // namespace assay::cli
